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

/** Return [{ class, path }] of the classes to propose for a text: by their names, or by a name above them. */
async function proposals(text, hasTaxonomy, signal) {
  const page = get(withParameters("/classes", { prefix: text, limit: PROPOSED }), { signal });
  const below = hasTaxonomy && text.length >= LEAST ? classesBelow(text, PROPOSED, signal) : [];
  const all = [...(await page).classes, ...(await below)];
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
