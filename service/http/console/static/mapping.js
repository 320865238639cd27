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

/** Return a role for each column: by its name, else the longest texts are the text, and the class is the
 * shortest column without gaps whose values come again. */
export function guessed(columns, rows) {
  const roles = Object.fromEntries(columns.map((name) => [name, GUESSES.find(([, names]) => names.test(name))?.[0] ?? "ignore"]));
  const has = (role) => Object.values(roles).includes(role);
  const lengthOf = (name) => rows.reduce((sum, row) => sum + String(row[name] ?? "").length, 0);
  const free = () => columns.filter((name) => roles[name] === "ignore").sort((a, b) => lengthOf(b) - lengthOf(a));
  if (!has("text") && !has("feature") && free().length) roles[free()[0]] = "text";
  const gaps = (name) => {
    const cells = rows.map((row) => String(row[name] ?? "").trim());
    return 2 * cells.includes("") + (cells.length > 1 && new Set(cells).size === cells.length);
  };
  if (!has("class") && free().length) roles[free().sort((a, b) => gaps(b) - gaps(a)).at(-1)] = "class";
  return roles;
}

const listed = (value) => (Array.isArray(value) ? value : [value]);
const filled = (value) => value !== null && value !== undefined && value !== "";

function addFeature(features, name, value) {
  if (Array.isArray(value)) for (const each of value) features[each] = (features[each] ?? 0) + 1;
  else if (typeof value === "object") Object.assign(features, value);
  else if (filled(value) && Number.isFinite(Number(value))) features[name] = Number(value);
  else features[`${name}=${value}`] = 1;
}

/** Return the instance of a row: { text } or { features }. */
export function instanceOf(row, roles) {
  const named = (role) => Object.keys(roles).filter((name) => roles[name] === role && filled(row[name]));
  const texts = named("text").map((name) => String(row[name]));
  const columns = named("feature");
  if (!columns.length) return { text: texts.join(" ") };
  const features = {};
  for (const name of columns) addFeature(features, name, row[name]);
  for (const word of texts.join(" ").normalize("NFKC").toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [])
    features[word] = (features[word] ?? 0) + 1;
  return { features };
}

/** Return the event of a row; `separator` divides several classes in one cell, if it is given. */
export function eventOf(row, roles, { separator, source }) {
  const valueOf = (role) => row[Object.keys(roles).find((name) => roles[name] === role && filled(row[name]))];
  const given = Object.keys(roles).filter((name) => roles[name] === "class" && filled(row[name])).flatMap((name) => listed(row[name]));
  const classes = separator ? given.flatMap((each) => String(each).split(separator)).map((each) => each.trim()).filter(Boolean) : given;
  const event = { ...instanceOf(row, roles), classes };
  const its = { event_id: valueOf("event_id"), source: valueOf("source") ?? source, weight: valueOf("weight") };
  if (its.event_id !== undefined) event.event_id = String(its.event_id);
  if (its.source) event.source = String(its.source);
  if (its.weight !== undefined) event.weight = Number(its.weight);
  return event;
}
