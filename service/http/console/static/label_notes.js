// Notes on the rows of a table before they are taught: labels that may be none, spellings of one label, rows left out.

import { html, useEffect, useState } from "./html.js";
import { RowFault } from "./class_cells.js";
import { count, plural } from "./format.js";
import { isEmptyLabel, plainLabel } from "./label_words.js";
import { eventOf, instanceOf, isBlank, textsOf } from "./mapping.js";
import { Problem, useLater } from "./parts.js";
import { rowsOf } from "./rows.js";

const ROWS = 100_000; // that are read before the table is taught
const MOST_LABELS = 100_000; // that are compared
const SHOWN = 5;
const WAIT = 300; // milliseconds after a change of the roles
const PIECE = 1000; // rows, after which the page may draw

const ACTIONS = ["To teach the file", "To rank it to CSV"];
const NOTHING = { rows: 0, empty: [], spellings: [], left: [], rejected: [], damaged: 0, error: null };

const byNumber = (some) => [...some].sort(([, a], [, b]) => b - a);

const counter = () => {
  const numbers = new Map();
  return { numbers, add: (name) => (numbers.has(name) || numbers.size < MOST_LABELS) && numbers.set(name, (numbers.get(name) ?? 0) + 1) };
};

function spellingsOf(labels) {
  const groups = Map.groupBy(labels, ([name]) => plainLabel(name));
  return [...groups.values()].filter((each) => each.length > 1).map(byNumber);
}

async function survey(table, columns, options, signal) {
  const [labels, left] = [counter(), counter()];
  const found = { ...NOTHING, rejected: ACTIONS.map(() => []) };
  const teach = (row) => {
    const { classes, text } = eventOf(row, columns, options);
    for (const name of classes) labels.add(name);
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
        if (fault.left) left.add(fault.left);
        else found.rejected[at].push(`line ${each.line}: ${fault.message}`);
      }
  }
  const isEmpty = ([name]) => isEmptyLabel(name);
  const all = [...labels.numbers];
  return { ...found, empty: byNumber(all.filter(isEmpty)), spellings: spellingsOf(all.filter((each) => !isEmpty(each))), left: byNumber(left.numbers) };
}

const counted = (some) => some.slice(0, SHOWN).map(([name, number], at) => html`${at ? ", " : ""}<bdi>${name}</bdi> (${count(number)})`);

const rejectedRows = ([first, ...others]) => (first ? `${plural(others.length + 1, "row")} will be rejected, the first in ${first}.` : "no row will be rejected.");

const andMore = (some) => some.length > SHOWN && ` and ${count(some.length - SHOWN)} more`;

/** Tell what is found in the rows, and offer to leave out labels such as nan: `onWithout` takes whether to. */
export function LabelNotes({ table, columns, separator, without, onWithout }) {
  const [said, setSaid] = useState(NOTHING);
  const changes = [table, JSON.stringify(columns), separator];
  useEffect(() => setSaid(NOTHING), changes);
  useLater(async (signal) => {
    const found = await survey(table, columns, { separator }, signal).catch((error) => ({ ...NOTHING, error }));
    if (!signal.aborted) setSaid(found);
  }, WAIT, changes);
  const { rows, empty, spellings, left, rejected, damaged, error } = said;
  const of = rows === ROWS && `Of the first ${count(ROWS)} rows: `;
  return html`<${Problem} error=${error} /><div role="status" aria-label="What the rows say">
    ${empty.length > 0 && html`<p class="hint">${of}Labels that may mean none: ${counted(empty)}${andMore(empty)}. Each is taught as a class.
      ${" "}<label class="check"><input type="checkbox" checked=${without} onChange=${(event) => onWithout(event.currentTarget.checked)} /> Leave such labels out</label></p>`}
    ${spellings.length > 0 && html`<p class="hint">${of}Labels that differ in case, accents, blanks or signs only: ${spellings.slice(0, SHOWN).map((each, at) => html`${at ? "; " : ""}${counted(each)}${andMore(each)}`)}${andMore(spellings)}.
      Each spelling is a class of its own: write them alike in the file to teach one class.</p>`}
    ${left.length > 0 && html`<p class="hint">${of}Rows that are left out when the file is taught: ${counted(left)}.</p>`}
    ${rejected.flat().length > 0 && ACTIONS.map((action, at) => html`<p class="hint" key=${at}>${of}${action}: ${rejectedRows(rejected[at])}</p>`)}
    ${damaged > 0 && html`<p class="hint">${of}${plural(damaged, "row")} with the sign \ufffd: another program has lost letters there. Such rows are taught as they are.</p>`}
  </div>`;
}
