// A field for the name of a class, which proposes classes that begin with what was typed.

import { html, useState } from "./html.js";
import { get, withParameters } from "./api.js";
import { useLater } from "./parts.js";

const PROPOSED = 12;
let fields = 0;

/** Return the first classes whose name begins with a prefix. */
export async function classesFrom(prefix, limit, signal) {
  const page = await get(withParameters("/classes", { prefix, limit }), { signal });
  return page.classes.map((each) => each.class);
}

export function ClassField({ value, onInput, label = "Class", inputRef, placeholder }) {
  const [proposed, setProposed] = useState([]);
  const [id] = useState(() => `classes-${(fields += 1)}`);
  useLater(async (signal) => {
    try {
      setProposed(await classesFrom(value, PROPOSED, signal));
    } catch {
      setProposed([]); // a name may be typed without proposals
    }
  }, 120, [value]);
  return html`<label class="field"><span>${label}</span>
    <input type="text" list=${id} ref=${inputRef} value=${value} autocomplete="off" spellcheck=${false}
      placeholder=${placeholder} onInput=${(event) => onInput(event.currentTarget.value)} />
    <datalist id=${id}>${proposed.map((each) => html`<option key=${each} value=${each} />`)}</datalist>
  </label>`;
}
