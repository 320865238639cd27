// Messages: find what was taught, correct, erase and export it, one or many at once.

import { html, useEffect, useRef, useState } from "../html.js";
import { ask, get, path, save, withParameters } from "../api.js";
import { keepsHistory, may, useAccess } from "../access.js";
import { CallText } from "../call_text.js";
import { ClassField } from "../class_field.js";
import { eventCsv } from "../event_csv.js";
import { EventItem } from "../event_item.js";
import { count, isolated, plural } from "../format.js";
import { useNewClass } from "../new_class.js";
import { NoHistory } from "../no_history.js";
import { sayAmended } from "../notice.js";
import { Action, Dialog, Field, NeedsScope, Problem, Status, useAgain, useTask } from "../parts.js";
import { OriginCounts, isNothing, useOriginCounts } from "../origin_counts.js";
import { beat, usePulse } from "../pulse.js";
import { WhenErased } from "../when_erased.js";

const PAGE = 20;
const EXPORT_PAGE = 1000;

const ORIGINS = { source: "Source", reviewer: "Reviewer", batch: "File or import" };
const EMPTY = { id: "", text: "", source: "", reviewer: "", batch: "", of: "", since: "", until: "", wrong: false, oldest: false };

const parametersOf = ({ text, source, reviewer, batch, of, since, until, wrong, oldest }) => (
  { text, class: of, source, reviewer, batch, since, until, wrong: wrong && "true", order: oldest && "oldest" });

/** An event as /learn and `manyclass train` read it. */
function line({ text, features, vector, classes, not, weight, parents, source, reviewer, batch, event_id }) {
  const event = text === null ? { features } : { text };
  if (vector) event.vector = vector;
  if (classes.length) event.classes = classes;
  if (not.length) event.not = not;
  if (weight !== 1) event.weight = weight;
  if (Object.keys(parents).length) event.parents = parents;
  Object.assign(event, source && { source }, reviewer && { reviewer }, batch && { batch });
  if (event_id) event.event_id = event_id;
  return `${JSON.stringify(event)}\n`;
}

/** Return all events of a filter, oldest first, each as `made` makes it; on request with their vectors. */
async function exported(filter, made, report, vectors) {
  const all = [];
  let after;
  do {
    const url = withParameters("/events", { ...parametersOf({ ...filter, oldest: true }), vectors, limit: EXPORT_PAGE, after });
    const page = await get(url);
    all.push(...page.events.map(made));
    report(all.length);
    after = page.next;
  } while (after !== null);
  return all;
}

/** Erase all messages of a source, a reviewer or an import. */
function EraseOrigin({ kind, name, onClose, onDone }) {
  const call = { method: "DELETE", path: withParameters("/events", { [kind]: name }) };
  const counts = useOriginCounts({ [kind]: name });
  const isEmpty = isNothing(counts);
  const confirm = async () => {
    let erased = 0;
    let answer;
    do {
      answer = await ask(call.method, call.path);
      erased += answer.deleted;
    } while (answer.more);
    await beat();
    onDone(`${plural(erased, "message")} of ${isolated(name)} erased${counts.waiting ? `, and ${count(counts.waiting)} that waited for review` : ""}.`, erased !== 1);
  };
  return html`<${Dialog} title=${`Erase all messages of this ${ORIGINS[kind].toLowerCase()}`} confirm=${!isEmpty && "Erase all"} kind="danger" needs="admin"
    disabled=${!counts} call=${call} onConfirm=${confirm} onClose=${onClose}>
    ${isEmpty ? html`<p role="status">There is no message of <strong>${name}</strong>.</p>` : html`<${OriginCounts} counts=${counts} />
      <p>All messages of <strong>${name}</strong>, not only those in view, are hidden at once${kind !== "reviewer" && ", and leave Review"}. <${WhenErased} /></p>`}
    ${counts?.spellings.length > 0 && html`<p class="warning">The same name in another spelling, which is not erased with it:
      ${counts.spellings.map((each, at) => html`${at ? ", " : " "}<a href=${`#/events?${kind}=${encodeURIComponent(each)}`} onClick=${onClose}>${each}</a>`)}.</p>`}
  <//>`;
}

/** Call a function for each key in order; raise an error that says how many were done before it. */
async function inTurn(keys, act) {
  for (const [at, key] of keys.entries()) {
    try {
      await act(key);
    } catch (error) {
      if (error.status !== 404) throw new Error(`${error.message} ${plural(at, "message")} of ${count(keys.length)} done.`); // 404: gone meanwhile
    }
  }
  await beat();
}

function EraseSelected({ keys, onClose, onDone }) {
  const confirm = async () => {
    await inTurn(keys, (key) => ask("DELETE", path("events", key)));
    onDone(`${plural(keys.length, "message")} erased.`, keys.length !== 1);
  };
  return html`<${Dialog} title=${`Erase ${plural(keys.length, "message")}`} confirm="Erase" kind="danger" needs="admin" call=${{ method: "DELETE", path: path("events", keys[0]) }}
    onConfirm=${confirm} onClose=${onClose}>
    <p>They are hidden at once. <${WhenErased} /></p>
  <//>`;
}

function CorrectSelected({ keys, onClose, onDone }) {
  const [name, setName] = useState("");
  const { mayUse, dismiss, question } = useNewClass((_, instead) => setName(instead));
  const body = { classes: [name.trim()] };
  const confirm = async () => {
    if (!(await mayUse(name.trim()))) return false;
    await inTurn(keys, (key) => ask("PUT", path("events", key), { body }));
    onDone(`${plural(keys.length, "message")} labelled ${isolated(name.trim())}.`, keys.length !== 1);
    return true;
  };
  return html`<${Dialog} title=${`Correct ${plural(keys.length, "message")}`} confirm="Correct" kind=${question ? "" : "primary"} needs="learn" disabled=${!name.trim()}
    call=${{ method: "PUT", path: path("events", keys[0]), body }} onConfirm=${confirm} onClose=${onClose}>
    <${ClassField} label="Their class" value=${name} onInput=${(value) => {
      setName(value);
      dismiss();
    }} />
    ${question}
    <p class="hint">It replaces the present labels of each of them.</p>
  <//>`;
}

/** The events of a filter, loaded again when an event was taught. */
function useEvents(filter) {
  const [{ of, ...found }, setFound] = useState({ events: null, next: null });
  const [search, setSearch] = useState({ of: null, after: null }); // the event up to which nothing was found
  const wanted = useRef(); // the newest filter
  const { seq } = usePulse();
  const task = useTask();
  const key = JSON.stringify(filter);
  const url = withParameters("/events", { ...parametersOf(filter), limit: PAGE });
  /** The next page with events; a page that took long to find may have none. */
  const next = async (after) => {
    for (;;) {
      const page = await get(after === null ? url : `${url}&after=${after}`);
      if (page.events.length || page.next === null || wanted.current !== key) return page;
      after = page.next;
      setSearch({ of: key, after });
    }
  };
  const put = (before, page) => {
    if (wanted.current !== key) return;
    setFound({ events: [...before, ...page.events], next: page.next, of: key });
    setSearch({ of: key, after: null });
  };
  const load = () => task.run(async () => {
    if (filter.id) put([], { events: [await get(path("events", filter.id))], next: null });
    else put([], await next(null));
  });
  const more = () => task.run(async () => put(found.events, await next(found.next)));
  useEffect(() => {
    wanted.current = key;
    setFound({ events: null, next: null });
    return () => {
      wanted.current = null;
    };
  }, [key]);
  const searched = search.of === key ? search.after : null;
  const isLonger = of === key && found.events.length > PAGE; // then it stays as it is
  useEffect(() => {
    if (keepsHistory() && may("learn") && !isLonger && searched === null) load();
  }, [key, seq, useAgain(task.error)]);
  return { ...found, searched, error: task.error, busy: task.busy, load, more, url: filter.id ? path("events", filter.id) : url };
}

/** Buttons for the selected messages, and for all of an origin that was asked for. */
function ManyActions({ events, selected, filter, exporting, onSelect, onExport, onTable, onDialog }) {
  const keys = events.map((each) => each.key);
  const isWhole = keys.length > 0 && keys.every((key) => selected.has(key));
  const origins = Object.keys(ORIGINS).filter((kind) => filter[kind]);
  return html`<div class="actions" aria-label="Actions" role="group">
    <label class="check"><input type="checkbox" checked=${isWhole} disabled=${!keys.length} onChange=${() => onSelect(isWhole ? [] : keys)} />
      ${selected.size ? `${count(selected.size)} selected` : "Select all shown"}</label>
    ${selected.size > 0 && html`<${Action} needs="learn" onClick=${() => onDialog({ kind: "correct" })}>Correct the selected<//>
      <${Action} needs="admin" onClick=${() => onDialog({ kind: "erase" })}>Erase the selected<//>`}
    ${origins.map((kind) => html`<${Action} key=${kind} needs="admin" onClick=${() => onDialog({ kind })}>${kind === "reviewer" ? `Erase all messages that ${isolated(filter[kind])} labelled` : `Erase all of ${isolated(filter[kind])}`}<//>`)}
    <${Action} needs="learn" busy=${exporting} disabled=${Boolean(filter.id)} onClick=${onExport}>Export as JSON lines<//>
    <${Action} needs="learn" busy=${exporting} disabled=${Boolean(filter.id)} onClick=${onTable}>Export as CSV<//>
  </div>`;
}

export default function Events({ query }) {
  useAccess();
  const { class: of, wrong, ...given } = query;
  const fromAddress = { ...EMPTY, ...given, of: of ?? "", wrong: wrong === "true" };
  const [form, setForm] = useState(fromAddress);
  const [filter, setFilter] = useState(fromAddress);
  const [dialog, setDialog] = useState(null);
  const [selected, setSelected] = useState(() => new Set());
  const [said, setSaid] = useState("");
  const exporting = useTask();
  const found = useEvents(filter);
  const events = found.events ?? [];
  useEffect(() => {
    setForm(fromAddress);
    setFilter(fromAddress);
  }, [JSON.stringify(query)]);
  useEffect(() => setSelected(new Set()), [JSON.stringify(filter)]);
  const put = (name) => (event) => setForm({ ...form, [name]: event.currentTarget.value });
  const tick = (name) => (event) => setForm({ ...form, [name]: event.currentTarget.checked });
  const search = (event) => {
    event.preventDefault();
    setFilter(Object.fromEntries(Object.entries(form).map(([name, value]) => [name, value.trim?.() ?? value])));
  };
  const showDone = (done) => setSaid(`${plural(done, "message")} …`);
  const exportLines = () => exporting.run(async () => {
    const lines = await exported(filter, line, showDone, true);
    save("messages.jsonl", new Blob(lines), "application/x-ndjson");
    setSaid(`${plural(lines.length, "message")} saved in messages.jsonl.`);
  });
  const exportTable = () => exporting.run(async () => {
    const all = await exported(filter, (event) => event, showDone);
    const { parts, joint } = eventCsv(all);
    save("messages.csv", new Blob(parts), "text/csv");
    setSaid(`${plural(all.length, "message")} saved in messages.csv${all.some((each) => each.classes.length > 1) ? `, several classes with ${joint} between them` : ""}.`);
  });
  const select = (key) => {
    const next = new Set(selected);
    if (!next.delete(key)) next.add(key);
    setSelected(next);
  };
  const close = () => setDialog(null);
  const done = (what, many) => {
    sayAmended(what, many);
    setSelected(new Set());
    found.load();
  };
  const keys = [...selected];
  if (!may("learn")) return html`<h1>Messages</h1><${NeedsScope} scope="learn" to="see what was taught" />`;
  if (!keepsHistory()) return html`<h1>Messages</h1><${NoHistory} needed="So this page has nothing to list, correct or erase." />`;
  return html`
    <h1>Messages</h1>
    <form onSubmit=${search} role="search">
      <div class="row">
        <${Field} label="Words"><input type="search" value=${form.text} placeholder="words or parts of words" onInput=${put("text")} /><//>
        <${ClassField} value=${form.of} onInput=${(name) => setForm({ ...form, of: name })} />
        <button class="primary">Find</button>
      </div>
      <details open=${Object.keys(ORIGINS).some((kind) => query[kind]) || Boolean(query.id)}><summary>More ways to find</summary>
        <div class="row">
          <${Field} label="Id"><input type="text" value=${form.id} placeholder="id of a message" onInput=${put("id")} /><//>
          ${Object.entries(ORIGINS).map(([kind, label]) => html`<${Field} key=${kind} label=${label}><input type="text" value=${form[kind]} onInput=${put(kind)} /><//>`)}
        </div>
        <div class="row">
          <${Field} label="From"><input type="date" value=${form.since} onInput=${put("since")} /><//>
          <${Field} label="To"><input type="date" value=${form.until} onInput=${put("until")} /><//>
          <label class="check"><input type="checkbox" checked=${form.wrong} onChange=${tick("wrong")} /> only those with a wrong first suggestion</label>
          <label class="check"><input type="checkbox" checked=${form.oldest} onChange=${tick("oldest")} /> oldest first</label>
        </div>
      </details>
    </form>
    <${ManyActions} events=${events} selected=${selected} filter=${filter} exporting=${exporting.busy} onSelect=${(all) => setSelected(new Set(all))}
      onExport=${exportLines} onTable=${exportTable} onDialog=${setDialog} />
    <${Status}>${said && html`<p>${said}</p>`}<//>
    <${Problem} error=${found.error ?? exporting.error} />
    ${found.searched !== null && html`<p class="hint">Nothing found back to message ${count(found.searched)}. Searching on …</p>`}
    ${found.events?.length === 0 && html`<p class="nothing">${JSON.stringify(filter) === JSON.stringify(EMPTY)
      ? html`Nothing was taught yet. <a href="#/import">Import a file</a> or teach a message under <a href="#/try">Try</a>.` : "No message matches. Try fewer words, or leave a field empty."}</p>`}
    <ul class="list" aria-label="Messages">${events.map((event) => html`<${EventItem} key=${event.key} event=${event} onChanged=${found.load}
      isSelected=${selected.has(event.key)} onSelect=${() => select(event.key)} />`)}</ul>
    ${found.next !== null && html`<button type="button" onClick=${found.more} disabled=${found.busy}>More</button>`}
    <${CallText} call=${{ method: "GET", path: found.url }} />
    ${dialog?.kind === "erase" && html`<${EraseSelected} keys=${keys} onClose=${close} onDone=${done} />`}
    ${dialog?.kind === "correct" && html`<${CorrectSelected} keys=${keys} onClose=${close} onDone=${done} />`}
    ${dialog && ORIGINS[dialog.kind] && html`<${EraseOrigin} kind=${dialog.kind} name=${filter[dialog.kind]} onClose=${close} onDone=${done} />`}
  `;
}
