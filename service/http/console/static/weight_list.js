// Names with weights, as bars.

import { html } from "./html.js";
import { fixed } from "./format.js";
import { ClassName } from "./titles.js";

/** `entries` of { name, weight }; `addressOf` gives the link of a name. */
export function WeightList({ label, entries, addressOf }) {
  if (!entries.length) return html`<p class="hint">None.</p>`;
  const most = Math.max(...entries.map((each) => Math.abs(each.weight)), 1e-9);
  return html`<ul class="weights" aria-label=${label}>${entries.map(({ name, weight }) => html`<li key=${name}>
    <a href=${addressOf(name)}>${addressOf === classAddress ? html`<${ClassName} name=${name} />` : name}</a>
    <span class=${`weight ${weight < 0 ? "against" : "for"}`} style=${{ "--share": Math.abs(weight) / most }} aria-hidden="true"></span>
    <span class="score">${fixed(weight)}</span></li>`)}</ul>`;
}

export const classAddress = (name) => `#/names?class=${encodeURIComponent(name)}`;
export const featureAddress = (name) => `#/names?feature=${encodeURIComponent(name)}`;
