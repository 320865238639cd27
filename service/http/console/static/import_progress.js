// The progress of an import and its sum: what was taught or ranked, and the rejected rows.

import { html, useEffect, useRef } from "./html.js";
import { save } from "./api.js";
import { Accuracy } from "./chart.js";
import { count, fixed, percent, plural } from "./format.js";
import { jsonText } from "./json_text.js";
import { pauseText } from "./paused.js";
import { Problem, Table, useTask } from "./parts.js";
import { usePulse } from "./pulse.js";
import { rejectedParts } from "./rows.js";
import { TakeBack } from "./taught_batch.js";
import { CreatedClasses } from "./unknown_classes.js";
import { WarningTable, withWarnings } from "./warnings.js";

const SHOWN = 10;
const DONE = {
  learned: (number) => `learned ${number}`,
  ranked: (number) => `suggested classes for ${number}`,
  "put into Review": (number) => `put ${number} into Review`,
};
const MOST_REJECTED = 100_000; // rows kept to download

export const NOTHING = { lines: 0, accepted: 0, duplicates: 0, rejected: [], created: [], left: new Map(), unlabelled: [], unsure: 0, limits: [], warned: new Map(), refused: 0, points: [], began: 0, now: 0 };

/** A rejected row as a line of JSON: a row of cells as an object, whose keys have the order of the columns. */
function rejectedLine({ line, detail, row }, names) {
  const pairs = Array.isArray(row) ? new Map(row.map((each, at) => [names.indexOf(names[at]) === at ? names[at] : `${names[at]} (column ${at + 1})`, each])) : row;
  return `${jsonText(new Map([["line", line], ["detail", detail], ["row", pairs]]))}\n`;
}

/** The sum of what was reported so far, and one report more. */
export function added(sum, { lines, accepted, duplicates, r1, r5, rejected, left, unlabelled, created, warned, unsure = [], limits = [] }) {
  const all = sum.lines + lines;
  const allLeft = new Map(sum.left);
  for (const each of left) allLeft.set(each, (allLeft.get(each) ?? 0) + 1);
  return {
    ...sum,
    lines: all,
    accepted: sum.accepted + accepted,
    duplicates: sum.duplicates + duplicates,
    created: [...sum.created, ...created],
    unlabelled: [...sum.unlabelled, ...unlabelled],
    unsure: sum.unsure + unsure.length,
    limits: limits.length ? [...new Set([...sum.limits, ...limits])] : sum.limits, // several if the service learned meanwhile
    left: allLeft,
    warned: withWarnings(sum.warned, warned),
    refused: sum.refused + rejected.length,
    rejected: sum.rejected.length < MOST_REJECTED ? [...sum.rejected, ...rejected] : sum.rejected,
    points: r1 === null ? sum.points : [...sum.points, { at: all, r1, r5, of: accepted }],
    now: performance.now(),
  };
}

/** What a run with a wanted share of right answers decided, and by which limit of confidence. */
function Decided({ sum: { accepted, unsure, limits }, target }) {
  const known = limits.filter((each) => each !== null).toSorted((a, b) => a - b);
  const [least, most] = [fixed(known[0]), fixed(known.at(-1))];
  return html`<p role="status"><strong>${count(accepted - unsure)} answered, ${count(unsure)} not sure.</strong>${" "}
    ${known.length ? `Limit of confidence for ${percent(target)} right: ${least === most ? least : `${least} to ${most}, as the service learned meanwhile`}.`
      : limits.length > 0 && html`${percent(target)} right is not reachable yet: <a href="#/quality">Quality</a> says what is. Until more messages are labelled, choose a lower share, or let people decide.`}</p>`;
}

export function Progress({ table, sum, batch, running, onStop, verb, target }) {
  const rate = (1000 * sum.lines) / Math.max(1, sum.now - sum.began);
  const last = sum.points.at(-1);
  const { paused } = usePulse();
  const box = useRef();
  useEffect(() => box.current.scrollIntoView({ block: "start" }), [sum.began]);
  const reading = useTask();
  const download = () => save("rejected.jsonl", sum.rejected.map((each) => rejectedLine(each, table.names)).join(""));
  const saveRows = (name, rows) => reading.run(async () => {
    const inOrder = rows.toSorted((a, b) => a.line - b.line);
    save(name, new Blob(await rejectedParts(table, inOrder)), "text/csv");
  });
  const isTable = !table.isJson;
  return html`<section class="card" aria-label="Progress" ref=${box}>
    ${running && html`<progress aria-label="At work"></progress>`}
    ${running && paused && verb === "learned" && html`<p>${pauseText(paused)} Leave this page open.</p>`}
    <p role="status">${plural(sum.lines, "row")} read${running ? " so far" : ""}: ${DONE[verb](count(sum.accepted))}, skipped
      ${" "}${verb === "learned" && `${plural(sum.duplicates, "duplicate")} and `}${verb === "put into Review" && sum.duplicates > 0 && `${plural(sum.duplicates, "row")} with a label already and `}${plural(sum.refused, "invalid row")}. ${count(Math.round(rate))} a second.
      ${last && html` The right class was first in ${percent(last.r1)} of the last ${count(last.of)}.`}
      ${sum.left.size > 0 && html` Left out: ${[...sum.left].map(([reason, rows], at) => `${at ? ", " : ""}${reason} (${count(rows)})`)}.`}
      ${!running && verb === "put into Review" && html` <a href="#/review">Label them in Review</a>.`}
      ${sum.unlabelled.length > 0 && html` ${plural(sum.unlabelled.length, "row")} without a class ${sum.unlabelled.length === 1 ? "was" : "were"} not taught.`}
      <${CreatedClasses} names=${sum.created} /></p>
    ${!running && verb === "ranked" && target !== null && sum.accepted > 0 && html`<${Decided} sum=${sum} target=${target} />`}
    <${Accuracy} points=${sum.points} />
    <${WarningTable} kinds=${sum.warned} />
    ${sum.refused > 0 && html`<${Table} label="Rejected lines" head=${["Line", "Reason"]}>${sum.rejected.slice(0, SHOWN).map((each) => html`<tr key=${each.line}>
      <td class="number">${each.line}</td><td>${each.detail}</td></tr>`)}<//>
      <div class="actions">
        <button type="button" onClick=${download}>Download the rejected lines with their reasons</button>
        ${isTable && html`<button type="button" disabled=${running || reading.busy} onClick=${() => saveRows("rejected.csv", sum.rejected)}>Download them as CSV, to fix and import again</button>`}
      </div>
      <${Problem} error=${reading.error} />`}
    ${sum.unlabelled.length > 0 && isTable && html`<div class="actions">
      <button type="button" disabled=${running || reading.busy} onClick=${() => saveRows("without-class.csv", sum.unlabelled)}>Download the rows without a class</button></div>`}
    ${!running && verb === "learned" && sum.accepted > 0 && html`<p><a href="#/try">Try</a> a message now, or see on <a href="#/quality">Quality</a> how often the suggestions were right.</p>`}
    ${!running && verb !== "ranked" && sum.accepted > 0 && html`<${TakeBack} batch=${batch} />`}
    ${running && html`<div class="actions"><button type="button" onClick=${onStop}>Stop</button></div>`}
  </section>`;
}
