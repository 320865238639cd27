// The rows of CSV: its delimiter, and records whose quotes are closed.

import { LONGEST } from "./file_text.js";
import { filledCells, tableRows, titlesOf } from "./table_rows.js";

export const DELIMITERS = { ",": "comma", ";": "semicolon", "\t": "tab", "|": "bar |" };
const SNIFFED = 10; // records
const SEPARATOR = /^\ufeff?"?sep=([^\r\n])[^\r\n]*/iu; // a first line for Excel

const [QUOTE, LINE_FEED, RETURN, BYTE_ORDER_MARK] = ['"', "\n", "\r", "\ufeff"].map((sign) => sign.charCodeAt(0));

const notClosed = (line) => `the quote opened in line ${line} is not closed`;

/** Divides text into records: { line, last, cells, open }, their lines, and that of a quote that is not closed, or 0.
 *
 * A quote left open by mistake is closed by that of a later cell, whose text follows it.
 */
class Records {
  #delimiter;
  #cells = [];
  #cell = "";
  #quoted = false;
  #closed = false; // just behind a quote that may end the cell, or be the first of two
  #strict = true; // each quote so far was closed where its cell ends
  #line = 1;
  #begin = 1;
  #opened = 1; // the line of the newest quote that opens a cell
  #before = "\n";

  constructor(delimiter) {
    this.#delimiter = delimiter;
  }

  /** Return the place of the next sign that may end a cell or its quotes. */
  #next(piece, begin) {
    const delimiter = this.#delimiter.charCodeAt(0);
    const quoted = this.#quoted;
    let at = begin;
    for (; at < piece.length; at += 1) {
      const code = piece.charCodeAt(at);
      if (code === QUOTE || code === LINE_FEED || code === RETURN || (!quoted && (code === delimiter || code === BYTE_ORDER_MARK))) break;
    }
    return at;
  }

  /** Yield the records that end in a piece of the text. */
  *read(piece) {
    for (let at = 0; at < piece.length; at += 1) {
      if (!this.#closed) {
        const next = this.#next(piece, at);
        if (next > at) {
          this.#cell += piece.slice(at, next);
          this.#before = piece[next - 1];
          at = next;
        }
        if (at === piece.length) return;
      }
      const sign = piece[at];
      const isSecond = sign === "\n" && this.#before === "\r";
      const isMark = sign === "\ufeff" && /[\r\n]/.test(this.#before);
      const isEnd = (sign === "\n" && !isSecond) || sign === "\r";
      this.#before = sign;
      if (this.#closed) {
        this.#closed = false;
        if (sign === '"') {
          this.#cell += '"';
          continue;
        }
        this.#quoted = false;
        if (sign !== this.#delimiter && !isEnd) this.#strict = false;
      }
      if (this.#quoted) {
        if (isEnd) {
          this.#line += 1;
          if (this.#cell.length > LONGEST) throw new Error(`${notClosed(this.#opened)}.`);
        }
        if (sign === '"') this.#closed = true;
        else this.#cell += sign;
      } else if (isEnd) {
        yield this.#record(this.#line, this.#strict || this.#line === this.#begin ? 0 : this.#begin);
        this.#line += 1;
        this.#begin = this.#line;
      } else if (sign === '"' && this.#cell === "") {
        this.#quoted = true;
        this.#opened = this.#line;
      } else if (sign === this.#delimiter) {
        this.#cells.push(this.#cell);
        this.#cell = "";
      } else if (!isSecond && !isMark) this.#cell += sign; // the mark of a joined file is no text
    }
  }

  /** Yield the record at the end, which no line end follows. */
  *end() {
    const isOpen = this.#quoted && !this.#closed;
    const open = isOpen ? this.#opened : !this.#strict && this.#line > this.#begin ? this.#begin : 0;
    if (this.#cell || this.#cells.length || open) yield this.#record(/[\r\n]$/.test(this.#cell) ? this.#line - 1 : this.#line, open);
  }

  #record(last, open) {
    const record = { line: this.#begin, last, cells: [...this.#cells, this.#cell], open };
    this.#cells = [];
    this.#cell = "";
    this.#strict = true;
    return record;
  }
}

/** Return the first whole records of a text that are not blank. */
function firstRecords(begin, delimiter, most) {
  const records = new Records(delimiter);
  const found = [];
  const isFull = (record) => filledCells(record.cells).length > 0 && found.push(record) === most;
  for (const each of records.read(begin)) if (isFull(each)) return found;
  if (!found.length) for (const each of records.end()) isFull(each);
  return found;
}

/** Return the delimiter that divides the first records best, as `likely_delimiter` of training/tables/delimited.py:
 * into equally many cells, below the fewest titles, into most. */
export function likelyDelimiter(begin) {
  const fit = (delimiter) => {
    const records = firstRecords(begin, delimiter, SNIFFED);
    const titles = titlesOf(records);
    const sizes = records.slice(titles).map(({ cells }) => cells.length);
    const [first = 0] = sizes;
    return [first > 1 && new Set(sizes).size === 1 ? 1 : 0, -titles, first];
  };
  const isBetter = (one, other) => {
    const at = one.findIndex((each, place) => each !== other[place]);
    return at >= 0 && one[at] > other[at];
  };
  return Object.keys(DELIMITERS).reduce((best, each) => (isBetter(fit(each), fit(best)) ? each : best));
}

async function* recordsOf(begin, pieces, delimiter) {
  const records = new Records(delimiter);
  yield* records.read(begin);
  for await (const piece of pieces) yield* records.read(piece);
  yield* records.end();
}

async function* described(records) {
  for await (const { open, ...each } of records) {
    const swallowed = each.last > each.line ? `lines ${each.line} to ${each.last} are` : `line ${each.line} is`;
    yield open ? { ...each, fault: `${notClosed(open)}: ${swallowed} left out`, isOpen: notClosed(open) } : each;
  }
}

/** Yield what a table of CSV is, then what each of its rows is, as `tableRows` does. */
export async function* csvRows(begin, pieces, { isTabbed, ...chosen }) {
  const separator = SEPARATOR.exec(begin);
  const text = separator ? begin.slice(separator[0].length) : begin;
  const delimiter = chosen.delimiter || (separator?.[1] ?? (isTabbed ? "\t" : likelyDelimiter(text)));
  const records = described(recordsOf(text, pieces, delimiter));
  yield* tableRows(records, chosen, { delimiter, separator: separator && delimiter, unit: "line" });
}
