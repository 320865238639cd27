// Pairs of confused classes, each of which can be compared.

import { html, useState } from "./html.js";
import { ClassPair } from "./class_pair.js";
import { plural } from "./format.js";
import { useFirst } from "./parts.js";
import { ClassName } from "./titles.js";

const FIRST = 10; // shown before the others

export function ConfusedPairs({ pairs, onChanged }) {
  const [open, setOpen] = useState(null);
  const { shown, more } = useFirst(pairs, FIRST);
  if (!pairs.length) return html`<p class="nothing">No class was suggested first instead of another.</p>`;
  return html`<ul class="list dense" aria-label="Confused classes">${shown.map((pair) => {
    const key = JSON.stringify([pair.ranked_first, pair.true]);
    return html`<li key=${key}>
      <div><strong>${plural(pair.count, "time")}</strong> <span class="tag not"><${ClassName} name=${pair.ranked_first} /></span> was suggested first instead of <span class="tag"><${ClassName} name=${pair.true} /></span></div>
      <div class="actions"><button type="button" aria-expanded=${open === key}
        aria-label=${`Compare ${pair.ranked_first} and ${pair.true}`} onClick=${() => setOpen(open === key ? null : key)}>Compare</button></div>
      ${open === key && html`<${ClassPair} pair=${pair} onChanged=${onChanged} />`}
    </li>`;
  })}</ul>${more}`;
}
