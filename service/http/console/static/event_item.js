// A taught event in a list: its facts, its text, and the calls that correct and delete it.

import { html, useState } from "./html.js";
import { ask, path } from "./api.js";
import { ClassField } from "./class_field.js";
import { isolated, time } from "./format.js";
import { useNewClass } from "./new_class.js";
import { sayAmended, sayKept } from "./notice.js";
import { Action, Dialog, Problem, useTask } from "./parts.js";
import { beat } from "./pulse.js";
import { ClassName, called } from "./titles.js";
import { WhenErased } from "./when_erased.js";

const SHOWN_FEATURES = 60;

/** The instance of an event, or of a ranking, as it was sent; `isCut` says that its text goes on. */
export function InstanceText({ text, features, isCut = false }) {
  const end = isCut ? "…" : "";
  if (typeof text === "string") return html`<p class="text">${text}${end}</p>`;
  if (text) return html`${Object.entries(text).map(([field, each]) => html`<p class="text" key=${field}><b>${field}</b> ${each}</p>`)}${end && html`<p class="hint">… a part of it is cut</p>`}`;
  const named = Object.entries(features ?? {});
  if (named.length === 0) return html`<p class="hint">No words: only an embedding was sent.</p>`;
  const more = named.length - SHOWN_FEATURES;
  return html`<p class="text">${named.slice(0, SHOWN_FEATURES).map(([name, value]) => (value === 1 ? name : `${name}: ${value}`)).join(" · ")}
    ${more > 0 ? ` and ${more} more` : ""}</p>`;
}

const NAMED_BY = 40; // characters

/** Return the beginning of the text of an event, which names it in a sentence; without words its id. */
function nameOf({ text, features, id, key }) {
  const words = text === null ? Object.keys(features ?? {}) : typeof text === "string" ? [text] : Object.values(text);
  if (words.length === 0) return isolated(id ?? key);
  const signs = [...words.join(" ").trim().replace(/\s+/g, " ")];
  const isLong = signs.length > NAMED_BY;
  const shown = signs.slice(0, NAMED_BY).join("");
  return `“${isolated(isLong ? shown.replace(/ \S*$/, "") : shown)}${isLong ? "…" : ""}”`;
}

const MADE = /^(seq:\d+|console-\d+-\d+|(import|sample)-.+-\d+|[0-9a-f]{12,}-\d+)$/; // by a program, for one of its calls

/** The link to an event: its id, if people gave it one. */
function EventLink({ event: { id, key } }) {
  const shown = id ?? key;
  return html`<a class="id" title=${shown} href=${`#/events?id=${encodeURIComponent(key)}`}>${MADE.test(shown) ? "open" : shown}</a>`;
}

/** Where the true class stood before the event was learned. */
export function RankBefore({ event }) {
  if (!event.outcome_known) return html`<span>its position was not recorded</span>`;
  if (event.rank_before === null) return html`<span>was not among the suggestions</span>`;
  return html`<span>was suggestion no. ${event.rank_before}</span>`;
}

const same = (some, others) => some.length === others.length && some.every((each) => others.includes(each));

export function Correct({ event, proposed, onClose, onDone }) {
  const [names, setNames] = useState(proposed ? [proposed] : event.classes);
  const classes = [...new Set(names.map((each) => each.trim()).filter(Boolean))];
  const isSame = same(classes, event.classes);
  const call = { method: "PUT", path: path("events", event.key), body: { classes } };
  const { mayUse, dismiss, question } = useNewClass((name, instead) => setNames(names.map((each) => (each.trim() === name ? instead : each))));
  const confirm = async () => {
    if (!(await mayUse(...classes))) return false;
    await ask(call.method, call.path, { body: call.body });
    sayAmended(`The label of ${nameOf(event)} is corrected.`);
    await beat();
    onDone?.();
    return true;
  };
  return html`<${Dialog} title="Correct the label" confirm="Correct" kind=${question ? "" : "primary"} needs="learn" disabled=${!classes.length || isSame}
    call=${call} onConfirm=${confirm} onClose=${onClose}>
    <${InstanceText} ...${event} />
    <p class="hint">Its label is ${event.classes.map(called).join(", ") || "no class"}.${isSame && " Choose another class to correct it."}</p>
    ${names.map((name, index) => html`<${ClassField} key=${index} label=${index ? `Class ${index + 1}` : "True class"} value=${name}
      onInput=${(value) => {
        setNames(names.with(index, value));
        dismiss();
      }} />`)}
    <p><button type="button" class="quiet" onClick=${() => setNames([...names, ""])}>Add a class</button></p>
    ${question}
    <p class="hint">It is learned with this label at once. After the next rebuild it is as if it had always been so.</p>
  <//>`;
}

function Delete({ event, onClose, onDone }) {
  const say = () => {
    sayAmended(`The message ${nameOf(event)} is erased.`);
    onDone?.();
  };
  return html`<${Dialog} title="Erase this message" confirm="Erase" kind="danger" needs="admin" call=${{ method: "DELETE", path: path("events", event.key) }} onDone=${say} onClose=${onClose}>
    <${InstanceText} ...${event} />
    <p>${event.classes.map(called).join(", ")}</p>
    <p class="hint">The message is hidden at once. <${WhenErased} /></p>
  <//>`;
}

/** `onSelect`: a box in front selects the event. */
export function EventItem({ event, note, proposed, onChanged, isSelected, onSelect }) {
  const [dialog, setDialog] = useState(null);
  const close = () => setDialog(null);
  const task = useTask();
  const keepLabel = () => task.run(async () => {
    await ask("PUT", path("events", event.key), { body: { classes: event.classes } });
    sayKept(`The message ${nameOf(event)} keeps its label.`);
    await beat();
    onChanged?.();
  });
  return html`<li data-key=${event.key}>
    <div class="facts">
      ${onSelect && html`<input type="checkbox" checked=${isSelected} onChange=${onSelect} aria-label=${`Select ${nameOf(event)}`} />`}
      ${event.time !== null && html`<span>${time(event.time)}</span>`}
      ${event.source && html`<a href=${`#/events?source=${encodeURIComponent(event.source)}`}>${event.source}</a>`}
      ${event.reviewer && html`<span>labelled by <a href=${`#/events?reviewer=${encodeURIComponent(event.reviewer)}`}>${event.reviewer}</a></span>`}
      ${event.batch && html`<span>in <a href=${`#/events?batch=${encodeURIComponent(event.batch)}`}>${event.batch}</a></span>`}
      <${RankBefore} event=${event} />
      ${event.corrected && html`<span>corrected</span>`}
      ${event.weight !== 1 && html`<span>weight ${event.weight}</span>`}
      <${EventLink} event=${event} />
    </div>
    <${InstanceText} ...${event} />
    <div>${event.classes.map((name) => html`<span class="tag" key=${name}><${ClassName} name=${name} /></span>`)}
      ${event.not.map((name) => html`<span class="tag not" key=${name}>not <${ClassName} name=${name} /></span>`)}
      ${note}</div>
    <div class="actions">
      <${Action} needs="learn" onClick=${() => setDialog("correct")} aria-label=${`Correct ${nameOf(event)}`}>Correct<//>
      ${proposed && event.classes.length > 0 && !event.corrected && html`<${Action} needs="learn" busy=${task.busy}
        onClick=${keepLabel} aria-label=${`Keep the label of ${nameOf(event)}`}>The label is right<//>`}
      <${Action} needs="admin" onClick=${() => setDialog("delete")} aria-label=${`Erase ${nameOf(event)}`}>Erase<//>
    </div>
    <${Problem} error=${task.error} />
    ${dialog === "correct" && html`<${Correct} event=${event} proposed=${proposed} onClose=${close} onDone=${onChanged} />`}
    ${dialog === "delete" && html`<${Delete} event=${event} onClose=${close} onDone=${onChanged} />`}
  </li>`;
}
