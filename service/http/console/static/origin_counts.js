// Counts of a source, a reviewer or an import: messages that were taught, and messages that wait for review.

import { html, useEffect, useState } from "./html.js";
import { get, withParameters } from "./api.js";
import { count, plural } from "./format.js";
import { plainLabel } from "./label_words.js";

export const MOST = 10_000; // taught messages that are counted
const PAGE = 1000;
const MOST_WAITING = 100;

/** Return the number of taught messages that parameters choose, at most MOST + 1. */
export async function taughtOf(parameters) {
  let taught = 0;
  let after;
  do {
    const page = await get(withParameters("/events", { ...parameters, limit: PAGE, after }));
    taught += page.events.length;
    after = page.next;
  } while (after !== null && taught <= MOST);
  return Math.min(taught, MOST + 1);
}

/** Return the number of messages of a source or an import that wait; a reviewer has none of them. */
const waitingOf = async ({ source, batch }) => (source || batch ? (await get(withParameters("/review", { source, batch, limit: 1 }))).waiting : 0);

/** Return the other spellings of an origin among the newest messages that have its words, and among those that wait. */
async function spellingsOf(origin) {
  const [[kind, name]] = Object.entries(origin);
  const pages = await Promise.all([get(withParameters("/events", { text: name, limit: PAGE })), get(`/review?limit=${MOST_WAITING}`)]);
  const names = [...pages[0].events, ...pages[1].instances].map((each) => each[kind]).filter(Boolean);
  return [...new Set(names)].filter((each) => each !== name && plainLabel(each) === plainLabel(name));
}

const UNKNOWN = { taught: null, waiting: null, spellings: [] };

/** Return { taught, waiting, spellings } of an origin, null while they are counted; the numbers are null if that fails. */
export function useOriginCounts(origin) {
  const [counts, setCounts] = useState(null);
  useEffect(() => {
    Promise.all([taughtOf(origin), waitingOf(origin), spellingsOf(origin)])
      .then(([taught, waiting, spellings]) => setCounts({ taught, waiting, spellings }), () => setCounts(UNKNOWN));
  }, []);
  return counts;
}

const taughtText = (taught) => (taught > MOST ? `more than ${count(MOST)} messages` : plural(taught, "message"));

/** "12 messages were taught, and 3 wait for review." */
export function OriginCounts({ counts }) {
  if (!counts) return html`<p role="status">Counting …</p>`;
  if (counts.taught === null) return html`<p role="status">The messages could not be counted.</p>`;
  return html`<p role="status"><strong>${taughtText(counts.taught)}</strong> ${counts.taught === 1 ? "was" : "were"} taught, and <strong>${count(counts.waiting)}</strong> ${counts.waiting === 1 ? "waits" : "wait"} for review.</p>`;
}

/** Return whether there is nothing to erase. */
export const isNothing = (counts) => counts !== null && counts.taught === 0 && counts.waiting === 0;
