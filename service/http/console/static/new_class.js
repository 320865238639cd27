// The question before a class is created: it may be a known one, misspelt.

import { html, useEffect, useRef, useState } from "./html.js";
import { ClassField, classesFrom, searched } from "./class_field.js";
import { Problem, useTask } from "./parts.js";
import { ClassName } from "./titles.js";

const COMPARED = 1000; // classes of one prefix
const SHOWN = 4;
export const LONGEST = 200; // characters of a name that is compared: a comparison takes the square of them

/** Return how many characters to insert, delete or replace make one text of another. */
export function distance(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let at = 1; at <= one.length; at += 1) {
    const next = [at];
    for (let to = 1; to <= other.length; to += 1)
      next.push(Math.min(row[to] + 1, next[to - 1] + 1, row[to - 1] + (one[at - 1] !== other[to - 1])));
    row = next;
  }
  return row.at(-1);
}

/** Return null if a class has the name, else the classes that have it as a title, and those of close names, the closest first. */
export async function namesCloseTo(name) {
  if ((await classesFrom(name, 1))[0] === name) return null; // the shortest of a prefix is listed first
  if (name.length > LONGEST) return [];
  const wanted = name.toLowerCase();
  const titled = (await searched(name, SHOWN)).filter((each) => each.title || each.alt_labels.length).map((each) => each.class);
  const apart = (each) => (each.toLowerCase().startsWith(wanted) ? 0 : distance(wanted, each.toLowerCase()));
  for (const length of [Math.ceil(name.length / 2), 1, 0]) {
    const found = (await classesFrom(name.slice(0, length), COMPARED)).filter((each) => each.length <= LONGEST).map((each) => [apart(each), each]);
    const close = found.filter(([steps]) => steps <= Math.max(1, name.length / 3)).sort(([a], [b]) => a - b);
    if (close.length) return [...new Set([...titled, ...close.map(([, each]) => each)])].slice(0, SHOWN);
  }
  return titled;
}

function Question({ name, close, onChoose, onCreate }) {
  const box = useRef();
  useEffect(() => box.current.querySelector("button").focus(), [name]);
  return html`<div class="card" role="group" aria-label="A new class" ref=${box}>
    <p role="alert"><strong>${name}</strong> is a new class.${close.length > 0 && " Did you mean one of these?"}</p>
    <div class="actions">${close.map((each, at) => html`<button type="button" key=${each} class=${at ? "" : "primary"} onClick=${() => onChoose(name, each)}><${ClassName} name=${each} /></button>`)}
      <button class=${close.length ? "" : "primary"} onClick=${() => onCreate(name)}>Create ${name}</button></div>
  </div>`;
}

/** Return { mayUse, question } for a form: `mayUse` is false if a name is neither a class nor created by the user, and
 * the question is then to be shown in the form, which its button "Create" submits again.
 * `onChoose(name, instead)` replaces a name. */
export function useNewClass(onChoose) {
  const [asked, setAsked] = useState(null);
  const created = useRef(new Set());
  const mayUse = async (...names) => {
    for (const name of names) {
      const close = created.current.has(name) ? null : await namesCloseTo(name);
      setAsked(close && { name, close });
      if (close) return false;
    }
    return true;
  };
  const choose = (name, instead) => {
    setAsked(null);
    onChoose(name, instead);
  };
  return { mayUse, dismiss: () => setAsked(null), question: asked && html`<${Question} ...${asked} onChoose=${choose} onCreate=${(name) => created.current.add(name)} />` };
}

/** A form to teach a class by its name; `onTeach` returns true if it was taught. */
export function ClassForm({ label, placeholder, verb = "Teach", inputRef, disabled, onTeach, children }) {
  const [name, setName] = useState("");
  const task = useTask();
  const teach = async (wanted) => {
    if (await onTeach(wanted)) setName("");
  };
  const { mayUse, dismiss, question } = useNewClass((_, instead) => teach(instead));
  const submit = (event) => {
    event.preventDefault();
    const wanted = name.trim();
    if (wanted && !disabled) task.run(async () => (await mayUse(wanted)) && teach(wanted));
  };
  const type = (text) => {
    setName(text);
    dismiss();
  };
  return html`<form onSubmit=${submit}>
    <div class="row"><${ClassField} label=${label} value=${name} onInput=${type} placeholder=${placeholder} inputRef=${inputRef} />
      <button class=${question ? "" : "primary"} disabled=${!name.trim() || disabled || task.busy}>${verb}</button>
      ${children}</div>
    ${question}
    <${Problem} error=${task.error} />
  </form>`;
}
