// The roles of the columns of a table: how a row becomes an instance and an event.

import { RowFault, classesOfCell, isFields, isNested, isScalar, kindOf, listOf, textOfCell } from "./class_cells.js";
import { textOf as cellText } from "./json_text.js";
import { isEmptyLabel } from "./label_words.js";

export const ROLES = {
  "": "choose",
  ignore: "not used",
  text: "text",
  field: "separate part of the text",
  class: "class",
  one_hot: "class if the cell is 1",
  not: "wrong classes",
  feature: "word or number of its own",
  vector: "embedding of the message",
  event_id: "id of the message",
  source: "source: whose message it is",
  weight: "weight: how much it counts",
  parents: "places of classes in the taxonomy",
  answer: "answer: teach only accepted rows",
};

// The names of columns in English, German, French and Italian.
const GUESSES = [
  ["class", /^(class(es)?|labels?|categor(y|ies)|intents?|topics?|targets?|tags?|y)$/i],
  ["class", /^(thema|themen|kategorien?|klassen?|rubrik(en)?|schlagw(ort|örter))$/i],
  ["class", /^(classe|th[eè]mes?|cat[eé]gories?|[eé]tiquettes?|rubriques?)$/i],
  ["class", /^(tem[ai]|categori[ae]|etichett[ae]|argoment[io])$/i],
  ["text", /^(text|question|sentence|title|body|message|description|content|query|utterance)s?$/i],
  ["text", /^(betreff|titel|nachrichten|nachricht|frage|anfrage|inhalt|beschreibung)$/i],
  ["text", /^(objet|texte|titre|contenu)s?$/i],
  ["text", /^(oggetto|testo|titolo|messaggio|domanda|contenuto|descrizione)$/i],
  ["event_id", /^(event_?id)$/i],
  ["source", /^(source|annotator|absender|exp[eé]diteur|mittente)$/i],
  ["weight", /^weight$/i],
  ["feature", /^features?$/i],
  ["vector", /^(vector|embedding)s?$/i],
  ["not", /^not$/],
  ["parents", /^parents$/],
  ["ignore", /^(eingang|eingangsdatum|datum)$/i],
];
const KEYS = [/^(.*[\s_.-])?(id|key|nr|index|uuid|guid)$/i, /[a-z](Id|ID|Key)$/]; // names of a row
const LABEL_ID = /^(class|label|categor(y|ie)|intent|target|tag)s?[\s_.-]?id$/i; // that of its label
const ANSWERS = /^(accept|reject|ignore)?$/;
export const UNLABELLED = "row without a class";
const YES = /^(1|1\.0|true)$/i;
const NO = /^(0|0\.0|false)?$/i;
const LEAST_FLAGS = 3; // columns of 0 and 1 that are taken for classes
const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;

const roleNamed = (name) => GUESSES.find(([, names]) => names.test(name))?.[0];

/** Return whether a name is one that columns have, and no sentence. */
export const isKnownName = (name) => roleNamed(name) !== undefined || (isKey(name) && name.split(/\s+/).length <= 2);

/** Return whether a column of this name is taken for a text or a class. */
export const isColumnName = (name) => ["text", "class"].includes(roleNamed(name));

const isKey = (name) => KEYS.some((each) => each.test(name)) && !LABEL_ID.test(name);

const shown = (value) => (Array.isArray(value) ? value.join(" ") : cellText(value)).trim();
const isFilled = (value) => value instanceof Map || shown(value) !== "";

/** Return columns with the roles that their names alone say; the others are for the user to choose. */
export const namedOnly = (columns) =>
  columns.map((each) => (["answer", roleNamed(each.name)].includes(each.role) ? each : { ...each, role: "" }));

/** Return { name, role, isList } of each column, with the roles that `manyclass learn` proposes
 * (training/tables/columns.py): by its name; else the longest column is the text. No column is the class by its cells, for a
 * channel looks like one. A column of fields is a whole text, by its name or if there is no other.
 * Columns of one name, those that are mostly other objects, and ids and keys are left to the user. */
export function guessed(names, rows) {
  const cells = names.map((_, at) => rows.map((row) => row[at]));
  const texts = cells.map((column) => column.map(shown));
  const every = names.map((_, at) => at);
  const unfit = { text: (value) => !isScalar(value) && !isFields(value), class: isNested };
  const isWhole = (at) => cells[at].some(isFields);
  const isUnfit = (role, at) => {
    const filled = cells[at].filter(isFilled);
    return unfit[role] && 2 * filled.filter(unfit[role]).length > filled.length;
  };
  const mayBe = (role) => (at) => names.indexOf(names[at]) === names.lastIndexOf(names[at]) && !isUnfit(role, at);
  const roles = names.map((name, at) => (mayBe(roleNamed(name))(at) ? roleNamed(name) ?? "ignore" : "ignore"));
  const of = (role) => every.filter((at) => roles[at] === role);
  const hasClassName = names.some((name) => roleNamed(name) === "class");
  const letters = (at) => texts[at].join("").length;
  const free = (role) => of("ignore").filter((at) => !isColumnName(names[at]) && !isKey(names[at])).filter(mayBe(role));
  const put = (role, some, order) => {
    const [first] = some.sort(order);
    if (first !== undefined) roles[first] = role;
  };
  for (const at of of("ignore")) if (names[at] === "answer" && texts[at].every((each) => ANSWERS.test(each)) && texts[at].some(Boolean)) roles[at] = "answer";
  const flags = of("ignore").filter((at) => !isKey(names[at]) && texts[at].every((each) => YES.test(each) || NO.test(each)));
  const isOneHot = !hasClassName && flags.length >= LEAST_FLAGS && flags.some((at) => texts[at].some((each) => YES.test(each)));
  if (isOneHot) for (const at of flags) roles[at] = "one_hot";
  const [, ...others] = of("class");
  const whole = of("text").find(isWhole);
  if (whole !== undefined) others.push(...of("text").filter((at) => at !== whole));
  const needsClass = !hasClassName && !isOneHot;
  const flat = free("text").filter((at) => !isWhole(at));
  if (!names.some((name) => ["text", "feature"].includes(roleNamed(name)))) put("text", flat.length > needsClass ? flat : free("text"), (a, b) => letters(b) - letters(a));
  if (needsClass) put("class", free("class").filter((at) => LABEL_ID.test(names[at])), (a, b) => a - b);
  for (const at of others) roles[at] = "ignore"; // several classes are seldom all meant
  const isList = (column) => column.some(isFilled) && column.every((each) => !isFilled(each) || (typeof each === "string" && listOf(each)));
  return names.map((name, at) => ({ name, role: roles[at], isList: isList(cells[at]) }));
}

export const namesOf = (columns, ...roles) => columns.filter((each) => roles.includes(each.role)).map((each) => each.name).join(", ");

/** Return the columns of some roles that a row has filled, as [value, column]. */
const filledCells = (row, columns, ...roles) => columns.flatMap((column, at) => (roles.includes(column.role) && isFilled(row[at]) ? [[row[at], column]] : []));

export const isBlank = (row) => !row.some(isFilled);

/** Return whether a row has two of a text, parts of one and features, of which an instance is one. */
export const isMixed = (row, columns) => ["text", "field", "feature"].filter((role) => filledCells(row, columns, role).length).length > 1;

const numberOf = (value) => (typeof value === "number" ? value : NUMBER.test(shown(value)) ? Number(shown(value)) : NaN);

function numberIn(value, name) {
  const number = numberOf(value);
  if (Number.isFinite(number)) return number;
  throw new RowFault(`${name} is “${shown(value).slice(0, 40)}”, not a number`);
}

function addFeature(features, value, name) {
  if (value instanceof Map) for (const [each, its] of value) features[each] = numberIn(its, each);
  else if (Array.isArray(value)) for (const each of value) features[textOfCell(each, `an item of ${name}`)] = (features[each] ?? 0) + 1;
  else if (Number.isFinite(numberOf(value))) features[name] = numberOf(value);
  else features[`${name}=${value}`] = 1;
}

/** Return cells as the texts of fields that are named as the columns. */
function fieldsOf(cells) {
  const fields = cells.map(([value, { name }]) => [name, textOfCell(value, name)]);
  const twice = fields.find(([name], at) => fields.findIndex((each) => each[0] === name) < at);
  if (twice) throw new RowFault(`two columns that are kept apart have the name ${twice[0]}`);
  return Object.fromEntries(fields);
}

/** Return the fields of a whole text; null is no text. */
function fieldsIn(value, { name }) {
  const fields = [...value].filter(([, each]) => each !== null);
  const wrong = fields.find(([, each]) => typeof each !== "string");
  if (wrong) throw new RowFault(`the field ${wrong[0].slice(0, 40)} of ${name} is ${kindOf(wrong[1])}, not a text`);
  if (!fields.length) throw new RowFault(`${name} has no field with a text`);
  return Object.fromEntries(fields);
}

/** Return the text of cells: one object is a text of fields. */
function textOf(cells) {
  const whole = cells.find(([value]) => value instanceof Map);
  if (whole && cells.length > 1) throw new RowFault(`${whole[1].name} has the fields of a whole text: give no other column the role text`);
  if (whole) return fieldsIn(...whole);
  if (cells[0]?.[1].role === "field") return fieldsOf(cells);
  return cells.map(([value, { name }]) => textOfCell(value, name)).join(" ");
}

/** Return the vector of a cell as the service takes it: numbers, base64 of float32, or { int8 }. */
function vectorOf([value, { name }]) {
  if (value instanceof Map) return Object.fromEntries(value);
  const parts = Array.isArray(value) ? value : shown(value).replace(/^\[|\]$/g, "").split(/[\s;,]+/).filter(Boolean);
  return parts.length === 1 && !Array.isArray(value) ? parts[0] : parts.map((each) => numberIn(each, `a number of ${name}`));
}

/** Return the instance of a row: { text } or { features }, and both of a mixed row, with its vector if it has one. */
export function instanceOf(row, columns) {
  const fields = filledCells(row, columns, "field");
  const texts = fields.length ? fields : filledCells(row, columns, "text");
  const given = filledCells(row, columns, "feature");
  const [vector] = filledCells(row, columns, "vector");
  const features = Object.create(null); // any name is one, "constructor" too
  for (const [value, { name }] of given) addFeature(features, value, name);
  return {
    ...((texts.length || !(given.length || vector)) && { text: textOf(texts) }),
    ...(given.length && { features }),
    ...(vector && { vector: vectorOf(vector) }),
  };
}

function flaggedClasses(row, columns) {
  return columns.flatMap(({ role, name }, at) => {
    if (role !== "one_hot") return [];
    const text = shown(row[at]);
    if (!YES.test(text) && !NO.test(text)) throw new RowFault(`${name} is “${text.slice(0, 40)}”, neither 1 nor 0`);
    return YES.test(text) ? [name] : [];
  });
}

function classesOf(row, columns, role, separator) {
  const given = filledCells(row, columns, role).flatMap(([value, column]) => classesOfCell(value, column));
  const divided = separator ? given.flatMap((each) => each.split(separator)) : given;
  return divided.map((each) => each.trim()).filter(Boolean);
}

/** Return the class that is taught in place of a name. */
function taughtAs(name, same) {
  let its = name;
  while (same.has(its)) its = same.get(its);
  return its;
}

/** Return the classes of a row as its cells have them; a list has several. */
export const labelsOf = (row, columns) => classesOf(row, columns, "class", "");

function checkAnswer(row, columns) {
  columns.forEach(({ role, name }, at) => {
    if (role !== "answer" || row[at] === "accept") return;
    const text = shown(row[at]);
    const isKnown = text && ANSWERS.test(text);
    throw new RowFault(isKnown ? `its answer is ${text}` : `${name} is “${text.slice(0, 40)}”, neither accept, reject nor ignore`, isKnown ? `answer ${text}` : null);
  });
}

function parentsOf([value, { name }]) {
  const isMap = value instanceof Map && [...value.values()].every((each) => [each].flat().every((parent) => typeof parent === "string"));
  if (!isMap) throw new RowFault(`${name} is no object of classes and their parents`);
  const parents = Object.create(null);
  for (const [child, its] of value) parents[child] = its;
  return parents;
}

/** Return the texts of fields, or a text alone, or none. */
export const textsOf = (text = {}) => (typeof text === "string" ? [text] : Object.values(text));

/** Return whether an instance has neither a feature nor a letter nor a vector. */
const isEmpty = ({ text, features, vector }) => !vector && !Object.keys(features ?? {}).length && !textsOf(text).some((each) => each.trim());

const areEmpty = (names) => `${names} ${names.includes(", ") ? "are" : "is"} empty`;

/** Return the event of a row; a RowFault says why there is none.
 *
 * `separator` divides several classes in one cell, if it is given; `same` has the class to teach in place of another;
 * `without` leaves out labels such as nan.
 */
export function eventOf(row, columns, { separator, source, batch, same = new Map(), without = false }) {
  checkAnswer(row, columns);
  const instance = instanceOf(row, columns);
  if (isEmpty(instance)) throw new RowFault(`no text: ${areEmpty(namesOf(columns, "text", "field", "feature"))}, and nothing can be learned from it`);
  const named = [...classesOf(row, columns, "class", separator), ...flaggedClasses(row, columns)];
  const given = [...new Set(named.map((each) => taughtAs(each, same)))];
  const classes = without ? given.filter((each) => !isEmptyLabel(each)) : given;
  const not = [...new Set(classesOf(row, columns, "not", separator))];
  if (!classes.length && given.length) throw new RowFault(`its label is ${given[0]}`, `label ${given[0]}`);
  if (!classes.length && !not.length) throw new RowFault("it has no class", UNLABELLED);
  const event = { ...instance, classes };
  const [id] = filledCells(row, columns, "event_id");
  const its = sourceOf(row, columns, source);
  const [weight] = filledCells(row, columns, "weight");
  const [parents] = filledCells(row, columns, "parents");
  if (not.length) event.not = not;
  if (id) event.event_id = textOfCell(id[0], id[1].name);
  if (its) event.source = its;
  if (batch) event.batch = batch;
  if (weight) event.weight = numberIn(weight[0], weight[1].name);
  if (parents) event.parents = parentsOf(parents);
  return event;
}

/** Return the source of a row, or the one that all rows have. */
function sourceOf(row, columns, source) {
  const [[value, { name }] = [source, {}]] = filledCells(row, columns, "source");
  return value ? textOfCell(value, name) : undefined;
}

/** Return a row as an instance to label, under its id if it has one. */
export function waitingOf(row, columns, options) {
  const [id] = filledCells(row, columns, "event_id");
  const source = sourceOf(row, columns, options.source);
  return { ...instanceOf(row, columns), ...(id && { id: textOfCell(id[0], id[1].name) }), ...(source && { source }) };
}

/** Return a row without a class as an instance to label; raise RowFault for a row with a class. */
export function unlabelledOf(row, columns, options) {
  try {
    eventOf(row, columns, options);
  } catch (fault) {
    if (fault.left !== UNLABELLED) throw fault;
    return waitingOf(row, columns, options);
  }
  throw new RowFault("it has a class", "with a class");
}

function withoutFaults(rows, make) {
  return rows.flatMap((row) => {
    try {
      return [make(row)];
    } catch (error) {
      if (error instanceof RowFault) return [];
      throw error;
    }
  });
}

/** Return the events of rows, but for those that have none. */
export const eventsOf = (rows, columns, options) => withoutFaults(rows, (row) => eventOf(row, columns, options));

/** Return the instances of rows, but for those that have none. */
export const instancesOf = (rows, columns) => withoutFaults(rows, (row) => instanceOf(row, columns));
