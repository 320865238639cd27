// The taxonomy as a tree that opens node by node.

import { html, useState } from "./html.js";
import { get, withParameters } from "./api.js";
import { count } from "./format.js";
import { Problem, useAgain, useLater, useTask } from "./parts.js";
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

function Node({ class: name, learned, has_children, ...shared }) {
  const [isOpen, setOpen] = useState(false);
  const link = shared.onChoose ? has_children && !learned ? name : html`<button type="button" class="quiet" onClick=${() => shared.onChoose(name)}>${name}</button>` : html`<a href=${classAddress(name)}>${name}</a>`;
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
