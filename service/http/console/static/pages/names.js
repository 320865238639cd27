// Classes and words: find one, see its weights and examples, describe, rename, merge and forget.

import { html, useEffect, useState } from "../html.js";
import { get, path, withParameters } from "../api.js";
import { keepsHistory, may, readStats, useAccess } from "../access.js";
import { CallText } from "../call_text.js";
import { ClassTree } from "../class_tree.js";
import { DescribeClass, describe } from "../describe_class.js";
import { EventItem } from "../event_item.js";
import { count, fixed, isolated, plural } from "../format.js";
import { Action, Dialog, Field, Problem, Status, Table, useAgain, useLater, useTask } from "../parts.js";
import { usePulse } from "../pulse.js";
import { RenameClass } from "../rename_class.js";
import { isRun, readingOf } from "../text_parts.js";
import { ClassName, useTitles } from "../titles.js";
import { WaitingCounts, useRebuilt } from "../when_erased.js";
import { WeightList, classAddress, featureAddress } from "../weight_list.js";

const PAGE = 50;
const SHOWN = 30; // edges and features of one name
const EXAMPLES = 5;
const RUN_HINT = "With ~ in front: a part of words, where < is the beginning of a word and > its end.";

const CLASSES = { noun: "classes", title: "Classes", head: "Class", by: "search", find: "Find a class", nothing: "No class has this in a name.",
  nameOf: (each) => each.class, countOf: (each) => each.learned, addressOf: classAddress, shown: ({ class: name, title }) => html`<${ClassName} name=${name} title=${title} />`,
  orders: { name: "by name", events: "most messages first", newest: "newest first" } };
const FEATURES = { noun: "features", title: "Words", head: "Word", by: "prefix", find: "Word begins with", nothing: "No word begins with this.", nameOf: (each) => each.feature, countOf: (each) => each.times_seen, addressOf: featureAddress };

/** Classes that have a name with a text in it, or features whose name begins with it, a page at a time. */
function NameList({ kind, hint }) {
  const { noun, title } = kind;
  const [text, setText] = useState("");
  const [order, setOrder] = useState("name");
  const [pages, setPages] = useState([""]); // the name behind which each page up to this one begins
  const [found, setFound] = useState({ names: null, next: null });
  const task = useTask();
  const { seq } = usePulse();
  const rebuilt = useRebuilt();
  const url = withParameters(`/${noun}`, { [kind.by]: text, order: order !== "name" && order, limit: PAGE, after: pages.at(-1) });
  useLater((signal) => task.run(async () => {
    const page = await get(url, { signal });
    setFound({ names: page[noun], next: page.next });
  }), 120, [url, seq, rebuilt, useAgain(task.error)]);
  const search = (event) => {
    setPages([""]);
    setText(event.currentTarget.value);
  };
  const sort = (event) => {
    setPages([""]);
    setOrder(event.currentTarget.value);
  };
  const nothing = text ? kind.nothing
    : html`No ${kind.head.toLowerCase()} yet. <a href="#/import">Import a file</a>, or teach a message under <a href="#/try">Try</a>.`;
  return html`<section aria-label=${title}><h2>${title}</h2>
    <div class="row"><${Field} label=${kind.find} hint=${hint}><input type="search" value=${text} onInput=${search} /><//>
      ${kind.orders && html`<${Field} label="Order"><select value=${order} disabled=${text.trim() !== ""} onChange=${sort}>${Object.entries(kind.orders).map(([value, text]) => html`
        <option key=${value} value=${value}>${text}</option>`)}</select><//>`}</div>
    <${Problem} error=${task.error} />
    ${found.names?.length
      ? html`<${Table} label=${title} head=${[kind.head, "Messages"]}>${found.names.map((each) => html`<tr key=${kind.nameOf(each)}>
          <td><a href=${kind.addressOf(kind.nameOf(each))}>${kind.shown?.(each) ?? kind.nameOf(each)}</a></td><td class="number">${kind.countOf(each) ? count(kind.countOf(each)) : html`<span class="hint">${kind.shown ? "no label yet" : 0}</span>`}</td></tr>`)}<//>`
      : html`<p class="nothing">${found.names === null ? "…" : nothing}</p>`}
    <div class="actions">
      ${pages.length > 1 && html`<button type="button" onClick=${() => setPages(pages.slice(0, -1))} disabled=${task.busy}
        aria-label=${`Previous ${title.toLowerCase()}`}>Previous</button>`}
      ${found.next !== null && html`<button type="button" onClick=${() => setPages([...pages, found.next])} disabled=${task.busy}
        aria-label=${`Next ${title.toLowerCase()}`}>Next</button>`}
    </div>
    <${CallText} call=${{ method: "GET", path: url }} />
  </section>`;
}

/** Ask before a name is forgotten, and say what goes with it. */
function Forget({ noun, name, takes, onClose }) {
  const leave = () => {
    location.hash = "#/names";
  };
  return html`<${Dialog} title=${`Forget ${isolated(name)}`} confirm="Forget" kind="danger" needs="admin" call=${{ method: "DELETE", path: path(noun, name) }} onDone=${leave} onClose=${onClose}>
    <p>This removes:</p>
    <ul>${takes.map((each) => html`<li key=${each}>${each}</li>`)}</ul>
    <p class="hint">This cannot be undone. The messages stay in the history; erase them under Messages.</p>
  <//>`;
}

function useDetail(url) {
  const [detail, setDetail] = useState(null);
  const task = useTask();
  const { seq } = usePulse();
  const rebuilt = useRebuilt();
  const load = () => task.run(async () => setDetail(await get(url)));
  useEffect(() => {
    setDetail(null);
  }, [url]);
  useEffect(() => {
    load();
  }, [url, seq, rebuilt, useAgain(task.error)]);
  return { detail, error: task.error, load };
}

function Examples({ name, title }) {
  const [events, setEvents] = useState([]);
  const { seq } = usePulse();
  const load = async () => setEvents((await get(withParameters("/events", { class: name, limit: EXAMPLES }))).events);
  const shown = keepsHistory() && may("learn");
  useEffect(() => {
    if (shown) load().catch(() => setEvents([])); // the class itself is shown without examples
  }, [name, seq]);
  if (!shown || !events.length) return null;
  return html`<section aria-label="Newest examples"><h2>Newest examples</h2>
    <ul class="list">${events.map((event) => html`<${EventItem} key=${event.key} event=${event} onChanged=${load} />`)}</ul>
    <a href=${`#/events?class=${encodeURIComponent(name)}`}>All messages of ${isolated(title ?? name)}</a></section>`;
}

function ClassDetail({ name }) {
  const url = withParameters(path("classes", name), { limit: SHOWN });
  const { detail, error } = useDetail(url);
  const [dialog, setDialog] = useState(null);
  const [said, setSaid] = useState("");
  const [former, setFormer] = useState(null); // the changes that take the last ones back
  const undoing = useTask();
  const titleOf = useTitles(detail?.path ?? []);
  const close = () => setDialog(null);
  const described = (changes) => {
    setFormer(changes);
    setSaid("The description is changed.");
  };
  const undo = () => undoing.run(async () => {
    await describe(present, former);
    setFormer(null);
    setSaid("The former description is back.");
  });
  const features = detail?.features ?? [];
  const present = detail?.class ?? name;
  return html`<h1><${ClassName} name=${present} title=${detail?.title ?? null} /></h1>
    <p><a href="#/names">All classes</a></p>
    <${Problem} error=${error} />
    ${present !== name && html`<p class="hint">${name} is a former name: the class is now ${present}.</p>`}
    <${Status}>${said && html`<p>${said} ${former && html`<button type="button" disabled=${undoing.busy} onClick=${undo}>Undo</button>`}</p>`}<//>
    <${Problem} error=${undoing.error} />
    ${detail && html`
      ${detail.description && html`<p class="text">${detail.description}</p>`}
      ${detail.alt_labels.length > 0 && html`<p>Other names: ${detail.alt_labels.map((each, at) => html`${at > 0 && ", "}<bdi>${each}</bdi>`)}.</p>`}
      <p>${detail.learned ? plural(detail.learned, "example") : "No label yet"}.
        ${detail.path.length > 1 && html` Position in the taxonomy: ${detail.path.map((each) => titleOf(each) ?? each).join(" › ")}.`}</p>
      <${WaitingCounts} />
      ${detail.children.length > 0 && html`<p>Below it: ${detail.children.map((each) => html`<a key=${each} href=${classAddress(each)}><${ClassName} name=${each} /></a>${" "}`)}</p>`}
      <div class="actions">
        <${Action} needs="learn" onClick=${() => setDialog("describe")}>Describe<//>
        <${Action} needs="admin" onClick=${() => setDialog("rename")}>Rename<//>
        <${Action} needs="admin" onClick=${() => setDialog("merge")}>Merge into another<//>
        <${Action} needs="admin" onClick=${() => setDialog("forget")}>Forget<//>
      </div>
      <h2>Words that speak most for it</h2>
      <${WeightList} label="Words that speak most for it" addressOf=${featureAddress}
        entries=${features.map(({ feature, weight }) => ({ name: feature, weight }))} />
      ${features.some(({ feature }) => isRun(feature)) && html`<p class="hint">${RUN_HINT}</p>`}
      ${features.length === SHOWN && html`<p class="hint">The first ${SHOWN}; the call gives up to 10,000.</p>`}
      <${CallText} call=${{ method: "GET", path: withParameters(path("classes", present), { limit: 10000 }) }} />
      <${Examples} name=${present} title=${detail.title} />`}
    ${["rename", "merge"].includes(dialog) && html`<${RenameClass} name=${present} merges=${dialog === "merge"} onClose=${close} onDone=${(to) => (location.hash = classAddress(to))} />`}
    ${dialog === "describe" && html`<${DescribeClass} detail=${detail} onClose=${close} onDone=${described} />`}
    ${dialog === "forget" && html`<${Forget} noun="classes" name=${present} onClose=${close} takes=${[
      `the class, with ${plural(detail.learned, "example")}`,
      ...(detail.title || detail.description || detail.alt_labels.length || detail.has_vector ? ["its title, description and other names"] : []),
      features.length === SHOWN
        ? `its links to ${SHOWN} or more words, such as ${features[0].feature}`
        : `its links to ${plural(features.length, "word")}`,
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
    <p><a href="#/names">All classes and words</a></p>
    <${Problem} error=${error} />
    ${detail && html`
      <p>A word in ${plural(detail.times_seen, "message")}, with links to ${plural(detail.outdegree, "class", "classes")}. The
        strength of each link is multiplied by ${fixed(detail.rating, 2)}, the rating of the word.</p>
      ${isRun(name) && html`<p class="hint">${RUN_HINT}</p>`}
      <div class="actions"><${Action} needs="admin" onClick=${() => setForgetting(true)}>Forget<//></div>
      <h2>Classes that it speaks most for or against</h2>
      <${WeightList} label="Classes that it speaks most for or against" addressOf=${classAddress}
        entries=${heaviest.map((each) => ({ name: each.class, weight: each.weight }))} />
      ${edges.length > SHOWN && html`<p class="hint">The first ${SHOWN} of ${count(edges.length)}; the call gives all.</p>`}
      <${CallText} call=${{ method: "GET", path: url }} />`}
    ${forgetting && html`<${Forget} noun="features" name=${name} onClose=${() => setForgetting(false)}
      takes=${[`the word, seen in ${plural(detail.times_seen, "message")}`, `its links to ${plural(detail.outdegree, "class", "classes")}`]} />`}
  `;
}

export default function Names({ query }) {
  const { stats } = useAccess();
  const { seq: now } = usePulse();
  const [seq] = useState(now); // a tree that is open stays as it is
  useEffect(() => {
    readStats().catch(() => {}); // the numbers stay until the service answers again
  }, [now]);
  if (query.class !== undefined) return html`<${ClassDetail} key=${query.class} name=${query.class} />`;
  if (query.feature !== undefined) return html`<${FeatureDetail} key=${query.feature} name=${query.feature} />`;
  return html`<h1>Classes and words</h1>
    <p>${plural(stats.classes, "class", "classes")} and ${plural(stats.features, "word")}, with ${plural(stats.edges, "link")} of words to
      classes.</p>
    <${WaitingCounts} />
    ${stats.taxonomy > 0 && html`<${ClassTree} seq=${seq} />`}
    <div class="columns"><${NameList} kind=${CLASSES} hint="By any of its names." />
      <${NameList} kind=${FEATURES} hint=${`Of a text, in lower case: ${readingOf(stats.settings.MANYCLASS_TEXT)}. Of a part kept apart, behind its name as it is written: Body:invoice.`} /></div>`;
}
