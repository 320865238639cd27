// When messages that are hidden leave the weights and the disk for good.

import { html, useEffect } from "./html.js";
import { readStats, useAccess } from "./access.js";
import { plural, seconds } from "./format.js";

const WATCH = 10_000; // milliseconds between two looks whether something still waits
const MOST_HOURS = 172_800; // seconds that are said in hours; more: in days

const spanOf = (value) => (value <= MOST_HOURS ? seconds(value) : `${Math.round(value / 86_400)} days`);

/** Return the longest time from a correction to the rebuild that comes by itself, 0 if none does. */
const useWait = () => Number(useAccess().stats?.settings.MANYCLASS_REBUILD_SECONDS);

/** Say whether a rebuild comes by itself. */
export function WhenRebuilt() {
  const wait = useWait();
  return wait > 0 ? `It begins by itself within ${spanOf(wait)} after a message is erased or corrected.` : "It does not begin by itself.";
}

/** Return when a rebuild begins by itself, if the oldest correction has waited for so many seconds. */
export function whenRebuilt(stats) {
  const wait = Number(stats.settings.MANYCLASS_REBUILD_SECONDS);
  return wait > 0 ? `It begins by itself within ${spanOf(Math.max(60, wait - stats.history.amendment_age_seconds))}.` : "It does not begin by itself.";
}

/** Return the time of the last rebuild, which changes numbers without an event. */
export const useRebuilt = () => useAccess().stats?.history?.last_rebuild?.finished_at;

/** Say that numbers of classes and words include what waits for a rebuild. */
export function WaitingCounts() {
  const waiting = useAccess().stats?.history?.amendments;
  useEffect(() => {
    if (!waiting) return undefined;
    const timer = setInterval(() => readStats().catch(() => {}), WATCH); // the pulse says that the service is away
    return () => clearInterval(timer);
  }, [waiting]);
  return waiting > 0 && html`<p class="hint">The numbers include the former labels of ${plural(waiting, "corrected or erased message")} until the next rebuild: <a href="#/operate">Operate</a>.</p>`;
}

/** Say that a rebuild removes what is hidden, and when it comes. */
export function WhenErased() {
  const wait = useWait();
  return html`A rebuild removes their influence and their data from the disk for good. ${wait > 0
    ? html`It begins by itself within ${spanOf(wait)}; under <a href="#/operate">Operate</a> it begins at once.`
    : html`It does not begin by itself: begin it under <a href="#/operate">Operate</a>.`}`;
}
