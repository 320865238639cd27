// Classes and features: find one, see its weights and examples, rename, merge and forget.

import { html, useEffect, useState } from "../html.js";
import { ask, get, path, withParameters } from "../api.js";
import { keepsHistory, may, useAccess } from "../access.js";
import { CallText } from "../call_text.js";
import { EventItem } from "../event_item.js";
import { count, fixed, plural } from "../format.js";
import { Action, Dialog, Field, Problem, Status, Table, useTask } from "../parts.js";
import { beat, usePulse } from "../pulse.js";
import { RenameClass } from "../rename_class.js";
import { WeightList, classAddress, featureAddress } from "../weight_list.js";

const PAGE = 50;
const SHOWN = 30; // edges and features of one name
const EXAMPLES = 5;

/** Classes whose name begins with a prefix, page by page. */
function ClassList() {
  const [prefix, setPrefix] = useState("");
  const [found, setFound] = useState({ classes: [], next: null });
  const task = useTask();
  const { seq } = usePulse();
  const url = withParameters("/classes", { prefix, limit: PAGE });
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(() => task.run(async () => setFound(await get(url, { signal: abort.signal }))), 120);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [url, seq]);
  const more = () => task.run(async () => {
    const page = await get(withParameters("/classes", { prefix, limit: PAGE, after: found.next }));
    setFound({ classes: [...found.classes, ...page.classes], next: page.next });
  });
  return html`<section aria-labelledby="classes"><h2 id="classes">Classes</h2>
    <${Field} label="Name begins with"><input type="search" value=${prefix} onInput=${(event) => setPrefix(event.currentTarget.value)} /><//>
    <${Problem} error=${task.error} />
    ${found.classes.length
      ? html`<${Table} label="Classes" head=${["Class", "Events"]}>${found.classes.map((each) => html`<tr key=${each.class}>
          <td><a href=${classAddress(each.class)}>${each.class}</a></td><td class="number">${count(each.learned)}</td></tr>`)}<//>`
      : html`<p class="nothing">${task.busy ? "…" : "No such class."}</p>`}
    ${found.next !== null && html`<button type="button" onClick=${more} disabled=${task.busy}>More</button>`}
    <${CallText} call=${{ method: "GET", path: url }} />
  </section>`;
}

function FeatureSearch() {
  const [name, setName] = useState("");
  const open = (event) => {
    event.preventDefault();
    if (name) location.hash = featureAddress(name);
  };
  return html`<section aria-labelledby="features"><h2 id="features">Features</h2>
    <form class="row" onSubmit=${open}>
      <${Field} label="Whole name" hint="A word of a text, in lower case, or two neighbouring words; or any feature you named yourself.">
        <input type="text" value=${name} onInput=${(event) => setName(event.currentTarget.value)} /><//>
      <button class="primary" disabled=${!name}>Show</button>
    </form></section>`;
}

/** Ask before a name is forgotten, and say what goes with it. */
function Forget({ noun, name, takes, onClose }) {
  const call = { method: "DELETE", path: path(noun, name) };
  const confirm = async () => {
    await ask(call.method, call.path);
    await beat();
    location.hash = "#/names";
  };
  return html`<${Dialog} title=${`Forget ${name}`} confirm="Forget" danger needs="admin" onConfirm=${confirm} onClose=${onClose}>
    <p>This takes away:</p>
    <ul>${takes.map((each) => html`<li key=${each}>${each}</li>`)}</ul>
    <p class="hint">It is a durable event. The taught events stay in the history; erase them under Events.</p>
    <${CallText} call=${call} />
  <//>`;
}

function useDetail(url) {
  const [detail, setDetail] = useState(null);
  const task = useTask();
  const { seq } = usePulse();
  const load = () => task.run(async () => setDetail(await get(url)));
  useEffect(() => {
    setDetail(null);
  }, [url]);
  useEffect(() => {
    load();
  }, [url, seq]);
  return { detail, error: task.error, load };
}

function Examples({ name }) {
  const [events, setEvents] = useState([]);
  const { seq } = usePulse();
  const load = async () => setEvents((await get(withParameters("/events", { class: name, limit: EXAMPLES }))).events);
  const shown = keepsHistory() && may("learn");
  useEffect(() => {
    if (shown) load().catch(() => setEvents([])); // the class itself is shown without examples
  }, [name, seq]);
  if (!shown || !events.length) return null;
  return html`<section aria-labelledby="examples"><h2 id="examples">Newest examples</h2>
    <ul class="list">${events.map((event) => html`<${EventItem} key=${event.key} event=${event} onChanged=${load} />`)}</ul>
    <a href=${`#/events?class=${encodeURIComponent(name)}`}>All events of ${name}</a></section>`;
}

function ClassDetail({ name }) {
  const url = withParameters(path("classes", name), { limit: SHOWN });
  const { detail, error } = useDetail(url);
  const [dialog, setDialog] = useState(null);
  const [said, setSaid] = useState("");
  const close = () => setDialog(null);
  const features = detail?.features ?? [];
  return html`<h1>${name}</h1>
    <p><a href="#/names">All classes</a></p>
    <${Problem} error=${error} />
    <${Status}>${said && html`<p>${said}</p>`}<//>
    ${detail && html`
      <p>${plural(detail.learned, "event")} named it.
        ${detail.path.length > 1 && html` Its place: ${detail.path.join(" › ")}.`}</p>
      ${detail.children.length > 0 && html`<p>Below it: ${detail.children.map((each) => html`<a key=${each} href=${classAddress(each)}>${each}</a>${" "}`)}</p>`}
      <div class="actions">
        <${Action} needs="admin" onClick=${() => setDialog("rename")}>Rename<//>
        <${Action} needs="admin" onClick=${() => setDialog("merge")}>Merge into another<//>
        <${Action} needs="admin" onClick=${() => setDialog("forget")}>Forget<//>
      </div>
      <h2>Heaviest features</h2>
      <${WeightList} label="Heaviest features" addressOf=${featureAddress}
        entries=${features.map(({ feature, weight }) => ({ name: feature, weight }))} />
      ${features.length === SHOWN && html`<p class="hint">The ${SHOWN} heaviest; the call gives up to 10,000.</p>`}
      <${CallText} call=${{ method: "GET", path: withParameters(path("classes", name), { limit: 10000 }) }} />
      <${Examples} name=${name} />`}
    ${dialog === "rename" && html`<${RenameClass} name=${name} onClose=${close} onDone=${(to) => (location.hash = classAddress(to))} />`}
    ${dialog === "merge" && html`<${RenameClass} name=${name} merges onClose=${close} onDone=${(to) => (location.hash = classAddress(to))} />`}
    ${dialog === "forget" && html`<${Forget} noun="classes" name=${name} onClose=${close} takes=${[
      `the class, as ${plural(detail.learned, "event")} taught it`,
      features.length === SHOWN
        ? `the votes of ${SHOWN} or more features, ${features[0].feature} at their head`
        : `the votes of ${plural(features.length, "feature")}`,
    ]} />`}
  `;
}

function FeatureDetail({ name }) {
  const url = path("features", name);
  const { detail, error } = useDetail(url);
  const [forgetting, setForgetting] = useState(false);
  const edges = detail?.edges ?? [];
  const heaviest = [...edges].sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight)).slice(0, SHOWN);
  return html`<h1>${name}</h1>
    <p><a href="#/names">Classes and features</a></p>
    <${Problem} error=${error} />
    ${detail && html`
      <p>A feature, seen in ${plural(detail.times_seen, "event")}; its outdegree, the number of its edges to classes, is
        ${" "}${count(detail.outdegree)}; its rating is ${fixed(detail.rating, 2)}.</p>
      <div class="actions"><${Action} needs="admin" onClick=${() => setForgetting(true)}>Forget<//></div>
      <h2>Heaviest edges</h2>
      <${WeightList} label="Heaviest edges" addressOf=${classAddress}
        entries=${heaviest.map((each) => ({ name: each.class, weight: each.weight }))} />
      ${edges.length > SHOWN && html`<p class="hint">The ${SHOWN} heaviest of ${count(edges.length)}; the call gives all.</p>`}
      <${CallText} call=${{ method: "GET", path: url }} />`}
    ${forgetting && html`<${Forget} noun="features" name=${name} onClose=${() => setForgetting(false)}
      takes=${[`the feature, seen in ${plural(detail.times_seen, "event")}`, `its ${plural(detail.outdegree, "edge")}`]} />`}
  `;
}

export default function Names({ query }) {
  const { stats } = useAccess();
  if (query.class !== undefined) return html`<${ClassDetail} key=${query.class} name=${query.class} />`;
  if (query.feature !== undefined) return html`<${FeatureDetail} key=${query.feature} name=${query.feature} />`;
  return html`<h1>Classes and features</h1>
    <p>${plural(stats.classes, "class", "classes")}, ${plural(stats.features, "feature")} and ${plural(stats.edges, "edge")}.</p>
    <div class="columns"><${ClassList} /><${FeatureSearch} /></div>`;
}
