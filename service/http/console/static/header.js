// Guess whether the first row of a table has the names of its columns, as training/tables/header.py does.

import { isKnownName } from "./mapping.js";

const LOOKED_AT = 49; // rows below the first
const NUMBER = /^[-+]?\d[\d .,:/%-]*$/; // a date or a time too
const LEAST_WORDS = 4; // of a first cell that is a sentence

const isNumber = (text) => NUMBER.test(text);
const hasDigit = (text) => /\d/.test(text);

/** Return 1 if a first cell differs from the cells below it as a name does, -1 if it is like them, else 0. */
function vote(first, below) {
  if (!first || !below.length) return 0;
  if (below.includes(first)) return -1;
  const numbers = below.filter(isNumber).length;
  if (numbers === below.length) return isNumber(first) ? -1 : 1;
  if (isNumber(first)) return numbers ? 0 : 1;
  return below.every(hasDigit) && !hasDigit(first) ? 1 : 0;
}

const letters = (cells) => cells.join("").length;

/** Return whether the first row is a header: it has a known name; else most of its cells differ in kind from those below;
 * else it has no sentence about as long as those in the longest column. */
export function hasHeader(first, rows) {
  const names = first.map((each) => each.trim());
  const others = rows.filter((row) => row.join("\n") !== first.join("\n")).slice(0, LOOKED_AT);
  const columns = names.map((_, at) => others.map((row) => (row[at] ?? "").trim()).filter(Boolean));
  if (!others.length || names.some((name, at) => isKnownName(name) && !columns[at].includes(name))) return true;
  const votes = names.reduce((sum, name, at) => sum + vote(name, columns[at]), 0);
  if (votes) return votes > 0;
  const longest = columns.reduce((best, each, at) => (letters(each) > letters(columns[best]) ? at : best), 0);
  const sizes = columns[longest].map((each) => each.length);
  const name = names[longest];
  const isLike = 2 * name.length >= Math.min(...sizes) && name.length <= 2 * Math.max(...sizes);
  return !(isLike && name.split(/\s+/).length >= LEAST_WORDS);
}
