// Rename a class, or merge it into another.

import { html, useState } from "./html.js";
import { path } from "./api.js";
import { ClassField } from "./class_field.js";
import { Dialog } from "./parts.js";

export function RenameClass({ name, merges, proposed = "", onClose, onDone }) {
  const [to, setTo] = useState(proposed);
  const body = merges ? { merge_into: to.trim() } : { rename: to.trim() };
  const call = { method: "POST", path: path("classes", name), body };
  return html`<${Dialog} title=${merges ? `Merge ${name}` : `Rename ${name}`} confirm=${merges ? "Merge" : "Rename"} needs="admin"
    disabled=${!to.trim()} call=${call} onDone=${() => onDone?.(to.trim())} onClose=${onClose}>
    <${ClassField} label=${merges ? "Into the class" : "Its new name"} value=${to} onInput=${setTo} />
    <p class="hint">${merges
      ? "The class is no longer suggested. Its messages count for the other class after a rebuild, which begins at once."
      : "From now on, messages taught with the former name count for the new one."}</p>
  <//>`;
}
