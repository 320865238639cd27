// Survey the rows of a table before they are taught: classes, cells with several, gaps, spellings, faults.

import { RowFault } from "./class_cells.js";
import { clustersOf } from "./label_clusters.js";
import { isEmptyLabel } from "./label_words.js";
import { UNLABELLED, eventOf, instanceOf, isBlank, labelsOf, textsOf } from "./mapping.js";
import { rowsOf } from "./rows.js";

export const ROWS = 100_000; // that are read before the table is taught
const MOST_LABELS = 100_000; // that are compared
const PIECE = 1000; // rows, after which the page may draw
const SEPARATORS = [";", "|", ","]; // of classes in a cell

export const NOTHING = { rows: 0, good: 0, emptied: 0, classes: 0, unlabelled: 0, joined: [], empty: [], clusters: [], left: [], rejected: [[], []], damaged: 0, error: null };

const byNumber = (some) => [...some].sort(([, a], [, b]) => b - a);

const counter = () => {
  const numbers = new Map();
  return { numbers, add: (name) => (numbers.has(name) || numbers.size < MOST_LABELS) && numbers.set(name, (numbers.get(name) ?? 0) + 1) };
};

const partsOf = (label, separator) => label.split(separator).map((each) => each.trim());

/** Return { separator, cells, example } of each sign by which cells may have several classes. A comma is one only between
 * names that are also alone in a cell, for names have commas. */
function joinedBy(labels) {
  return SEPARATORS.flatMap((separator) => {
    const found = [...labels].filter(([name]) => {
      const parts = partsOf(name, separator);
      return parts.length > 1 && parts.every(Boolean) && (separator !== "," || parts.every((each) => labels.has(each)));
    });
    const cells = found.reduce((sum, [, number]) => sum + number, 0);
    return cells ? [{ separator, cells, example: found[0][0] }] : [];
  });
}

/** Read the rows, at most ROWS, as they are taught and as they are ranked. */
export async function survey(table, columns, { separator }, signal) {
  const [labels, given, left] = [counter(), counter(), counter()];
  const found = { ...NOTHING, rejected: [[], []] };
  const teach = (row) => {
    for (const name of labelsOf(row, columns)) given.add(name);
    const { classes, text } = eventOf(row, columns, { separator });
    for (const name of classes) labels.add(name);
    found.good += 1;
    if (classes.length && classes.every(isEmptyLabel)) found.emptied += 1; // rows that are left out with such labels
    found.damaged += [...textsOf(text), ...classes].some((its) => its.includes("\ufffd"));
  };
  const makers = [teach, (row) => instanceOf(row, columns)];
  for await (const each of rowsOf(table)) {
    found.rows += 1;
    if (found.rows % PIECE === 0) await new Promise((done) => setTimeout(done));
    if (found.rows === ROWS || signal.aborted) break;
    if (each.left) left.add(each.left);
    if (each.left || (each.row && isBlank(each.row))) continue;
    for (const [at, make] of makers.entries())
      try {
        if (!each.row) throw new RowFault(each.detail);
        make(each.row);
      } catch (fault) {
        if (!(fault instanceof RowFault)) throw fault;
        if (fault.left === UNLABELLED) found.unlabelled += 1;
        else if (fault.left) left.add(fault.left);
        else found.rejected[at].push(`${table.unit} ${each.line}: ${fault.message}`);
      }
  }
  const all = [...labels.numbers];
  const isEmpty = ([name]) => isEmptyLabel(name);
  return {
    ...found,
    classes: all.length,
    joined: joinedBy(given.numbers),
    empty: byNumber(all.filter(isEmpty)),
    clusters: clustersOf(all.filter((each) => !isEmpty(each))),
    left: byNumber(left.numbers),
  };
}
