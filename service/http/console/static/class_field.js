// A field for the name of a class, which proposes classes that have a name with what was typed.

import { html, useState } from "./html.js";
import { get, withParameters } from "./api.js";
import { classesBelow, placeOf, useTaxonomy } from "./class_paths.js";
import { useLater } from "./parts.js";
import { useTitles } from "./titles.js";

const PROPOSED = 12;
const LEAST = 2; // letters of a name above classes
let fields = 0;

/** Return the first classes whose name begins with a prefix. */
export async function classesFrom(prefix, limit, signal) {
  const page = await get(withParameters("/classes", { prefix, limit }), { signal });
  return page.classes.map((each) => each.class);
}

/** Return the classes that have a name with a text in it, the best first; the first ones of all for an empty text. */
export async function searched(text, limit, signal) {
  return (await get(withParameters("/classes", { search: text.trim(), limit }), { signal })).classes;
}

/** Return what is shown beside the name of a proposed class: its title, the other name that was typed, its place. */
function labelOf({ class: name, title, alt_labels: others = [], path = [] }, text, titleOf) {
  const plain = text.trim().toLowerCase();
  const has = (each) => each?.toLowerCase().includes(plain);
  const other = !has(title) && !has(name) && others.find(has);
  const shown = [title ?? name, other].filter(Boolean).join(" · ");
  const label = path.length > 1 ? `${shown} (${placeOf(path, titleOf)})` : shown;
  return label === name ? undefined : label;
}

/** Return [{ class, path }] of the classes to propose for a text: by their names, or by a name above them. */
async function proposals(text, hasTaxonomy, signal) {
  const byName = searched(text, PROPOSED, signal);
  const below = hasTaxonomy && text.length >= LEAST ? classesBelow(text, PROPOSED, signal) : [];
  const all = [...(await byName), ...(await below)];
  return [...new Map(all.map((each) => [each.class, each])).values()];
}

export function ClassField({ value, onInput, label = "Class", inputRef, placeholder }) {
  const [proposed, setProposed] = useState([]);
  const hasTaxonomy = useTaxonomy();
  const titleOf = useTitles(proposed.flatMap(({ path = [] }) => path.slice(0, -1)));
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
    <datalist id=${id}>${proposed.map((each) => html`<option key=${each.class} value=${each.class} label=${labelOf(each, value, titleOf)} />`)}</datalist>
  </label>`;
}
