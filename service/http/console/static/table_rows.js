// The rows of a table of cells, of CSV or a sheet: its titles, its header and its guard.

import { withoutGuard } from "./csv_text.js";
import { faultOf, isFaulty } from "./file_text.js";
import { hasHeader } from "./header.js";
import { isColumnName } from "./mapping.js";

const LOOKED_AT = 50; // records, by which the header is recognised
const MOST_TITLES = 5;
const SHOWN = 200; // characters of a faulty record

export const filledCells = (cells) => cells.filter((each) => each.trim());

/** Return how many of the first records are titles above the header: one cell alone, above a table of equal rows. */
export function titlesOf(records) {
  const titles = records.findIndex(({ cells }) => filledCells(cells).length > 1);
  if (titles < 1 || titles > MOST_TITLES) return 0;
  const header = records[titles].cells.length;
  const isTitle = ({ cells }) => !isColumnName(filledCells(cells)[0].trim());
  return records.slice(0, titles).every(isTitle) && records.slice(titles).every(({ cells }) => cells.length === header) ? titles : 0;
}

/** Return the first records that are not blank, and an iterator of these and the others. */
async function begun(records) {
  const first = [];
  while (first.length < LOOKED_AT) {
    const { done, value } = await records.next(); // a loop would close it
    if (done) break;
    if (value.fault || filledCells(value.cells).length) first.push(value);
  }
  async function* all() {
    yield* first;
    yield* records;
  }
  return [first, all()];
}

/** Yield { names, notes, header, hasHeader, ...about }, then { line, last, row } of each record { line, last, cells, fault };
 * or without a row: { text, detail } of a fault, { left } of a record that is no row.
 *
 * `chosen.header` says whether the first record has the names of the columns, unless it is undefined.
 */
export async function* tableRows(records, { encoding, header: given }, about) {
  const [first, all] = await begun(records);
  if (!first.length) return;
  if (first[0].isOpen) throw new Error(`${first[0].isOpen}.`);
  const isWhole = (each) => !each.fault && !isFaulty(each.cells.join("\n"));
  const titles = titlesOf(first.slice(0, 10));
  const [top, ...below] = first.slice(titles);
  const isHeader = given ?? hasHeader(top.cells, below.filter(isWhole).map(({ cells }) => cells));
  const notes = first.slice(0, titles).map(({ line, cells }) => `Line ${line} is a title, not a row: ${filledCells(cells)[0].trim().slice(0, SHOWN)}`);
  const width = isHeader ? top.cells.length : Math.max(...first.slice(titles).map(({ cells }) => cells.length));
  if (isHeader && isFaulty(top.cells.join("\n"))) throw new Error(`Line ${top.line}: ${faultOf(top.cells.join("\n"), encoding)}.`);
  const header = isHeader ? top.cells : Array.from({ length: width }, () => "");
  const plain = isHeader ? withoutGuard(header) : (cells) => cells;
  const names = plain(header).map((name, index) => name.trim() || `column ${index + 1}`);
  yield { ...about, names, notes, hasHeader: isHeader, header: isHeader && { line: top.line, last: top.last } };
  let number = 0;
  for await (const { line, last, cells, fault: reason } of all) {
    if (!reason && !filledCells(cells).length) continue;
    if ((number += 1) <= titles + isHeader) continue;
    const whole = cells.join("\n");
    const fault = (detail) => ({ line, last, row: null, text: whole.slice(0, SHOWN).toWellFormed(), detail });
    if (reason) yield fault(reason);
    else if (isHeader && whole === header.join("\n")) yield { line, last, row: null, left: "repeated header" }; // of files put together
    else if (isFaulty(whole)) yield fault(faultOf(whole, encoding));
    else if (cells.slice(width).some(Boolean))
      yield fault(`it has ${cells.length} cells, the ${isHeader ? "header" : "first rows"} ${isHeader ? "has" : "have"} ${width}: a text that holds the delimiter needs quotes`);
    else yield { line, last, row: plain(header.map((_, index) => cells[index] ?? "")) };
  }
}
