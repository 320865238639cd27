// Events: find what was taught, correct, erase and export it.

import { html, useEffect, useRef, useState } from "../html.js";
import { ask, get, path, save, withParameters } from "../api.js";
import { keepsHistory, may, useAccess } from "../access.js";
import { CallText } from "../call_text.js";
import { ClassField } from "../class_field.js";
import { EventItem } from "../event_item.js";
import { count, plural } from "../format.js";
import { NoHistory } from "../no_history.js";
import { Action, Dialog, Field, NeedsScope, Problem, Status, useTask } from "../parts.js";
import { beat, usePulse } from "../pulse.js";

const PAGE = 20;
const EXPORT_PAGE = 1000;

const parametersOf = ({ source, of, wrong, oldest }) => ({ class: of, source, wrong: wrong && "true", order: oldest && "oldest" });

/** An event as /learn and `manyclass train` read it. */
function line({ text, features, classes, not, weight, parents, source, event_id }) {
  const event = text === null ? { features } : { text };
  if (classes.length) event.classes = classes;
  if (not.length) event.not = not;
  if (weight !== 1) event.weight = weight;
  if (Object.keys(parents).length) event.parents = parents;
  if (source) event.source = source;
  if (event_id) event.event_id = event_id;
  return `${JSON.stringify(event)}\n`;
}

async function exported(filter, report) {
  const parts = [];
  let after;
  do {
    const url = withParameters("/events", { ...parametersOf({ ...filter, oldest: true }), limit: EXPORT_PAGE, after });
    const page = await get(url);
    parts.push(...page.events.map(line));
    report(parts.length);
    after = page.next;
  } while (after !== null);
  save("events.jsonl", new Blob(parts), "application/x-ndjson");
  return parts.length;
}

function EraseSource({ source, onClose, onDone }) {
  const call = { method: "DELETE", path: withParameters("/events", { source }) };
  const confirm = async () => {
    let erased = 0;
    let answer;
    do {
      answer = await ask(call.method, call.path);
      erased += answer.deleted;
    } while (answer.more);
    await beat();
    onDone(erased);
  };
  return html`<${Dialog} title="Erase all messages of a source" confirm="Erase all" kind="danger" needs="admin" call=${call} onConfirm=${confirm} onClose=${onClose}>
    <p>All messages of <strong>${source}</strong>, not only those in view, are hidden at once. A rebuild (Operate) removes
      their influence and their data from the disk for good.</p>
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
  }, [key, seq]);
  return { ...found, searched, error: task.error, busy: task.busy, load, more, url: filter.id ? path("events", filter.id) : url };
}

export default function Events({ query }) {
  useAccess();
  const fromAddress = { id: query.id ?? "", source: query.source ?? "", of: query.class ?? "", wrong: query.wrong === "true", oldest: false };
  const [form, setForm] = useState(fromAddress);
  const [filter, setFilter] = useState(fromAddress);
  const [erasing, setErasing] = useState(false);
  const [said, setSaid] = useState("");
  const exporting = useTask();
  const found = useEvents(filter);
  useEffect(() => {
    setForm(fromAddress);
    setFilter(fromAddress);
  }, [JSON.stringify(query)]);
  const put = (name) => (event) => setForm({ ...form, [name]: event.currentTarget.value });
  const tick = (name) => (event) => setForm({ ...form, [name]: event.currentTarget.checked });
  const search = (event) => {
    event.preventDefault();
    setFilter({ ...form, id: form.id.trim(), source: form.source.trim(), of: form.of.trim() });
  };
  const exportAll = () => exporting.run(async () => {
    const lines = await exported(filter, (done) => setSaid(`${plural(done, "message")} …`));
    setSaid(`${plural(lines, "message")} in events.jsonl.`);
  });
  if (!may("learn")) return html`<h1>Messages</h1><${NeedsScope} scope="learn" to="see what was taught" />`;
  if (!keepsHistory()) return html`<h1>Messages</h1><${NoHistory} needed="So this page has nothing to list, correct or erase." />`;
  return html`
    <h1>Messages</h1>
    <form class="row" onSubmit=${search} role="search">
      <${Field} label="Id"><input type="text" value=${form.id} placeholder="event_id, id or seq:42" onInput=${put("id")} /><//>
      <${Field} label="Source"><input type="text" value=${form.source} onInput=${put("source")} /><//>
      <${ClassField} value=${form.of} onInput=${(of) => setForm({ ...form, of })} />
      <label class="check"><input type="checkbox" checked=${form.wrong} onChange=${tick("wrong")} /> only those with a wrong first suggestion</label>
      <label class="check"><input type="checkbox" checked=${form.oldest} onChange=${tick("oldest")} /> oldest first</label>
      <button class="primary">Find</button>
    </form>
    <div class="actions">
      <${Action} needs="learn" busy=${exporting.busy} disabled=${Boolean(filter.id)} onClick=${exportAll}>Export as JSON lines<//>
      ${filter.source && html`<${Action} needs="admin" onClick=${() => setErasing(true)}>Erase all of ${filter.source}<//>`}
    </div>
    <${Status}>${said && html`<p>${said}</p>`}<//>
    <${Problem} error=${found.error ?? exporting.error} />
    ${found.searched !== null && html`<p class="hint">Nothing found back to message ${count(found.searched)}. Searching on …</p>`}
    ${found.events?.length === 0 && html`<p class="nothing">No message matches.</p>`}
    <ul class="list" aria-label="Messages">${found.events?.map((event) => html`<${EventItem} key=${event.key} event=${event} onChanged=${found.load} />`)}</ul>
    ${found.next !== null && html`<button type="button" onClick=${found.more} disabled=${found.busy}>More</button>`}
    <${CallText} call=${{ method: "GET", path: found.url }} />
    ${erasing && html`<${EraseSource} source=${filter.source} onClose=${() => setErasing(false)}
      onDone=${(erased) => {
        setSaid(`${plural(erased, "message")} erased.`);
        found.load();
      }} />`}
  `;
}
