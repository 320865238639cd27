// The question before a source is taught once more.

import { html } from "./html.js";
import { get, withParameters } from "./api.js";
import { keepsHistory } from "./access.js";
import { count, plural } from "./format.js";
import { Dialog } from "./parts.js";

const MOST = 10_000; // events that are counted
const PAGE = 1000;

/** Return the number of events of a source in the history, at most MOST + 1. */
export async function eventsOf(source) {
  let events = 0;
  let after;
  do {
    const page = await get(withParameters("/events", { source, limit: PAGE, after }));
    events += page.events.length;
    after = page.next;
  } while (after !== null && events <= MOST);
  return Math.min(events, MOST + 1);
}

/** Return the number of events of a source that some events would repeat: those that have an id are learned once. */
export async function repeatedBy(events, source) {
  if (!source || !keepsHistory()) return 0;
  return events.some((each) => each.source === source && each.event_id === undefined) ? eventsOf(source) : 0;
}

export function TeachAgain({ source, events, onConfirm, onClose }) {
  const number = events > MOST ? `More than ${count(MOST)} events` : plural(events, "event");
  return html`<${Dialog} title="Teach it again?" confirm="Teach again" needs="learn" onConfirm=${onConfirm} onClose=${onClose}>
    <p>${number} of the source <strong>${source}</strong> ${events === 1 ? "was" : "were"} taught already:
      ${" "}<a href=${`#${withParameters("/events", { source })}`}>see them under Events</a>. Taught again, a row counts twice.</p>
    <p class="hint">If this is another file, cancel and choose another source for its events.</p>
  <//>`;
}
