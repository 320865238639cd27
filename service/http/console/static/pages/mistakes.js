// Mistakes: confused classes, recall and precision of each class, and likely label errors.

import { html, useEffect, useRef, useState } from "../html.js";
import { get, pause, withParameters } from "../api.js";
import { keepsHistory, may, useAccess } from "../access.js";
import { CallText } from "../call_text.js";
import { ClassPair } from "../class_pair.js";
import { EventItem } from "../event_item.js";
import { count, percent, plural } from "../format.js";
import { NoHistory } from "../no_history.js";
import { Action, NeedsScope, Problem, Table, useFirst, useTask } from "../parts.js";
import { usePulse } from "../pulse.js";
import { RenameClass } from "../rename_class.js";
import { classAddress } from "../weight_list.js";

const EVENTS = 10_000; // the newest, which are counted
const CONFUSIONS = withParameters("/confusions", { last: EVENTS, limit: 50 });
const SUSPECTS = withParameters("/suspects", { last: EVENTS, limit: 20 });
const ANSWER = "&seconds=0.1"; // the service goes on to count, and is asked again
const EVERY = 1; // seconds
const FOLLOW = 10; // seconds between two counts while events arrive
const FIRST_PAIRS = 10; // shown before the others
const FIRST_CLASSES = 20;
const LIKELY = 0.1; // confidence that a label is wrong, of those shown

function Pairs({ pairs, onChanged }) {
  const [open, setOpen] = useState(null);
  const { shown, more } = useFirst(pairs, FIRST_PAIRS);
  if (!pairs.length) return html`<p class="nothing">No class was ranked instead of another.</p>`;
  return html`<ul class="list" aria-label="Confused classes">${shown.map((pair) => {
    const key = JSON.stringify([pair.ranked_first, pair.true]);
    return html`<li key=${key}>
      <div class="facts"><strong>${plural(pair.count, "time")}</strong></div>
      <div><span class="tag not">${pair.ranked_first}</span> was ranked first instead of <span class="tag">${pair.true}</span></div>
      <div class="actions"><button type="button" aria-expanded=${open === key}
        aria-label=${`Compare ${pair.ranked_first} and ${pair.true}`} onClick=${() => setOpen(open === key ? null : key)}>Compare</button></div>
      ${open === key && html`<${ClassPair} pair=${pair} onChanged=${onChanged} />`}
    </li>`;
  })}</ul>${more}`;
}

function Classes({ classes, onChanged }) {
  const [renamed, setRenamed] = useState(null);
  const { shown, more } = useFirst(classes, FIRST_CLASSES);
  return html`<${Table} label="Classes by their errors" head=${["Class", "Events", "Recall", "Precision", "Action"]}>
    ${shown.map((each) => html`<tr key=${each.class}><td><a href=${classAddress(each.class)}>${each.class}</a></td>
      <td class="number">${count(each.events)}</td><td class="number">${percent(each.recall)}</td><td class="number">${percent(each.precision)}</td>
      <td><${Action} kind="quiet" needs="admin" aria-label=${`Rename ${each.class}`} onClick=${() => setRenamed(each.class)}>Rename<//></td></tr>`)}
  <//>
  ${more}
  ${renamed && html`<${RenameClass} name=${renamed} onClose=${() => setRenamed(null)} onDone=${onChanged} />`}`;
}

function Suspects({ suspects, onChanged }) {
  const likely = suspects.filter((each) => each.confidence >= LIKELY);
  if (!likely.length) return html`<p class="nothing">None: the model agrees with all labels, or has no confidence yet (it needs 100 outcomes).</p>`;
  return html`<ul class="list" aria-label="Suspects">${likely.map(({ suggested: first, confidence, event }) => html`
    <${EventItem} key=${event.key} event=${event} proposed=${first} onChanged=${onChanged}
      note=${html`<span>the model says <strong>${first}</strong>, with confidence ${percent(confidence)}</span>`} />`)}</ul>`;
}

export default function Mistakes() {
  useAccess();
  const [report, setReport] = useState(null);
  const [suspects, setSuspects] = useState(null);
  const task = useTask();
  const here = useRef(true);
  const { seq } = usePulse();
  const isBehind = useRef(false);
  isBehind.current = !task.busy && report !== null && seq > report.seq;
  const load = () => task.run(async () => {
    for (let complete = false; !complete && here.current; ) {
      const counted = await get(CONFUSIONS + ANSWER);
      setReport(counted);
      setSuspects((await get(SUSPECTS + ANSWER)).suspects);
      complete = counted.complete;
      if (!complete) await pause(EVERY);
    }
  });
  useEffect(() => {
    if (may("learn") && keepsHistory()) load();
    const timer = setInterval(() => isBehind.current && load(), 1000 * FOLLOW);
    return () => {
      here.current = false;
      clearInterval(timer);
    };
  }, []);
  if (!may("learn")) return html`<h1>Mistakes</h1><${NeedsScope} scope="learn" to="see the mistakes" />`;
  if (!keepsHistory()) return html`<h1>Mistakes</h1><${NoHistory} needed="Mistakes are counted from it." />`;
  return html`<h1>Mistakes</h1>
    <p>Over the newest ${report ? plural(report.events, "event") : "events"}${report && ` up to event ${count(report.seq)}`}, as
      ranked before each was learned.
      ${report && html` The right class was first in <strong>${percent(report.r1)}</strong>.`}
      ${" "}<button type="button" class="quiet" onClick=${load} disabled=${task.busy}>${task.busy ? "Counting …" : "Count again"}</button></p>
    <${Problem} error=${task.error} />
    ${report && html`
      <h2>Confused classes</h2><${Pairs} pairs=${report.pairs} onChanged=${load} />
      <${CallText} call=${{ method: "GET", path: CONFUSIONS }} />`}
    ${suspects && html`<h2>Likely label errors</h2><${Suspects} suspects=${suspects} onChanged=${load} />
      <${CallText} call=${{ method: "GET", path: SUSPECTS }} />`}
    ${report && html`<h2>Classes by their errors</h2><${Classes} classes=${report.classes} onChanged=${load} />`}
  `;
}
