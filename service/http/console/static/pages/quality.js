// Quality: accuracy over time, by class, source and week; label errors; other learners.

import { html, useEffect, useRef, useState } from "../html.js";
import { amendments, get, pause, withParameters } from "../api.js";
import { keepsHistory, may, readStats, useAccess } from "../access.js";
import { Advice } from "../advice.js";
import { CallText } from "../call_text.js";
import { Lines } from "../chart.js";
import { ClassQuality } from "../class_quality.js";
import { ConfusedPairs } from "../confused_pairs.js";
import { Drift } from "../drift.js";
import { EventItem } from "../event_item.js";
import { count, percent, plural, time } from "../format.js";
import { NoHistory } from "../no_history.js";
import { OperatingPoints, operatingPoints } from "../operating_points.js";
import { Facts, NeedsScope, Problem, Table, useAgain, useFirst, useTask } from "../parts.js";
import { usePulse } from "../pulse.js";
import { ClassName } from "../titles.js";
import { classAddress } from "../weight_list.js";
import { WaitingCounts } from "../when_erased.js";

const EVENTS = 10_000; // the newest, which are counted
const QUALITY = withParameters("/quality", { last: EVENTS });
const CONFUSIONS = withParameters("/confusions", { last: EVENTS, limit: 50 });
const SUSPECTS = withParameters("/suspects", { last: EVENTS, limit: 20 });
const ANSWER = "&seconds=0.1"; // the service goes on to count, and is asked again
const EVERY = 1; // seconds
const FOLLOW = 10; // seconds between two counts while events arrive
const LIKELY = 0.1; // confidence that a label is wrong, of those shown
const LEAST_CURVE = 2;
const FIRST_GROUPS = 10; // shown before the others

let counted = 0; // of the amendments of this tab, those that are in the newest count

function Suspects({ suspects, onChanged }) {
  const likely = suspects.filter((each) => each.confidence >= LIKELY);
  if (!likely.length) return html`<p class="nothing">None: the service agrees with all labels, or has no confidence yet (it needs 100 labelled messages).</p>`;
  return html`<ul class="list dense" aria-label="Suspects">${likely.map(({ suggested: first, confidence, event }) => html`
    <${EventItem} key=${event.key} event=${event} proposed=${first} onChanged=${onChanged}
      note=${html`<span>the service suggests <strong>${first}</strong>, with a confidence of ${percent(confidence)}</span>`} />`)}</ul>`;
}

function Curve({ points }) {
  if (points.length < LEAST_CURVE) return html`<p class="nothing">The curve begins with 200 labelled messages.</p>`;
  const at = new Map(points.map((each) => [each.seq, each.time]));
  const series = [["first suggestion right", "r1"], ["among the first five", "r5"]].map(([name, key]) => ({ name, points: points.map((each) => [each.seq, each[key]]) }));
  return html`<${Lines} label="Accuracy along the history, before each message was learned" yTo=${1} yText=${percent} series=${series}
    xText=${(seq) => (at.get(seq) ? time(at.get(seq)) : `change ${count(seq)}`)} />`;
}

/** Rows of a group of messages each: a name, its number of messages, and a bar of its accuracy. */
function Groups({ label, head, rows }) {
  const { shown, more } = useFirst(rows, FIRST_GROUPS);
  return html`<${Table} label=${label} kind="dense" head=${[head, "Messages", "First suggestion right", "Among the first five"]}>${shown.map((each) => html`<tr key=${each.key}><td>${each.name}</td>
    <td class="number">${count(each.events)}</td><td class="number"><span class="meter" style=${`--share: ${each.r1 ?? 0}`}>${percent(each.r1)}</span></td>
    <td class="number">${percent(each.r5)}</td></tr>`)}<//>${more}`;
}

/** A section of the page, to which a button at the top leads. */
const Section = ({ name, children }) => html`<section aria-label=${name} data-section=${name} tabindex="-1"><h2>${name}</h2>${children}</section>`;

function Contents({ names }) {
  const go = (name) => {
    const section = document.querySelector(`[data-section="${name}"]`);
    section?.scrollIntoView();
    section?.focus({ preventScroll: true });
  };
  return html`<div class="actions" role="group" aria-label="Sections">${names.map((name) => html`<button type="button" class="quiet" key=${name} onClick=${() => go(name)}>${name}</button>`)}</div>`;
}

export default function Quality() {
  const { stats } = useAccess();
  const [report, setReport] = useState(null);
  const [pairs, setPairs] = useState(null);
  const [suspects, setSuspects] = useState(null);
  const [points, setPoints] = useState(null);
  const task = useTask();
  const here = useRef(true);
  const { seq } = usePulse();
  const isBehind = useRef(false);
  isBehind.current = !task.busy && report !== null && seq > report.seq;
  /** Count; a count of a moment ago is good enough, unless `anew` is wanted or this tab has amended something since. */
  const load = (anew = false) => task.run(async () => {
    const now = amendments();
    let answer = anew || counted !== now ? "" : ANSWER;
    for (let complete = false; !complete && here.current; answer = ANSWER) {
      const [found, newest] = await Promise.all([get(QUALITY + answer), operatingPoints(), readStats()]); // of one moment, as far as possible
      setReport(found);
      setPoints(newest);
      setPairs((await get(CONFUSIONS + ANSWER)).pairs);
      setSuspects((await get(SUSPECTS + ANSWER)).suspects);
      complete = found.complete;
      if (complete) counted = now;
      else await pause(EVERY);
    }
  });
  const again = useAgain(task.error);
  useEffect(() => {
    if (may("learn") && keepsHistory()) load();
  }, [again]);
  useEffect(() => {
    const timer = setInterval(() => isBehind.current && load(), 1000 * FOLLOW);
    return () => {
      here.current = false;
      clearInterval(timer);
    };
  }, []);
  // Erased messages leave the count at once, and the points with a rebuild.
  const isOneMoment = report?.complete && points?.seq === report.seq && !stats.history?.erasures;
  if (!may("learn")) return html`<h1>Quality</h1><${NeedsScope} scope="learn" to="see the quality" />`;
  if (!keepsHistory()) return html`<h1>Quality</h1><${NoHistory} needed="The quality is counted from it." />`;
  return html`<h1>Quality</h1>
    <${Problem} error=${task.error} />
    ${report && !report.complete && !report.all.events && html`<p class="hint">Counting the newest messages …</p>`}
    ${report && report.complete && !report.all.events && html`<p class="nothing">No labelled message yet. <a href="#/import">Import</a> a file with labels, or label some on <a href="#/review">Review</a>;
      this page then shows how good the suggestions were.</p>`}
    ${report && report.all.events > 0 && html`
      <p>Over the newest ${plural(report.all.events, "message")}, as suggested before each was learned.
        ${" "}<button type="button" class="quiet" onClick=${() => load(true)} disabled=${task.busy}>${task.busy ? "Counting …" : "Count again"}</button></p>
      <${Facts} of=${[
        ["First suggestion right", percent(report.all.r1, 1)],
        ["Among the first five", percent(report.all.r5, 1)],
        ["Messages", count(report.all.events)],
        ["Classes, of all", `${count(report.seen_classes)} of ${count(report.classes)}`],
      ]} />
      ${report.complete && html`<${Curve} points=${report.curve} />`}
      <${CallText} call=${{ method: "GET", path: QUALITY }} />
      <${Contents} names=${[points && "Right automatically", "Classes", report.parents.length && "Branches of the taxonomy", report.sources.length > 1 && "Sources", "Weeks", "Likely label errors", "Confused classes", "What would help"].filter(Boolean)} />
      ${points && html`<${Section} name="Right automatically"><${WaitingCounts} /><${OperatingPoints} found=${points} events=${isOneMoment ? report.all.events : null} /><//>`}
      <${Section} name="Classes">
        <${ClassQuality} last=${EVENTS} seq=${report.complete ? report.seq : 0} hasTrend=${report.class_mix !== null} onChanged=${() => load(true)} /><//>
      ${report.parents.length > 0 && html`<${Section} name="Branches of the taxonomy">
        <${Groups} label="Accuracy by branch" head="Above the class" rows=${report.parents.map((each) => ({
          ...each, key: each.parent ?? "", name: each.parent === null ? html`<em>top</em>` : html`<a href=${classAddress(each.parent)}><${ClassName} name=${each.parent} /></a>`,
        }))} /><//>`}
      ${report.sources.length > 1 && html`<${Section} name="Sources">
        <${Groups} label="Accuracy by source" head="Source" rows=${report.sources.map((each) => ({
          ...each, key: each.source ?? "", name: each.source === null ? html`<em>none</em>` : html`<a href=${`#/events?source=${encodeURIComponent(each.source)}`}>${each.source}</a>`,
        }))} /><//>`}
      <${Section} name="Weeks"><${Drift} report=${report} /><//>
      ${suspects && html`<${Section} name="Likely label errors"><${Suspects} suspects=${suspects} onChanged=${() => load(true)} />
        <${CallText} call=${{ method: "GET", path: SUSPECTS }} /><//>`}
      ${pairs && html`<${Section} name="Confused classes"><${ConfusedPairs} pairs=${pairs} onChanged=${() => load(true)} />
        <${CallText} call=${{ method: "GET", path: CONFUSIONS }} /><//>`}
      <${Section} name="What would help"><${Advice} /><//>`}
  `;
}
