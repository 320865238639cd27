// A ranking as bars: the confidence, the classes with their scores, and a button on each to teach it.

import { html } from "./html.js";
import { fixed, percent } from "./format.js";
import { may } from "./access.js";

export function Confidence({ value }) {
  if (value === null)
    return html`<p class="confidence hint">No confidence before 100 labelled outcomes.</p>`;
  return html`<p class="confidence"><label>Confidence in the first class: <strong>${percent(value)}</strong>
    <meter min="0" max="1" low="0.4" high="0.75" optimum="1" value=${value}></meter></label></p>`;
}

/** Bars of the ranked classes. `onChoose` teaches a class; `onPoint` is called with the class under
 * the pointer or the focus. */
export function Bars({ ranked, pointed, taught, onChoose, onPoint }) {
  const most = Math.max(1e-9, ...ranked.map((each) => each.score));
  const teaches = may("learn");
  return html`<ol class="bars" aria-label="Ranked classes">${ranked.map((each) => html`
    <li key=${each.class} class=${[each.class === pointed && "pointed", each.class === taught && "taught"].filter(Boolean).join(" ")}>
      <button type="button" onClick=${() => onChoose(each.class)} disabled=${!teaches}
        onPointerEnter=${() => onPoint(each.class)} onFocus=${() => onPoint(each.class)}
        title=${teaches ? `Teach: this is ${each.class}` : "needs a key of the scope learn"}>
        <span class="bar" style=${{ "--share": Math.max(0, each.score) / most }} aria-hidden="true"></span>
        <span class="name">${each.class}</span>
        <span class="score">${fixed(each.score)}</span>
        <span class="teach" aria-hidden="true">teach</span>
      </button>
    </li>`)}</ol>`;
}
