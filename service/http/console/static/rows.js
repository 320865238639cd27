// Tables of the user: CSV with a header or JSON, plain or packed; the rows are read piece by piece.

import { csvRows } from "./csv_rows.js";
import { asParts, linesOf, textOf } from "./file_text.js";
import { jsonRows } from "./json_rows.js";

const SAMPLED = 10; // rows, by which the columns are proposed
const BEGIN = 65_536; // characters, by which the notation is recognised

const isJson = (name, begin) => /\.(jsonl|ndjson|json)(\.gz)?$/i.test(name) || /^\ufeff?\s*(\{\s*"|\[\s*\{)/.test(begin);

async function* behind(begin, pieces) {
  yield begin;
  yield* pieces;
}

/** Yield what a table is, then what each of its rows is. */
async function* itemsOf(file, encoding) {
  const pieces = textOf(file, encoding);
  try {
    let begin = "";
    while (begin.length < BEGIN) {
      const { done, value } = await pieces.next();
      if (done) break;
      begin += value;
    }
    if (isJson(file.name, begin)) yield* jsonRows(behind(begin, pieces), encoding);
    else yield* csvRows(begin, pieces, { encoding, isTabbed: /\.tsv(\.gz)?$/i.test(file.name) });
  } finally {
    await pieces.return();
  }
}

/** Return { file, encoding, names, notes, rows } of a file, `rows` being the first with their cells in the order of the
 * columns; an Error says why it cannot be read. */
export async function openTable(file, encoding) {
  const rows = [];
  let table = null;
  let fault = null;
  for await (const each of itemsOf(file, encoding)) {
    if (!table) table = { ...each, file, encoding, rows };
    else if (each.row) rows.push(each.row);
    else if (each.detail) fault ??= `Line ${each.line}: ${each.detail}`;
    if (rows.length === SAMPLED) break;
  }
  if (!rows.length) throw new Error(fault ?? "The file has no rows.");
  return table;
}

/** Yield { line, last, row } of each row of a table that is not blank; one without a row has { text, detail }, the reason
 * why it is rejected, or { left }, the reason why it is left out. */
export async function* rowsOf({ file, encoding }) {
  let isRow = false;
  for await (const each of itemsOf(file, encoding)) {
    if (isRow) yield each;
    isRow = true;
  }
}

/** Return the lines of a table of CSV that hold its header and some records, { line, last } in order, as they are. */
export async function linesOfRecords({ file, encoding, header, separator }, wanted) {
  const kept = separator ? [`sep=${separator}\n`] : [];
  const ranges = [header, ...wanted];
  let at = 0;
  for await (const [number, line] of linesOf(textOf(file, encoding))) {
    if (number > ranges[at].last) at += 1;
    if (at === ranges.length) break;
    if (number >= ranges[at].line) kept.push(...asParts(line), "\n");
  }
  return kept;
}
