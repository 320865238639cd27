// Two confused classes: their examples, and the features that tell them apart.

import { html, useEffect, useState } from "./html.js";
import { get, path, withParameters } from "./api.js";
import { EventItem } from "./event_item.js";
import { Action, Problem, useTask } from "./parts.js";
import { RenameClass } from "./rename_class.js";
import { ClassName } from "./titles.js";
import { WeightList, classAddress, featureAddress } from "./weight_list.js";

const FEATURES = 1000; // heaviest of each class, which are compared
const SHOWN = 15;

/** Return the features whose weights differ most between two classes: those of the first class. */
export function apart(first, second) {
  const other = new Map(second.map(({ feature, weight }) => [feature, weight]));
  return first
    .map(({ feature, weight }) => ({ name: feature, weight: weight - (other.get(feature) ?? 0) }))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, SHOWN);
}

export function ClassPair({ pair, onChanged }) {
  const [shown, setShown] = useState(null);
  const [merging, setMerging] = useState(null);
  const task = useTask();
  const { ranked_first: first, true: right } = pair;
  const load = async () => {
    const details = await Promise.all([first, right].map((name) => get(withParameters(path("classes", name), { limit: FEATURES }))));
    const events = await Promise.all(pair.events.map((seq) => get(path("events", `seq:${seq}`)).catch(() => null)));
    const [a, b] = details.map((each) => each.features);
    setShown({ first: apart(a, b), right: apart(b, a), events: events.filter(Boolean) });
  };
  useEffect(() => {
    task.run(load);
  }, []);
  const changed = () => {
    task.run(load);
    onChanged();
  };
  return html`<div class="card">
    <${Problem} error=${task.error} />
    ${shown
      ? html`<div class="columns">${[[first, shown.first], [right, shown.right]].map(([name, entries]) => html`<div key=${name}>
          <h3>Words for <a href=${classAddress(name)}><${ClassName} name=${name} /></a></h3>
          <${WeightList} label=${`Words for ${name}`} entries=${entries} addressOf=${featureAddress} /></div>`)}</div>
        <h3>Examples taught as <${ClassName} name=${right} /></h3>
        <ul class="list">${shown.events.map((event) => html`<${EventItem} key=${event.key} event=${event} proposed=${first} onChanged=${changed} />`)}</ul>
        <div class="actions">${[[first, right], [right, first]].map((each) => html`<${Action} key=${each[0]} needs="admin"
          onClick=${() => setMerging(each)}>Merge ${each[0]} into ${each[1]}<//>`)}</div>`
      : html`<p class="hint">…</p>`}
    ${merging && html`<${RenameClass} name=${merging[0]} proposed=${merging[1]} merges onClose=${() => setMerging(null)} onDone=${onChanged} />`}
  </div>`;
}
