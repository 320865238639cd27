// The title, the description and the other names of a class, and a dialog that changes them.

import { html, useState } from "./html.js";
import { ask, path } from "./api.js";
import { readStats } from "./access.js";
import { isolated } from "./format.js";
import { Dialog, Field } from "./parts.js";
import { beat } from "./pulse.js";
import { noteTitles } from "./titles.js";

const MOST_NAMES = 100;
const LONGEST = { title: 1000, description: 20_000 };

const linesOf = (text) => [...new Set(text.split("\n").map((each) => each.trim()).filter(Boolean))];

/** Return the parts of a description that differ from the former ones; null removes one. */
function changesOf(former, next) {
  return Object.fromEntries(Object.entries(next)
    .filter(([part, value]) => JSON.stringify(value) !== JSON.stringify(former[part]))
    .map(([part, value]) => [part, value?.length ? value : null]));
}

const partsOf = ({ title, description, alt_labels }) => ({ title: title ?? "", description: description ?? "", alt_labels });

const callOf = (name, body) => ({ method: "PUT", path: path("classes", name), body });

/** Change parts of the description of a class. */
export async function describe(name, changes) {
  const call = callOf(name, changes);
  await ask(call.method, call.path, { body: call.body });
  if ("title" in changes) noteTitles([[name, changes.title]]);
  await readStats();
  await beat();
}

/** `detail` is the class as it is; `onDone` gets the changes that take the new ones back. */
export function DescribeClass({ detail, onClose, onDone }) {
  const name = detail.class;
  const former = partsOf(detail);
  const [typed, setTyped] = useState({ ...former, alt_labels: former.alt_labels.join("\n") });
  const next = { title: typed.title.trim(), description: typed.description.trim(), alt_labels: linesOf(typed.alt_labels) };
  const changes = changesOf(former, next);
  const type = (part) => (event) => setTyped({ ...typed, [part]: event.currentTarget.value });
  const confirm = async () => {
    await describe(name, changes);
    onDone(changesOf(next, former));
  };
  return html`<${Dialog} title=${`Describe ${isolated(name)}`} confirm="Save" needs="learn" disabled=${!Object.keys(changes).length || next.alt_labels.length > MOST_NAMES}
    call=${callOf(name, changes)} onConfirm=${confirm} onClose=${onClose}>
    <${Field} label="Title" hint="The name for people. It is shown in front of the name of the class.">
      <input type="text" value=${typed.title} maxlength=${LONGEST.title} onInput=${type("title")} /><//>
    <${Field} label="Description"><textarea rows="3" value=${typed.description} maxlength=${LONGEST.description} onInput=${type("description")} /><//>
    <${Field} label="Other names" hint=${`One a line, also in other languages; at most ${MOST_NAMES}. The search finds the class by them.`}>
      <textarea rows="3" value=${typed.alt_labels} onInput=${type("alt_labels")} /><//>
  <//>`;
}
