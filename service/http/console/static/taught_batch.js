// A batch, the file that events came with: the question before it is taught once more, and the way to take it back.

import { html, useState } from "./html.js";
import { ask, withParameters } from "./api.js";
import { keepsHistory, may } from "./access.js";
import { CallText } from "./call_text.js";
import { count, isolated, plural } from "./format.js";
import { MOST, OriginCounts, taughtOf, useOriginCounts } from "./origin_counts.js";
import { Dialog } from "./parts.js";
import { beat } from "./pulse.js";
import { WhenErased } from "./when_erased.js";

/** Return the number of events of a batch that some events would repeat: those that have an id are learned once. */
export async function repeatedBy(events, batch) {
  if (!batch || !keepsHistory()) return 0;
  return events.some((each) => each.event_id === undefined) ? taughtOf({ batch }) : 0;
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

function Question({ batch, onConfirm, onClose }) {
  const counts = useOriginCounts({ batch });
  return html`<${Dialog} title="Take this import back?" confirm="Take it back" kind="danger" needs="admin" onConfirm=${onConfirm} onClose=${onClose}>
    <${OriginCounts} counts=${counts} />
    <p>All messages of the file <strong>${batch}</strong> are hidden and leave Review, also those that people have labelled meanwhile.
      ${" "}<${WhenErased} /></p>
    <${CallText} call=${callFor(batch)} />
  <//>`;
}

/** A button that deletes all messages of a batch, after a question. */
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
    return html`<p role="status">The import ${isolated(batch)} is taken back: ${plural(deleted, "taught message")}, and all that waited for review. <${WhenErased} /></p>`;
  return html`<div class="actions"><button type="button" onClick=${() => setAsked(true)}>Take this import back</button></div>
    ${isAsked && html`<${Question} batch=${batch} onConfirm=${confirm} onClose=${() => setAsked(false)} />`}`;
}
