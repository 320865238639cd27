// Rename a class, or merge it into another.

import { html, useState } from "./html.js";
import { ask, path } from "./api.js";
import { keepsHistory } from "./access.js";
import { ClassField } from "./class_field.js";
import { isolated, plural } from "./format.js";
import { sayKept, sayThere } from "./notice.js";
import { MOST, taughtOf } from "./origin_counts.js";
import { Dialog } from "./parts.js";
import { beat } from "./pulse.js";

export function RenameClass({ name, merges, proposed = "", onClose, onDone }) {
  const [to, setTo] = useState(proposed);
  const body = merges ? { merge_into: to.trim() } : { rename: to.trim() };
  const moved = async () => {
    const taught = await taughtOf({ class: name });
    return taught > MOST ? `more than ${plural(MOST, "message")}` : plural(taught, "message");
  };
  const confirm = async () => {
    const isMoved = merges && keepsHistory();
    const said = merges && `${isolated(name)} is merged into ${isolated(to.trim())}${isMoved ? `, and ${await moved()} moved. They count for its suggestions after the rebuild, which has begun` : ""}.`;
    await ask(call.method, call.path, { body });
    await beat();
    const page = location.hash;
    onDone?.(to.trim());
    if (said) (location.hash === page ? sayKept : sayThere)(said);
  };
  const call = { method: "POST", path: path("classes", name), body };
  return html`<${Dialog} title=${merges ? `Merge ${name}` : `Rename ${name}`} confirm=${merges ? "Merge" : "Rename"} needs="admin"
    disabled=${!to.trim()} call=${call} onConfirm=${confirm} onClose=${onClose}>
    <${ClassField} label=${merges ? "Into the class" : "Its new name"} value=${to} onInput=${setTo} />
    <p class="hint">${merges
      ? "The class is no longer suggested. Its messages count for the other class after a rebuild, which begins at once."
      : "From now on, messages taught with the former name count for the new one."}</p>
  <//>`;
}
