// CSV that a spreadsheet opens without acting on its texts, and that is read back as it was.

import { textOf } from "./json_text.js";

const MARK = "with apostrophe"; // the last column of a guarded table: the names of the guarded cells
const NUMBER = /^[-+]?\d+([.,]\d+)*(e[-+]?\d+)?$/i;
const FORMULA = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/; // apostrophes too, so that one can be taken away again

const needsGuard = (text) => FORMULA.test(text) && !NUMBER.test(text);

/** Return the delimiter that a spreadsheet in the language of the browser reads: it is no comma where that is in a number. */
export const localDelimiter = () => ((0.5).toLocaleString().includes(",") ? ";" : ",");

/** A table as CSV. A cell that a spreadsheet would take for a formula gets an apostrophe; then the table has a column
 * that says so, by which `withoutGuard` and `manyclass learn` take it back. */
export class GuardedCsv {
  #names;
  #delimiter;
  #lines = [];
  #marks = [];

  constructor(names, delimiter = ",") {
    this.#names = names;
    this.#delimiter = delimiter;
    this.add(names);
  }

  /** Return a number as a cell, so that a spreadsheet takes it for a number: with a comma if the delimiter is none. */
  number(value, digits) {
    const text = value === null || value === undefined ? "" : value.toFixed(digits);
    return this.#delimiter === ";" ? text.replace(".", ",") : text;
  }

  #quoted(text) {
    return /["\n\r]/.test(text) || text.includes(this.#delimiter) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  add(values) {
    const texts = values.map(textOf);
    this.#marks.push(this.#names.filter((_, at) => needsGuard(texts[at])).join(", "));
    this.#lines.push(texts.map((text) => this.#quoted(needsGuard(text) ? `'${text}` : text)).join(this.#delimiter));
  }

  /** Return the parts of a Blob: the lines behind the mark by which Excel reads the letters right. */
  file() {
    return ["\ufeff", ...this.parts()];
  }

  /** Return the lines, without the mark. */
  parts() {
    const [ofNames, ...marks] = this.#marks;
    const isGuarded = ofNames || marks.some(Boolean);
    const ends = [MARK, ...marks].map((mark) => (isGuarded ? `${this.#delimiter}${this.#quoted(mark)}\n` : "\n"));
    return this.#lines.map((line, at) => line + ends[at]);
  }
}

/** Return a function that takes the guard back from the cells of each record below a header, and from the header. */
export function withoutGuard(header) {
  const mark = header.indexOf(MARK);
  if (mark < 0) return (cells) => cells;
  return (cells) => cells.toSpliced(mark, 1).map((text) => (text.startsWith("'") && FORMULA.test(text) ? text.slice(1) : text));
}
