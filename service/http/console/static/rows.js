// Tables of the user: workbooks, CSV or JSON, plain or packed; the rows are read piece by piece.

import { DELIMITERS, csvRows } from "./csv_rows.js";
import { GuardedCsv, localDelimiter } from "./csv_text.js";
import { likelyEncoding, sampleOf } from "./encoding.js";
import { asParts, beginOf, checkText, linesOf, textOf } from "./file_text.js";
import { jsonRows } from "./json_rows.js";
import { isWorkbook, sheetRows } from "./workbook.js";

const SAMPLED = 10; // rows, by which the columns are proposed
const BEGIN = 65_536; // characters, by which the notation is recognised

const isJson = (name, begin) => /\.(jsonl|ndjson|json)(\.gz)?$/i.test(name) || /^\ufeff?\s*(\{\s*"|\[\s*\{)/.test(begin);

async function* behind(begin, pieces) {
  yield begin;
  yield* pieces;
}

/** Yield what a table of a known encoding is, then what each of its rows is. */
async function* itemsOfText(file, chosen) {
  const { encoding } = chosen;
  const pieces = textOf(file, encoding);
  try {
    let begin = "";
    while (begin.length < BEGIN) {
      const { done, value } = await pieces.next();
      if (done) break;
      begin += value;
    }
    if (isJson(file.name, begin)) yield* jsonRows(behind(begin, pieces), encoding);
    else yield* csvRows(begin, pieces, { ...chosen, isTabbed: /\.tsv(\.gz)?$/i.test(file.name) });
  } finally {
    await pieces.return();
  }
}

const itemsOf = (file, chosen) => (chosen.encoding === undefined ? sheetRows(file, chosen) : itemsOfText(file, chosen));

/** Return { encoding, isGuessed, sample } of a file with a text; an Error if none is likely and none chosen. */
async function encodingOf(file, chosen) {
  const begin = await beginOf(file);
  checkText(begin);
  const encoding = chosen || likelyEncoding(begin);
  if (!encoding) throw new Error("The file is not UTF-8, and its encoding is not clear: choose it, and look whether the letters of its first rows are right.");
  const sample = sampleOf(new TextDecoder(encoding).decode(begin));
  if (sample.includes("\0")) throw new Error("The file is not a text. If it is UTF-16, choose that as its encoding.");
  return { encoding, isGuessed: !chosen, sample };
}

/** Return { file, names, notes, rows, unit, … } of a file, `rows` being the first with their cells in the order of the
 * columns; an Error says why it cannot be read. `chosen` has what the user chose of { encoding, delimiter, header, sheet };
 * the table has what was used. */
export async function openTable(file, chosen = {}) {
  const read = (await isWorkbook(file)) ? {} : await encodingOf(file, chosen.encoding);
  const used = { ...chosen, encoding: read.encoding };
  const rows = [];
  let table = null;
  let fault = null;
  for await (const each of itemsOf(file, used)) {
    if (!table) table = { ...read, ...each, file, chosen: { ...used, delimiter: each.delimiter, header: each.hasHeader, sheet: each.sheet }, rows };
    else if (each.row) rows.push(each.row);
    else if (each.detail) fault ??= `${nameOf(table)} ${each.line}: ${each.detail}`;
    if (rows.length === SAMPLED) break;
  }
  if (!rows.length) throw new Error(fault ?? "The file has no rows.");
  return table;
}

const nameOf = ({ unit }) => (unit === "row" ? "Row" : "Line");

/** Yield { line, last, row } of each row of a table that is not blank; one without a row has { text, detail }, the reason
 * why it is rejected, or { left }, the reason why it is left out. */
export async function* rowsOf({ file, chosen }) {
  let isRow = false;
  for await (const each of itemsOf(file, chosen)) {
    if (isRow) yield each;
    isRow = true;
  }
}

/** Return the lines of a table of CSV that hold its header and some records, { line, last } in order, as they are. */
async function linesOfRecords({ file, encoding, header, separator }, wanted) {
  const kept = separator ? [`sep=${separator}\n`] : [];
  const ranges = header ? [header, ...wanted] : wanted;
  let at = 0;
  for await (const [number, line] of linesOf(textOf(file, encoding))) {
    if (number > ranges[at].last) at += 1;
    if (at === ranges.length) break;
    if (number >= ranges[at].line) kept.push(...asParts(line), "\n");
  }
  return kept;
}

/** Return a CSV file with some names of columns, to write rows of a table to it: with the delimiter of the table if it has a usual one. */
export function csvLike({ chosen: { delimiter } }, names) {
  return new GuardedCsv(names, delimiter === undefined ? localDelimiter() : delimiter in DELIMITERS ? delimiter : ",");
}

/** Return the parts of a CSV file with some records of a table, to fix and to import again. */
export async function rejectedParts(table, wanted) {
  if (table.unit === "line") return linesOfRecords(table, wanted);
  const csv = csvLike(table, table.names);
  for (const { row } of wanted) csv.add(row);
  return csv.file();
}
