// Suggestions as bars: the confidence, the classes with their probabilities and scores, and a button on each to teach it.

import { html, useEffect, useLayoutEffect, useRef, useState } from "./html.js";
import { get, withParameters } from "./api.js";
import { fixed, percent } from "./format.js";
import { may } from "./access.js";
import { ClassName } from "./titles.js";

const GLIDE = 350; // milliseconds

const TARGET = 0.95; // the share of right answers that people ask of a service that answers by itself
const WATCH = 30_000; // milliseconds

/** Return the confidence from which answers were right in TARGET of the cases; null while there is none. */
export function useLimit() {
  const [limit, setLimit] = useState(null);
  useEffect(() => {
    const load = async () => {
      try {
        const { newest } = await get(withParameters("/operating-points", { target: TARGET, curve: "false" }));
        setLimit(newest.targets[0].point?.limit ?? null);
      } catch {
        setLimit(null); // suggestions are shown without advice
      }
    };
    load();
    const timer = setInterval(load, WATCH);
    return () => clearInterval(timer);
  }, []);
  return limit;
}

/** The probability of the first suggestion, and whether it is enough to answer without a person. */
export function Confidence({ value, limit }) {
  if (value === null)
    return html`<p class="confidence hint">How sure a suggestion is, is known after 100 labelled messages. Until then a line shows how strongly
      the words of the message speak for a class.</p>`;
  const isSure = limit !== null && value >= limit;
  const enough = limit ?? 1; // without a limit nothing is sure enough
  return html`<p class="confidence"><label>The first suggestion is right with a probability of <strong>${percent(value)}</strong>
    <meter min="0" max="1" low=${Math.min(0.4, enough)} high=${enough} optimum="1" value=${value}></meter></label>
    ${" "}<strong>${isSure ? "Sure enough." : "Not sure: let a person decide."}</strong>
    ${" "}${limit === null
      ? html`<span class="hint">No limit makes ${percent(TARGET)} of the answers right yet; the page Quality says what is possible.</span>`
      : html`<span class="hint">Suggestions with a probability from ${percent(limit, 1)} on were right in at least ${percent(TARGET)} of the cases.</span>`}</p>`;
}

/** Let the rows of a list glide to their next place, while it is about the same text. */
function useGlide(list, text) {
  const former = useRef({ text: null, places: new Map() });
  useLayoutEffect(() => {
    const places = new Map();
    for (const row of list.current.children) {
      const place = row.offsetTop - list.current.offsetTop;
      const way = (former.current.places.get(row.dataset.class) ?? place) - place;
      places.set(row.dataset.class, place);
      if (way && former.current.text === text && !matchMedia("(prefers-reduced-motion: reduce)").matches)
        row.animate([{ transform: `translateY(${way}px)` }, { transform: "none" }], GLIDE);
    }
    former.current = { text, places };
  });
}

/** The bar of a class is as long as its probability. While none is known, a line is as long as its score, of the highest one. */
function Bar({ each: { score, probability }, most }) {
  const isKnown = probability != null;
  return html`<span class=${isKnown ? "bar" : "bar line"} style=${{ "--share": isKnown ? probability : Math.max(0, score) / most }} aria-hidden="true"></span>`;
}

/** Bars of the ranked classes. `onChoose` gets the class of a click: to teach it, or, with a set `chosen`, to choose it or
 * not; `onPoint` is called with the class under the pointer or the focus. */
export function Bars({ text, ranked, pointed, taught, chosen, onChoose, onPoint }) {
  const list = useRef();
  useGlide(list, text);
  const most = Math.max(1e-9, ...ranked.map((each) => each.score));
  const teaches = may("learn");
  const does = ({ class: name, title }) => (chosen ? `Choose ${title ?? name}` : `Teach: this is ${title ?? name}`);
  return html`<ol class="bars" aria-label="Suggestions" ref=${list}>${ranked.map((each) => html`
    <li key=${each.class} data-class=${each.class} class=${[each.class === pointed && "pointed", each.class === taught && "taught"].filter(Boolean).join(" ")}>
      <button type="button" onClick=${(event) => (chosen || event.detail < 2) && onChoose(each.class)} disabled=${!teaches}
        aria-pressed=${chosen ? chosen.has(each.class) : undefined}
        onPointerEnter=${() => onPoint(each.class)} onFocus=${() => onPoint(each.class)}
        title=${teaches ? does(each) : "needs a key of the scope learn"}>
        <${Bar} each=${each} most=${most} />
        ${chosen && html`<span aria-hidden="true">${chosen.has(each.class) ? "☑" : "☐"}</span>`}
        ${each.probability != null && html`<span class="score share">${percent(each.probability)}</span>`}
        <span class="name"><${ClassName} name=${each.class} title=${each.title ?? null} /></span>
        <span class="score hint" title="how strongly the words of the message speak for this class">strength ${fixed(each.score, 2)}</span>
        ${!chosen && html`<span class="teach" aria-hidden="true">teach</span>`}
      </button>
    </li>`)}</ol>`;
}
