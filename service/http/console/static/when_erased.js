// When messages that are hidden leave the weights and the disk for good.

import { html } from "./html.js";
import { useAccess } from "./access.js";
import { seconds } from "./format.js";

const MOST_HOURS = 172_800; // seconds that are said in hours; more: in days

const spanOf = (value) => (value <= MOST_HOURS ? seconds(value) : `${Math.round(value / 86_400)} days`);

/** Say that a rebuild removes what is hidden, and when it comes. */
export function WhenErased() {
  const wait = Number(useAccess().stats?.settings.MANYCLASS_REBUILD_SECONDS);
  return html`A rebuild removes their influence and their data from the disk for good. ${wait > 0
    ? html`It begins by itself within ${spanOf(wait)}; under <a href="#/operate">Operate</a> it begins at once.`
    : html`It does not begin by itself: begin it under <a href="#/operate">Operate</a>.`}`;
}
