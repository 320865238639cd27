// The warnings of the service about what it ranked or taught.

import { html } from "./html.js";
import { deskWords } from "./desk_words.js";
import { count } from "./format.js";
import { Table } from "./parts.js";

const told = (warnings) => warnings.map((each) => deskWords(each.detail)).join(" ");

const MOST_KINDS = 10; // that are counted apart, as by the command line
const OTHERS = "other warnings";

/** Return the warnings of an answer as one text, "" for none. */
export const warningText = (answer) => told(answer?.warnings ?? []);

export function Warnings({ answer }) {
  const text = warningText(answer);
  return text && html`<p class="warning">${text}</p>`;
}

/** Return kinds of warnings, a Map of { rows, first } by their text, and those about rows, [{ line, detail }], added. */
export function withWarnings(kinds, warned) {
  const all = new Map(kinds);
  for (const [line, some] of Map.groupBy(warned, (each) => each.line)) {
    const text = told(some);
    const kind = all.has(text) || all.size < MOST_KINDS ? text : OTHERS;
    const { rows, first } = all.get(kind) ?? { rows: 0, first: line };
    all.set(kind, { rows: rows + 1, first });
  }
  return all;
}

export function WarningTable({ kinds }) {
  return kinds.size > 0 && html`<${Table} label="Warnings" head=${["Warning", "Rows", "First line"]}>${[...kinds].map(([text, { rows, first }]) => html`<tr key=${text}>
    <td>${text}</td><td class="number">${count(rows)}</td><td class="number">${count(first)}</td></tr>`)}<//>`;
}
