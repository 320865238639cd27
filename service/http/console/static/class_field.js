// A field for the name of a class, which proposes classes that begin with what was typed.

import { html, useState } from "./html.js";
import { get, withParameters } from "./api.js";
import { classesBelow, placeOf, useTaxonomy } from "./class_paths.js";
import { useLater } from "./parts.js";

const PROPOSED = 12;
const LEAST = 2; // letters of a name above classes
let fields = 0;

/** Return the first classes whose name begins with a prefix. */
export async function classesFrom(prefix, limit, signal) {
  const page = await get(withParameters("/classes", { prefix, limit }), { signal });
  return page.classes.map((each) => each.class);
}

/** Return the classes whose names begin so, the first letter in capitals or not: who types "waste" may mean "Waste". */
export async function beginningWith(prefix, limit, signal) {
  const [first, rest] = [prefix.charAt(0), prefix.slice(1)];
  const forms = [...new Set([prefix, first.toUpperCase() + rest, first.toLowerCase() + rest])];
  const pages = await Promise.all(forms.map((each) => get(withParameters("/classes", { prefix: each, limit }), { signal })));
  return pages.flatMap((page) => page.classes).slice(0, limit);
}

/** Return [{ class, path }] of the classes to propose for a text: by their names, or by a name above them. */
async function proposals(text, hasTaxonomy, signal) {
  const beginning = beginningWith(text, PROPOSED, signal);
  const below = hasTaxonomy && text.length >= LEAST ? classesBelow(text, PROPOSED, signal) : [];
  const all = [...(await beginning), ...(await below)];
  return [...new Map(all.map((each) => [each.class, each])).values()];
}

export function ClassField({ value, onInput, label = "Class", inputRef, placeholder }) {
  const [proposed, setProposed] = useState([]);
  const hasTaxonomy = useTaxonomy();
  const [id] = useState(() => `classes-${(fields += 1)}`);
  useLater(async (signal) => {
    try {
      setProposed(await proposals(value, hasTaxonomy, signal));
    } catch {
      setProposed([]); // a name may be typed without proposals
    }
  }, 120, [value]);
  return html`<label class="field"><span>${label}</span>
    <input type="text" list=${id} ref=${inputRef} value=${value} autocomplete="off" spellcheck=${false}
      placeholder=${placeholder} onInput=${(event) => onInput(event.currentTarget.value)} />
    <datalist id=${id}>${proposed.map((each) => html`<option key=${each.class} value=${each.class} label=${each.path?.length > 1 ? `${each.class} (${placeOf(each.path)})` : undefined} />`)}</datalist>
  </label>`;
}
