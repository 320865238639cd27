// The rows of JSON: an object a line, or a whole file that is a list of objects or a body of our own API.

import { faultOf, isFaulty, linesOf } from "./file_text.js";
import { JsonObject, jsonText, parsed } from "./json_text.js";

const SAMPLED = 10; // objects whose keys are the columns, as for `manyclass learn`
const MOST_HELD = 64 * 2 ** 20; // characters of a file that is one value
const BODIES = ["events", "instances"]; // keys of a body of POST /learn and /rank
const REJECTED = ["line", "detail", "row"]; // keys of the rejected rows that Import saves
const SHOWN = 200; // characters of a faulty line

const isObject = (value) => value instanceof JsonObject;

const isList = (value) => Array.isArray(value) && value.every(isObject);

/** Return the objects that a value stands for: itself, those of a list or of a body of the API; else null. */
function objectsOf(value) {
  if (isList(value)) return value;
  if (!isObject(value)) return null;
  const [only] = BODIES.filter((key) => isList(value.get(key)) && !value.has("text") && !value.has("features"));
  return only ? value.get(only) : [value];
}

function reasonOf(text, error) {
  if (/^\s*[[{]\s*$/.test(text)) return "The line is not a complete JSON object: write one object per line, as jq -c . FILE does.";
  const isNumber = /[:[,]\s*-?(NaN|Infinity)\b/.test(text);
  const why = isNumber ? ": NaN and Infinity are not JSON; write null" : error?.message.startsWith("the number") ? `: ${error.message}` : "";
  return `The line is not a JSON object${why}.`;
}

const faulty = (line, text, detail) => ({ line, object: null, text: text.slice(0, SHOWN).toWellFormed(), detail });

/** Return what a line stands for: [{ line, object }], or one without an object and with a detail. */
function objectsOfLine(line, text, encoding) {
  if (isFaulty(text)) return [faulty(line, text, faultOf(text, encoding))];
  let found = null;
  let reason;
  try {
    found = objectsOf(parsed(text));
  } catch (error) {
    reason = error;
  }
  return found?.map((object) => checked(line, object)) ?? [faulty(line, text, reasonOf(text, reason))];
}

function checked(line, object) {
  return object.twice === undefined ? { line, object } : faulty(line, jsonText(object), `the key ${object.twice} stands twice`);
}

/** Return the objects of a whole text, each with its line; null if it is not JSON of several. */
function objectsOfWhole(text, encoding) {
  let found = null;
  try {
    found = objectsOf(parsed(text));
  } catch {
    // its lines are faulty
  }
  let at = 0;
  let line = 1;
  return found?.map((object, index) => {
    for (; at < object.place; at += 1) if (text[at] === "\n") line += 1;
    const its = text.slice(object.place, found[index + 1]?.place);
    return isFaulty(its) ? faulty(line, its, faultOf(its, encoding)) : checked(line, object);
  });
}

/** Return whether a line holds an object for itself. */
function isWhole(text) {
  try {
    return isObject(parsed(text));
  } catch {
    return false;
  }
}

/** Return whether lines, of which the last is new, may be parts of one value. */
function mayBeOne(lines) {
  const [first, second] = lines;
  if (lines.length === 1) return /^\s*[[{]/.test(first) && !isWhole(first);
  return lines.length > 2 || /^\s*\[(.*,)?\s*$/.test(first) || !isWhole(second);
}

/** Yield { line, object } or { line, object: null, text, detail } of each object. */
async function* objects(pieces, encoding) {
  let held = []; // lines, while they may be parts of one value
  let size = 0;
  for await (const [line, raw] of linesOf(pieces)) {
    const text = raw.replace(/^\ufeff/, "");
    if (!text.trim()) {
      held?.push("");
      continue;
    }
    if (held) {
      held.push(text);
      size += text.length;
      if (size > MOST_HELD) throw new Error("This is one JSON value of more than 64 MiB. Write one object per line, as jq -c '.[]' FILE does.");
      if (mayBeOne(held.filter(Boolean))) continue;
      yield* ofLines(held, encoding);
      held = null;
    } else yield* objectsOfLine(line, text, encoding);
  }
  if (held) yield* objectsOfWhole(held.join("\n"), encoding) ?? ofLines(held, encoding);
}

const ofLines = (lines, encoding) => lines.flatMap((text, index) => (text ? objectsOfLine(index + 1, text, encoding) : []));

function keysOf(sample) {
  const keys = [...new Set(sample.flatMap(({ object }) => (object ? [...object.keys()] : [])))];
  if (keys.length === REJECTED.length && REJECTED.every((each) => keys.includes(each)))
    throw new Error("These are rejected rows that Import saved. Mend these rows of the file that they come from, and teach them as a file of their own.");
  return keys;
}

/** Yield { names, notes }, then { line, row } or { line, row: null, text, detail } of each object. */
export async function* jsonRows(pieces, encoding) {
  const all = objects(pieces, encoding);
  const sample = [];
  while (sample.length < SAMPLED) {
    const { done, value } = await all.next(); // a loop would close it
    if (done) break;
    sample.push(value);
  }
  const keys = keysOf(sample);
  yield { names: keys.map((key, at) => key.trim() || `column ${at + 1}`), notes: [], unit: "line", isJson: true };
  const rowOf = ({ object, ...each }) => ({ ...each, row: object && keys.map((key) => object.get(key)) });
  yield* sample.map(rowOf);
  for await (const each of all) yield rowOf(each);
}
