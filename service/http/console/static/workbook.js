// Workbooks of Excel and LibreOffice, which the service reads.

import { ask } from "./api.js";
import { may } from "./access.js";
import { tableRows } from "./table_rows.js";

const SIGNS = [[0x50, 0x4b, 3, 4], [0xd0, 0xcf, 0x11, 0xe0]]; // of zip archives, and of documents before 2007

const found = new WeakMap(); // file -> its sheets, so that they are asked for once

/** Return whether the bytes of a file begin as those of a workbook. */
export async function isWorkbook(file) {
  const begin = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  return SIGNS.some((signs) => signs.every((each, at) => begin[at] === each));
}

async function sheetsOf(file) {
  if (!may("learn")) throw new Error("To read a workbook, a key of the scope learn is needed. Save the sheet as CSV, or use another key.");
  if (!found.has(file)) found.set(file, ask("POST", "/sheets", { bytes: file }));
  try {
    return await found.get(file);
  } catch (error) {
    found.delete(file);
    throw error;
  }
}

async function* recordsOf(rows) {
  yield* rows.map((cells, at) => ({ line: at + 1, last: at + 1, cells }));
}

/** Yield what a sheet is, then what each of its rows is, as `tableRows` does; by default it is the first with rows. */
export async function* sheetRows(file, chosen) {
  const { first, sheets } = await sheetsOf(file);
  const name = chosen.sheet || first;
  const sheet = sheets.find((each) => each.name === name);
  yield* tableRows(recordsOf(sheet.rows), chosen, { sheet: name, sheets: sheets.map((each) => each.name), unit: "row" });
}
