// Review: label the ranked instances that would teach most, by the keyboard.

import { html, useCallback, useEffect, useLayoutEffect, useRef, useState } from "../html.js";
import { ask, get, path, withParameters } from "../api.js";
import { keepsHistory, may, useAccess } from "../access.js";
import { CallText } from "../call_text.js";
import { InstanceText } from "../event_item.js";
import { count, percent, seconds } from "../format.js";
import { ClassForm } from "../new_class.js";
import { Field, NeedsScope, Problem, Status, useTask } from "../parts.js";
import { beat, usePulse } from "../pulse.js";
import { warningText } from "../warnings.js";

const LIMIT = 50;
const CHOICES = 5;

function Choices({ waiting, busy, onChoose }) {
  return html`<ol class="bars" aria-label="Ranked classes">${waiting.ranked.slice(0, CHOICES).map((name, index) => html`<li key=${name}>
    <button type="button" disabled=${busy} onClick=${() => onChoose(name)} aria-keyshortcuts=${index + 1}>
      <kbd>${index + 1}</kbd><span class="name">${name}</span></button></li>`)}</ol>`;
}

function Keys({ on, onChange }) {
  return html`<p class="hint"><label class="check"><input type="checkbox" checked=${on} onChange=${(event) => onChange(event.currentTarget.checked)} />
    Keys:</label> <kbd>1</kbd> to <kbd>5</kbd> for a class, <kbd>n</kbd> for another or a new one, <kbd>s</kbd> to skip,
    ${" "}<kbd>u</kbd> to undo the last label.</p>`;
}

/** Teach the class of an instance; by its text or features if the service has dropped it, and they are whole. */
async function teachInstance({ id, text, text_cut, features, omitted_features, source }, label) {
  const event = { classes: [label], source: source ?? "console" };
  try {
    return await ask("POST", "/learn", { body: { id, ...event } });
  } catch (error) {
    if (error.status !== 404 || (text === null ? omitted_features > 0 : text_cut)) throw error;
    return ask("POST", "/learn", { body: { ...(text === null ? { features } : { text }), ...event } });
  }
}

export default function Review({ query }) {
  useAccess();
  const [source, setSource] = useState(query.source ?? "");
  const [waiting, setWaiting] = useState(null);
  const [skipped, setSkipped] = useState(() => new Set());
  const [done, setDone] = useState([]); // { key, label, instance }, the newest last
  const [returned, setReturned] = useState([]); // instances whose label was taken back
  const [said, setSaid] = useState("");
  const [keys, setKeys] = useState(true);
  const field = useRef();
  const task = useTask();
  const reading = useTask(); // apart from task: an event taught elsewhere reads the list again, and keys go on
  const { seq } = usePulse();
  const call = { method: "GET", path: withParameters("/review", { limit: LIMIT, source: source.trim() }) };
  useEffect(() => {
    if (!may("learn")) return undefined;
    const abort = new AbortController();
    reading.run(async () => setWaiting((await get(call.path, { signal: abort.signal })).instances));
    return () => abort.abort();
  }, [seq, call.path]);
  const isOfSource = (each) => !source.trim() || each.source === source.trim();
  const known = new Set([...returned, ...done.map((each) => each.instance)].map((each) => each.id));
  const left = [...returned.filter(isOfSource), ...(waiting ?? []).filter((each) => !known.has(each.id))].filter((each) => !skipped.has(each.id));
  const current = left[0];

  const teach = useCallback((label) => task.run(async () => {
    const answer = await teachInstance(current, label);
    setDone((before) => [...before, { key: `seq:${answer.seq}`, label, instance: current }]);
    setReturned((before) => before.filter((each) => each.id !== current.id));
    setSaid(`Taught as ${label} (event ${answer.seq}). ${warningText(answer)}`);
    document.activeElement?.blur();
    beat();
    return true;
  }), [current?.id]);
  const skip = () => {
    if (!current) return;
    setSkipped(new Set([...skipped, current.id]));
    setSaid("Skipped.");
  };
  const undo = () => {
    const last = done.at(-1);
    if (task.busy) return undefined;
    if (!last) return setSaid("There is nothing to undo.");
    if (!keepsHistory()) return setSaid("No undo here: this store keeps no history of events (404).");
    if (!may("admin")) return setSaid("To undo a label, a key of the scope admin is needed.");
    return task.run(async () => {
      await ask("DELETE", path("events", last.key));
      setDone(done.slice(0, -1));
      setReturned([last.instance, ...returned]);
      setSaid(`${last.label} is taken back: event ${last.key.slice(4)} is deleted. Its part in the weights stays until the next rebuild.`);
      beat();
    });
  };
  useLayoutEffect(() => { // a key pressed as soon as an instance is shown is for this instance
    const press = (event) => {
      if (!keys || event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input:not([type=checkbox]), textarea, select, dialog")) return;
      const choice = current?.ranked[Number(event.key) - 1];
      if (choice && Number(event.key) <= CHOICES) {
        if (!task.busy) teach(choice);
      } else if (event.key === "n" && current) {
        event.preventDefault();
        field.current?.focus();
      } else if (event.key === "s") skip();
      else if (event.key === "u") undo();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
  if (!may("learn")) return html`<h1>Review</h1><${NeedsScope} scope="learn" to="label instances" />`;
  return html`<h1>Review</h1>
    <p>Ranked instances that wait for a label, least certain first. ${left.length > 0 && html`<strong>${count(left.length)}${waiting.length === LIMIT ? " or more" : ""}</strong> wait.`}</p>
    <${Keys} on=${keys} onChange=${setKeys} />
    <${Field} label="Source" hint="Show only messages of this source; empty: all.">
      <input type="search" value=${source} maxlength="1000" onInput=${(event) => setSource(event.currentTarget.value)} /><//>
    <${Status}>${said && html`<p>${said}</p>`}<//>
    <${Problem} error=${task.error ?? reading.error} />
    ${current
      ? html`<section class="card" aria-label="The message to label" data-id=${current.id}>
          <p class="hint">ranked ${seconds(current.age)} ago,
            ${current.confidence === null ? " without a confidence" : ` confidence ${percent(current.confidence)}`}${current.abstained ? ", abstained" : ""}
            ${current.source && html`, from <button type="button" class="quiet" onClick=${() => setSource(current.source)}>${current.source}</button>`}</p>
          <${InstanceText} text=${current.text} isCut=${current.text_cut} features=${current.features} />
          ${current.text === null && current.omitted_features > 0 && html`<p class="hint">and ${count(current.omitted_features)} more features</p>`}
          <${Choices} waiting=${current} busy=${task.busy} onChoose=${teach} />
          <${ClassForm} key=${current.id} label="Another class (n)" inputRef=${field} disabled=${task.busy} onTeach=${teach}>
            <button type="button" onClick=${skip}>Skip (s)</button>
            <button type="button" onClick=${undo} disabled=${!done.length}>Undo (u)</button>
          <//>
          <${CallText} call=${{ method: "POST", path: "/learn", body: { id: current.id, classes: [current.ranked[0] ?? "a class"], source: current.source ?? "console" } }} />
        </section>`
      : waiting && html`<p class="nothing">Nothing waits for a label. Rank something, here under Try or by POST /rank: it waits for an hour
          unless it is set otherwise.</p>
          ${done.length > 0 && html`<button type="button" onClick=${undo}>Undo (u)</button>`}
          ${skipped.size > 0 && html`<button type="button" onClick=${() => setSkipped(new Set())}>Show the skipped ones again</button>`}`}
    <${CallText} call=${call} title="This list as curl and Python" />
  `;
}
