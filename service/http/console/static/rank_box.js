// A ranking as bars: the confidence, the classes with their scores, and a button on each to teach it.

import { html, useEffect, useLayoutEffect, useRef, useState } from "./html.js";
import { fixed, ordinal, percent } from "./format.js";
import { may } from "./access.js";

const GLIDE = 350; // milliseconds

export function Confidence({ value }) {
  if (value === null)
    return html`<p class="confidence hint">There is no confidence before 100 labelled messages.</p>`;
  return html`<p class="confidence"><label>Confidence in the first class: <strong>${percent(value)}</strong>
    <meter min="0" max="1" low="0.4" high="0.75" optimum="1" value=${value}></meter></label></p>`;
}

/** Return { rows, hold }: the classes as ranked; but once `hold` was called, in the order of then until the text changes
 * or the pointer or the focus is outside of the list, so that a second click meets the same class. */
function useSteadyRows(ranked, text, list) {
  const [isHeld, setHeld] = useState(false);
  const order = useRef({ text: null, names: [] });
  useEffect(() => {
    if (!isHeld) return undefined;
    const leave = (event) => list.current?.contains(event.target) || setHeld(false);
    const signs = ["pointermove", "pointerdown", "focusin"];
    for (const each of signs) addEventListener(each, leave);
    return () => signs.forEach((each) => removeEventListener(each, leave));
  }, [isHeld]);
  const names = ranked.map((each) => each.class);
  const before = isHeld && order.current.text === text ? order.current.names : [];
  order.current = { text, names: [...before, ...names.filter((name) => !before.includes(name))] };
  const rows = order.current.names.map((name, at) => {
    const now = names.indexOf(name);
    const is = now < 0 ? "no longer among these" : `now ${ordinal(now + 1)}`;
    return { name, score: ranked[now]?.score ?? null, moved: now === at ? "" : at < before.length ? `was ${ordinal(at + 1)}, ${is}` : is };
  });
  return { rows, hold: () => setHeld(true) };
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

/** Bars of the ranked classes. `onChoose` teaches a class; `onPoint` is called with the class under
 * the pointer or the focus. */
export function Bars({ text, ranked, pointed, taught, onChoose, onPoint }) {
  const list = useRef();
  const { rows, hold } = useSteadyRows(ranked, text, list);
  useGlide(list, text);
  const most = Math.max(1e-9, ...ranked.map((each) => each.score));
  const teaches = may("learn");
  const point = (name) => {
    hold();
    onPoint(name);
  };
  return html`<ol class="bars" aria-label="Ranked classes" ref=${list}>${rows.map(({ name, score, moved }) => html`
    <li key=${name} data-class=${name} class=${[name === pointed && "pointed", name === taught && "taught"].filter(Boolean).join(" ")}>
      <button type="button" onClick=${(event) => event.detail < 2 && onChoose(name)} disabled=${!teaches}
        onPointerEnter=${() => point(name)} onFocus=${() => point(name)}
        title=${teaches ? `Teach: this is ${name}` : "needs a key of the scope learn"}>
        <span class="bar" style=${{ "--share": Math.max(0, score) / most }} aria-hidden="true"></span>
        <span class="name">${name}</span>
        ${moved && html`<span class="rank">${moved}</span>`}
        <span class="score">${fixed(score)}</span>
        <span class="teach" aria-hidden="true">teach</span>
      </button>
    </li>`)}</ol>`;
}
