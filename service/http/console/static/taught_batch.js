// A batch, the file that events came with: the question before it is taught once more, and the way to take it back.

import { html, useState } from "./html.js";
import { ask, get, withParameters } from "./api.js";
import { keepsHistory, may } from "./access.js";
import { CallText } from "./call_text.js";
import { count, plural } from "./format.js";
import { Dialog } from "./parts.js";
import { beat } from "./pulse.js";

const MOST = 10_000; // events that are counted
const PAGE = 1000;

/** Return the number of events of a batch in the history, at most MOST + 1. */
async function eventsOf(batch) {
  let events = 0;
  let after;
  do {
    const page = await get(withParameters("/events", { batch, limit: PAGE, after }));
    events += page.events.length;
    after = page.next;
  } while (after !== null && events <= MOST);
  return Math.min(events, MOST + 1);
}

/** Return the number of events of a batch that some events would repeat: those that have an id are learned once. */
export async function repeatedBy(events, batch) {
  if (!batch || !keepsHistory()) return 0;
  return events.some((each) => each.event_id === undefined) ? eventsOf(batch) : 0;
}

export function TeachAgain({ batch, events, onConfirm, onClose }) {
  const number = events > MOST ? `More than ${count(MOST)} messages` : plural(events, "message");
  return html`<${Dialog} title="Teach it again?" confirm="Teach again" needs="learn" onConfirm=${onConfirm} onClose=${onClose}>
    <p>${number} of the file <strong>${batch}</strong> ${events === 1 ? "was" : "were"} taught already. Taught again, a row counts twice.</p>
    <p class="hint">If this is another file, cancel and give it another name.</p>
  <//>`;
}

const callFor = (batch) => ({ method: "DELETE", path: withParameters("/events", { batch }) });

async function takeBack(batch) {
  let deleted = 0;
  let more = true;
  while (more) {
    const answer = await ask("DELETE", callFor(batch).path);
    deleted += answer.deleted;
    more = answer.more;
  }
  return deleted;
}

/** A button that deletes all events of a batch, after a question. */
export function TakeBack({ batch }) {
  const [isAsked, setAsked] = useState(false);
  const [deleted, setDeleted] = useState(null);
  if (!batch || !keepsHistory()) return null;
  if (!may("admin")) return html`<p class="hint">To take this import back, a key of the scope admin is needed.</p>`;
  const confirm = async () => {
    setDeleted(await takeBack(batch));
    await beat();
  };
  if (deleted !== null)
    return html`<p role="status">${plural(deleted, "message")} of ${batch} ${deleted === 1 ? "is" : "are"} taken back. A rebuild, under Operate, removes their influence and their data from the disk for good.</p>`;
  return html`<div class="actions"><button type="button" onClick=${() => setAsked(true)}>Take this import back</button></div>
    ${isAsked && html`<${Dialog} title="Take this import back?" confirm="Take it back" kind="danger" needs="admin" onConfirm=${confirm} onClose=${() => setAsked(false)}>
      <p>All messages that were taught with the file <strong>${batch}</strong> are hidden, and a rebuild removes them for good.</p>
      <${CallText} call=${callFor(batch)} />
    <//>`}`;
}
