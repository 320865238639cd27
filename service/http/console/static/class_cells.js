// Cells of a file as texts and as classes: a cell may be a list of classes, but no other structure.

/** The reason why a row is rejected; or, if `left` is given, why it is left out as its file says. */
export class RowFault extends Error {
  constructor(detail, left = null) {
    super(detail);
    this.left = left;
  }
}

const ITEM = /\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|(-?\d+))\s*(?:,|$)/y;
const ESCAPED = /\\(u[0-9a-f]{4}|x[0-9a-f]{2}|.)/gi;
const SIGNS = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };
const STRUCTURE = /^\s*(\[\s*(["'[{][^]*)?\]|\{\s*["'][^]*\}|\(\s*["'][^]*\))\s*$/; // [Other] and [2024] are names

const unescaped = (text) => text.replace(ESCAPED, (_, each) => (each.length > 1 ? String.fromCharCode(parseInt(each.slice(1), 16)) : SIGNS[each] ?? each));

/** Return the items of a text that is a list of strings or whole numbers, as JSON or Python write it; else null. */
export function listOf(text) {
  const inside = /^\s*\[([^]*)\]\s*$/.exec(text)?.[1].trim();
  if (inside === undefined) return null;
  const found = [];
  for (ITEM.lastIndex = 0; ITEM.lastIndex < inside.length;) {
    const item = ITEM.exec(inside);
    if (!item) return null;
    found.push(item[3] ?? unescaped(item[1] ?? item[2]));
  }
  return found;
}

export const isScalar = (value) => typeof value !== "object" || value === null;

/** Return whether a value of JSON has a structure that is no list of texts. */
export const isNested = (value) => value instanceof Map || (Array.isArray(value) && !value.every(isScalar))
  || (typeof value === "string" && STRUCTURE.test(value) && !listOf(value));

/** Return what a value of JSON is, in words. */
export const kindOf = (value) => (Array.isArray(value) ? "a list" : { number: "a number", boolean: "true or false", string: "a text" }[typeof value] ?? "an object");

/** Return a cell as a text; null is none, and a list or an object raises a RowFault. */
export function textOfCell(value, name) {
  if (isScalar(value)) return String(value ?? "");
  throw new RowFault(`${name} is ${kindOf(value)}, not a text`);
}

/** Return whether a value of JSON has the texts of fields. */
export const isFields = (value) => value instanceof Map && value.size > 0 && [...value.values()].every((each) => each === null || typeof each === "string");

const isNumber = (value) => typeof value === "number" || typeof value === "boolean";

/** Return the classes of a cell; `isList` says that the cells of its column are lists. */
export function classesOfCell(value, { name, isList }) {
  if (value instanceof Map) {
    const numbered = value.size > 0 && [...value.values()].every(isNumber);
    const chosen = [...value.keys()].filter((each) => value.get(each));
    throw new RowFault(`${name} is an object, not a class: write ${numbered ? `the classes with 1 as a list, ${JSON.stringify(chosen)}` : "the name of a class or a list of names"}`);
  }
  if (Array.isArray(value)) {
    if (value.every(isScalar)) return value.filter((each) => each !== null).map(String);
    throw new RowFault(`${name} is a list of lists or objects: write a list of the names of classes`);
  }
  const text = textOfCell(value, name);
  if (!text.trim()) return [];
  const found = listOf(text);
  if (isList && found) return found;
  if (isList) throw new RowFault(`${name} is no list of names, as those of the first rows are`);
  if (found && STRUCTURE.test(text)) throw new RowFault(`${name} is a list, those of the first rows are not: divide several classes alike in all rows`);
  if (STRUCTURE.test(text)) throw new RowFault(`${name} is an object or a list of other things than names: write the name of a class or a list of names`);
  return [text];
}
