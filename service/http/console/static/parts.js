// Parts that several pages have: messages, buttons with a scope, dialogs, fields.

import { html, useEffect, useLayoutEffect, useRef, useState } from "./html.js";
import { may } from "./access.js";
import { ask } from "./api.js";
import { CallText } from "./call_text.js";
import { count } from "./format.js";
import { beat, usePulse } from "./pulse.js";

const NO_ANSWER = [0, 502, 503, 504]; // statuses: of no connection, of a proxy, and of a service that starts
const AGAIN = 1000; // milliseconds

/** Return { busy, error, run }: `run` awaits a function and keeps its error to show. */
export function useTask() {
  const [state, setState] = useState({ busy: false, error: null });
  const run = async (action) => {
    setState({ busy: true, error: null });
    try {
      const result = await action();
      setState({ busy: false, error: null });
      return result;
    } catch (error) {
      setState({ busy: false, error: error.name === "AbortError" ? null : error });
      return undefined;
    }
  };
  return { ...state, run };
}

/** Return a number that grows when a call that got no answer, as its error says, is worth another try: once the service answers. */
export function useAgain(error) {
  const [times, setTimes] = useState(0);
  const { status } = usePulse();
  const answers = status === "ready" || status === "paused";
  useEffect(() => {
    if (!answers || !NO_ANSWER.includes(error?.status)) return undefined;
    const timer = setTimeout(() => setTimes((before) => before + 1), AGAIN);
    return () => clearTimeout(timer);
  }, [error, answers]);
  return times;
}

/** Call a function so many milliseconds after a change, with a signal that the next change aborts. */
export function useLater(action, wait, changes) {
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(() => action(abort.signal), wait);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, changes);
}

export function Problem({ error }) {
  return html`<div role="alert">${error && html`<p class="problem">${error.message}</p>`}</div>`;
}

/** Text that screen readers read out when it changes. */
export function Status({ kind = "", children }) {
  return html`<div role="status" class=${`status ${kind}`}>${children}</div>`;
}

/** A button for a call of a scope; without that scope it is disabled and says so. */
export function Action({ needs = "rank", busy = false, kind = "", children, ...rest }) {
  const allowed = may(needs);
  return html`<button type="button" class=${kind} ...${rest} disabled=${rest.disabled || busy || !allowed}
    title=${allowed ? rest.title : `needs a key of the scope ${needs}`}>${children}</button>`;
}

/** A sentence about a scope that the key does not have. */
export function NeedsScope({ scope, to }) {
  if (may(scope)) return null;
  return html`<p class="hint">To ${to}, a key of the scope ${scope} is needed.</p>`;
}

/** A modal dialog; Escape and Cancel close it. Confirm sends `call`, of which `onDone` gets the answer; or calls
 * `onConfirm`, which may be async. It stays in view with an error, or after false.
 * Without `confirm` there is only a button that closes it.
 * `kind` is that of the button: primary, danger, or "" while another one is the primary one. */
export function Dialog({ title, confirm, kind = "primary", needs = "rank", call, onDone, onConfirm, onClose, children, disabled }) {
  const dialog = useRef();
  const task = useTask();
  useLayoutEffect(() => {
    dialog.current.showModal();
  }, []);
  const sent = async () => {
    const answer = await ask(call.method, call.path, { body: call.body });
    await beat();
    onDone?.(answer);
  };
  const submit = async (event) => {
    event.preventDefault();
    const done = await task.run(async () => (await (onConfirm ?? sent)()) !== false);
    if (done) onClose();
  };
  return html`<dialog ref=${dialog} aria-labelledby="dialog-title" onClose=${onClose}>
    <form onSubmit=${submit}>
      <h2 id="dialog-title">${title}</h2>
      ${children}
      <${CallText} call=${call} />
      <${Problem} error=${task.error} />
      <div class="actions">
        ${confirm && html`<button type="submit" class=${kind}
          disabled=${disabled || task.busy || !may(needs)}>${task.busy ? "…" : confirm}</button>`}
        <button type="button" onClick=${onClose}>${confirm ? "Cancel" : "Close"}</button>
      </div>
    </form>
  </dialog>`;
}

/** An input with a label above it. */
export function Field({ label, hint, children }) {
  return html`<label class="field"><span>${label}</span>${children}${hint && html`<small>${hint}</small>`}</label>`;
}

/** Return { shown, more, showAll }: the first of a list, a button that shows all, and what it does. */
export function useFirst(all, size) {
  const [isWhole, setWhole] = useState(false);
  return {
    shown: isWhole ? all : all.slice(0, size),
    showAll: () => setWhole(true),
    more: !isWhole && all.length > size && html`<button type="button" onClick=${() => setWhole(true)}>Show ${count(all.length)}</button>`,
  };
}

/** Facts: [name, value]. */
export function Facts({ of }) {
  return html`<dl class="facts-list">${of.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** The head of a column that sorts a table; `sorted` is plain, reversed or false. */
export function SortHead({ title, sorted, onSort }) {
  const order = { plain: "ascending", reversed: "descending" }[sorted];
  return html`<th scope="col" aria-sort=${order}><button type="button" class="sort" onClick=${onSort}>${title}${sorted && html`<span aria-hidden="true"> ${sorted === "plain" ? "▲" : "▼"}</span>`}</button></th>`;
}

/** A table that scrolls in its own box on a narrow screen. A head is a text, or [text, explanation]. */
export function Table({ label, head, children, kind = "" }) {
  return html`<div class=${`scroll ${kind}`} role="region" aria-label=${label} tabindex="0"><table>
    <thead><tr>${head.map((each) => [each].flat()).map(([text, title]) => html`<th scope="col" key=${text} title=${title}>${text}</th>`)}</tr></thead>
    <tbody>${children}</tbody>
  </table></div>`;
}
