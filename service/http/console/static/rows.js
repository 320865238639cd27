// Rows of a file of the user, read piece by piece: CSV with a header, or JSON lines; gzip too.

const SEPARATORS = [",", ";", "\t", "|"];

export const isLines = (name) => /\.(jsonl|ndjson|json)(\.gz)?$/i.test(name);

async function* textOf(file) {
  let stream = file.stream();
  if (/\.gz$/i.test(file.name)) stream = stream.pipeThrough(new DecompressionStream("gzip"));
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {}); // the rest is not needed
  }
}

async function* linesOf(file) {
  let rest = "";
  let number = 0;
  for await (const piece of textOf(file)) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop();
    for (const line of lines) yield [(number += 1), line];
  }
  if (rest) yield [number + 1, rest];
}

/** Yield { line, row } or { line, row: null, text, detail } for each line of JSON. */
async function* jsonRows(file) {
  for await (const [line, text] of linesOf(file)) {
    if (!text.trim()) continue;
    let row = null;
    try {
      row = JSON.parse(text);
    } catch {
      // reported below
    }
    if (row !== null && typeof row === "object" && !Array.isArray(row)) yield { line, row };
    else yield { line, row: null, text, detail: "The line is not a JSON object." };
  }
}

const SHOWN = 200; // characters of a faulty record
const LONGEST_CELL = 16 * 2 ** 20;
const BEGIN = 65_536; // bytes, by which a wrong format is recognised

/** Raise an error that says what a file is, if it is neither CSV nor JSON lines in UTF-8. */
export async function checkFormat(file) {
  if (/\.gz$/i.test(file.name)) return;
  const bytes = new Uint8Array(await file.slice(0, BEGIN).arrayBuffer());
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) throw new Error("This is a spreadsheet or a zip file. Save it as CSV (UTF-8).");
  const end = bytes.length < BEGIN ? bytes.length : bytes.lastIndexOf(10) + 1;
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, end));
  } catch {
    throw new Error("The file is not in UTF-8. Save it as CSV (UTF-8), or use: manyclass learn FILE --encoding cp1252");
  }
  if (isLines(file.name) && text.trimStart().startsWith("[")) throw new Error("This is one JSON array, not a line for each row. Use: jq -c '.[]' FILE");
}

function separatorOf(text) {
  const header = text.trimStart().split(/\r?\n/, 1)[0];
  return SEPARATORS.reduce((best, each) => (header.split(each).length > header.split(best).length ? each : best));
}

const isFilled = (cells) => cells.some((each) => each.trim());

const notClosed = (line) => `the quote opened in line ${line} is not closed`;

/** Yield { line, last, cells, open } for each record of CSV: its lines, and that of a quote that is not closed, or 0.
 *
 * A quote left open by mistake is closed by that of a later cell, whose text follows it.
 */
async function* records(file) {
  let separator = null;
  let cells = [];
  let cell = "";
  let quoted = false;
  let closed = false; // just behind a quote that may end the cell, or be the first of two
  let strict = true; // each quote so far was closed where its cell ends
  let line = 1;
  let begin = 1;
  let opened = 1; // the line of the newest quote that opens a cell
  for await (const piece of textOf(file)) {
    separator ??= separatorOf(piece);
    for (const sign of piece) {
      if (sign === "\n") {
        line += 1;
        if (quoted && cell.length > LONGEST_CELL) throw new Error(`${notClosed(opened)}.`);
      }
      if (closed) {
        closed = false;
        if (sign === '"') {
          cell += '"';
          continue;
        }
        quoted = false;
        if (![separator, "\r", "\n"].includes(sign)) strict = false;
      }
      if (quoted) {
        if (sign === '"') closed = true;
        else cell += sign;
      } else if (sign === '"' && cell === "") {
        quoted = true;
        opened = line;
      } else if (sign === separator) {
        cells.push(cell);
        cell = "";
      } else if (sign === "\n") {
        cells.push(cell.replace(/\r$/, ""));
        yield { line: begin, last: line - 1, cells, open: !strict && line > begin + 1 ? begin : 0 };
        cells = [];
        cell = "";
        strict = true;
        begin = line;
      } else cell += sign;
    }
  }
  const open = quoted && !closed ? opened : !strict && line > begin ? begin : 0;
  if (cell || cells.length || open) yield { line: begin, last: cell.endsWith("\n") ? line - 1 : line, cells: [...cells, cell], open };
}

/** Yield { line, last, row } or { line, last, row: null, text, detail } for each record of CSV that is not blank. */
async function* csvRows(file) {
  let names = null;
  let header = "";
  for await (const { line, last, cells, open } of records(file)) {
    if (!open && !isFilled(cells)) continue;
    const whole = cells.join("\n");
    const fault = (detail) => ({ line, last, row: null, text: whole.slice(0, SHOWN), detail });
    if (names === null) {
      if (open) throw new Error(`${notClosed(open)}.`);
      names = cells.map((name, index) => name.replace(/^\ufeff/, "").trim() || `column ${index + 1}`);
      header = whole;
    } else if (open) yield fault(`${notClosed(open)}: ${last > line ? `lines ${line} to ${last} are` : `line ${line} is`} left out`);
    else if (whole === header) continue; // files put together repeat the header
    else if (cells.slice(names.length).some(Boolean))
      yield fault(`it has ${cells.length} cells, the header has ${names.length}: a text that holds the delimiter needs quotes`);
    else yield { line, last, row: Object.fromEntries(names.map((name, index) => [name, cells[index] ?? ""])) };
  }
}

/** Return the lines of a CSV file that hold its header and some records, [{ line, last }] in order, as they are. */
export async function linesOfRecords(file, wanted) {
  const kept = [];
  const ranges = [...wanted];
  for await (const first of records(file)) {
    if (!isFilled(first.cells)) continue;
    ranges.unshift(first); // the header
    break;
  }
  let at = 0;
  for await (const [number, line] of linesOf(file)) {
    if (number > ranges[at].last) at += 1;
    if (at === ranges.length) break;
    if (number >= ranges[at].line) kept.push(`${line}\n`);
  }
  return kept;
}

/** Yield the rows of a file with their line numbers. */
export const rowsOf = (file) => (isLines(file.name) ? jsonRows(file) : csvRows(file));

/** Return the first rows of a file, at least one. */
export async function firstRows(file, wanted) {
  const found = [];
  let fault = "The file has no rows.";
  for await (const { line, row, detail } of rowsOf(file)) {
    if (row) found.push(row);
    else if (!found.length) fault = `Line ${line}: ${detail}`;
    if (found.length === wanted) break;
  }
  if (!found.length) throw new Error(fault);
  return found;
}

const needsQuotes = /[",\n\r]/;

/** A line of CSV. A cell that a spreadsheet would take for a formula gets an apostrophe. */
export function csvLine(cells) {
  return cells.map((each) => {
    const text = typeof each === "object" && each !== null ? JSON.stringify(each) : String(each ?? "");
    const safe = /^[=+@\t]|^-(?!\d)/.test(text) ? `'${text}` : text;
    return needsQuotes.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  }).join(",") + "\n";
}
