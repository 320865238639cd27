// The roles of the columns of a file: how a row becomes an instance and an event.

export const ROLES = {
  ignore: "not used",
  text: "text",
  class: "class",
  feature: "feature",
  event_id: "event id",
  source: "source",
  weight: "weight",
};

const GUESSES = [
  ["class", /^(class(es)?|labels?|categor(y|ies)|intents?|targets?|tags?|y)$/i],
  ["text", /^(text|question|sentence|title|body|message|description|content|query|utterance)s?$/i],
  ["event_id", /^(event_?id)$/i],
  ["source", /^(source|annotator)$/i],
  ["weight", /^weight$/i],
  ["feature", /^features?$/i],
];

/** Return a role for each column, as `manyclass learn` proposes them (training/tables/columns.py): by its name; else
 * the longest column is the text, and the class is the first of the shortest without gaps whose values come again. */
export function guessed(columns, rows) {
  const roles = Object.fromEntries(columns.map((name) => [name, GUESSES.find(([, names]) => names.test(name))?.[0] ?? "ignore"]));
  const cells = (name) => rows.map((row) => String(row[name] ?? "").trim());
  const letters = (name) => cells(name).join("").length;
  const gaps = (name) => 2 * cells(name).includes("") + (rows.length > 1 && new Set(cells(name)).size === rows.length);
  const of = (role) => columns.filter((name) => roles[name] === role);
  const put = (role, order) => {
    const [first] = of("ignore").sort(order);
    if (first !== undefined) roles[first] = role;
  };
  const [, ...others] = of("class");
  if (!of("text").length && !of("feature").length) put("text", (a, b) => letters(b) - letters(a));
  if (!of("class").length) put("class", (a, b) => gaps(a) - gaps(b) || letters(a) - letters(b));
  for (const name of others) roles[name] = "ignore"; // several are seldom all meant
  return roles;
}

const listed = (value) => (Array.isArray(value) ? value : [value]);
const filled = (value) => value !== null && value !== undefined && String(value).trim() !== "";

/** Return the columns of some roles that a row has filled. */
const filledColumns = (row, roles, ...wanted) => Object.keys(roles).filter((name) => wanted.includes(roles[name]) && filled(row[name]));

export const hasInstance = (row, roles) => filledColumns(row, roles, "text", "feature").length > 0;

/** Return whether a row has both a text and a feature, which the service refuses. */
export const isMixed = (row, roles) => ["text", "feature"].every((role) => filledColumns(row, roles, role).length);

function addFeature(features, name, value) {
  if (Array.isArray(value)) for (const each of value) features[each] = (features[each] ?? 0) + 1;
  else if (typeof value === "object") Object.assign(features, value);
  else if (Number.isFinite(Number(value))) features[name] = Number(value);
  else features[`${name}=${value}`] = 1;
}

/** Return the instance of a row: { text } or { features }, and both of a mixed row. */
export function instanceOf(row, roles) {
  const texts = filledColumns(row, roles, "text");
  const columns = filledColumns(row, roles, "feature");
  const features = Object.create(null); // any name is one, "constructor" too
  for (const name of columns) addFeature(features, name, row[name]);
  return {
    ...((texts.length || !columns.length) && { text: texts.map((name) => String(row[name])).join(" ") }),
    ...(columns.length && { features }),
  };
}

/** Return the event of a row; `separator` divides several classes in one cell, if it is given. */
export function eventOf(row, roles, { separator, source }) {
  const valueOf = (role) => row[filledColumns(row, roles, role)[0]];
  const given = filledColumns(row, roles, "class").flatMap((name) => listed(row[name]));
  const divided = separator ? given.flatMap((each) => String(each).split(separator)) : given;
  const classes = [...new Set(divided.map((each) => (typeof each === "string" ? each.trim() : each)).filter((each) => each !== ""))];
  const event = { ...instanceOf(row, roles), classes };
  const its = { event_id: valueOf("event_id"), source: valueOf("source") ?? source, weight: valueOf("weight") };
  if (its.event_id !== undefined) event.event_id = String(its.event_id);
  if (its.source) event.source = String(its.source);
  if (its.weight !== undefined) event.weight = Number(its.weight);
  return event;
}
