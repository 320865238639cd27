// The rows of CSV: its delimiter, its header, and records whose quotes are closed.

import { withoutGuard } from "./csv_text.js";
import { LONGEST, faultOf, isFaulty } from "./file_text.js";
import { isColumnName } from "./mapping.js";

const DELIMITERS = [",", ";", "\t", "|"];
const SNIFFED = 10; // records
const MOST_TITLES = 5;
const SHOWN = 200; // characters of a faulty record
const SEPARATOR = /^\ufeff?"?sep=([^\r\n])[^\r\n]*/iu; // a first line for Excel

const [QUOTE, LINE_FEED, RETURN, BYTE_ORDER_MARK] = ['"', "\n", "\r", "\ufeff"].map((sign) => sign.charCodeAt(0));

const filledCells = (cells) => cells.filter((each) => each.trim());

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

/** Return the first records of a text that are not blank. */
function firstRecords(begin, delimiter) {
  const records = new Records(delimiter);
  const found = [];
  const isFull = (record) => filledCells(record.cells).length > 0 && found.push(record) === SNIFFED;
  for (const each of records.read(begin)) if (isFull(each)) return found;
  if (!found.length) for (const each of records.end()) isFull(each);
  return found;
}

/** Return how many of the first records are titles above the header: one cell alone, above a table of equal rows. */
function titlesOf(records) {
  const titles = records.findIndex(({ cells }) => filledCells(cells).length > 1);
  if (titles < 1 || titles > MOST_TITLES) return 0;
  const header = records[titles].cells.length;
  const isTitle = ({ cells }) => !isColumnName(filledCells(cells)[0].trim());
  return records.slice(0, titles).every(isTitle) && records.slice(titles).every(({ cells }) => cells.length === header) ? titles : 0;
}

/** Return the delimiter that divides the first records best: into equally many cells, below the fewest titles, into most. */
function likelyDelimiter(begin) {
  const fit = (delimiter) => {
    const records = firstRecords(begin, delimiter);
    const titles = titlesOf(records);
    const sizes = records.slice(titles).map(({ cells }) => cells.length);
    const [first = 0] = sizes;
    return [first > 1 && new Set(sizes).size === 1 ? 1 : 0, -titles, first];
  };
  const isBetter = (one, other) => {
    const at = one.findIndex((each, place) => each !== other[place]);
    return at >= 0 && one[at] > other[at];
  };
  return DELIMITERS.reduce((best, each) => (isBetter(fit(each), fit(best)) ? each : best));
}

async function* recordsOf(begin, pieces, delimiter) {
  const records = new Records(delimiter);
  yield* records.read(begin);
  for await (const piece of pieces) yield* records.read(piece);
  yield* records.end();
}

/** Yield { names, notes, header, separator }, then { line, last, row }, or without a row: { text, detail } of a fault,
 * { left } of a record that is no row. */
export async function* csvRows(begin, pieces, { encoding, isTabbed }) {
  const separator = SEPARATOR.exec(begin);
  const text = separator ? begin.slice(separator[0].length) : begin;
  const delimiter = separator?.[1] ?? (isTabbed ? "\t" : likelyDelimiter(text));
  const titles = titlesOf(firstRecords(text, delimiter));
  const notes = [];
  let names = null;
  let header = [];
  let plain;
  for await (const { line, last, cells, open } of recordsOf(text, pieces, delimiter)) {
    if (!open && !filledCells(cells).length) continue;
    const whole = cells.join("\n");
    const fault = (detail) => ({ line, last, row: null, text: whole.slice(0, SHOWN).toWellFormed(), detail });
    if (names === null) {
      if (open) throw new Error(`${notClosed(open)}.`);
      if (isFaulty(whole)) throw new Error(`Line ${line}: ${faultOf(whole, encoding)}.`);
      if (notes.length < titles) {
        notes.push(`Line ${line} is a title, not a row: ${filledCells(cells)[0].trim().slice(0, SHOWN)}`);
        continue;
      }
      header = cells;
      plain = withoutGuard(header);
      names = plain(header).map((name, index) => name.trim() || `column ${index + 1}`);
      yield { names, notes, header: { line, last }, separator: separator && delimiter };
    } else if (open) yield fault(`${notClosed(open)}: ${last > line ? `lines ${line} to ${last} are` : `line ${line} is`} left out`);
    else if (whole === header.join("\n")) yield { line, last, row: null, left: "repeated header" }; // of files put together
    else if (isFaulty(whole)) yield fault(faultOf(whole, encoding));
    else if (cells.slice(header.length).some(Boolean))
      yield fault(`it has ${cells.length} cells, the header has ${header.length}: a text that holds the delimiter needs quotes`);
    else yield { line, last, row: plain(header.map((_, index) => cells[index] ?? "")) };
  }
}
