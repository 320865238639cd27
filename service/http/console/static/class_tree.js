// The taxonomy as a tree that opens node by node.

import { html, useState } from "./html.js";
import { get, withParameters } from "./api.js";
import { count } from "./format.js";
import { Problem, useAgain, useLater, useTask } from "./parts.js";
import { ClassName } from "./titles.js";
import { classAddress } from "./weight_list.js";

const PAGE = 100;

/** The nodes below a parent, without one those at the top, and a button for further ones. */
function Nodes({ parent, ...shared }) {
  const [found, setFound] = useState({ nodes: [], next: null });
  const task = useTask();
  const load = (after, limit) => get(withParameters("/taxonomy", { parent, after, limit }));
  useLater(() => task.run(async () => setFound(await load(null, PAGE))), 0, [shared.seq, useAgain(task.error)]);
  const more = () => task.run(async () => {
    const page = await load(found.next, PAGE);
    setFound({ nodes: [...found.nodes, ...page.nodes], next: page.next });
  });
  return html`<${Problem} error=${task.error} />
    <ul class="tree">${found.nodes.map((each) => html`<li key=${each.class}><${Node} ...${each} ...${shared} /></li>`)}</ul>
    ${found.next !== null && html`<button type="button" class="quiet" disabled=${task.busy} onClick=${more}>More</button>`}`;
}

function Node({ class: name, title: itsTitle, learned, has_children, ...shared }) {
  const [isOpen, setOpen] = useState(false);
  const shown = html`<${ClassName} name=${name} title=${itsTitle} />`;
  const link = shared.onChoose ? has_children && !learned ? shown : html`<button type="button" class="quiet" onClick=${() => shared.onChoose(name)}>${shown}</button>` : html`<a href=${classAddress(name)}>${shown}</a>`;
  const title = html`${link} ${learned > 0 && html`<span class="hint">${count(learned)}</span>`}`;
  if (!has_children) return title;
  return html`<details onToggle=${(event) => setOpen(event.currentTarget.open)}><summary>${title}</summary>
    ${isOpen && html`<${Nodes} parent=${name} ...${shared} />`}</details>`;
}

/** `seq`: the tree is read again when it changes. */
export const ClassTree = ({ seq }) => html`<section aria-label="Taxonomy"><h2>Taxonomy</h2><${Nodes} seq=${seq} /></section>`;

/** A tree that opens on demand; a click chooses a class. */
export function ClassTreeChoice({ onChoose }) {
  const [isOpen, setOpen] = useState(false);
  return html`<details onToggle=${(event) => setOpen(event.currentTarget.open)}><summary>Choose from the tree</summary>
    ${isOpen && html`<${Nodes} seq=${0} onChoose=${onChoose} />`}</details>`;
}
