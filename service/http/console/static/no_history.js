// A sentence for stores that keep no history of events.

import { html } from "./html.js";

export function NoHistory({ needed }) {
  return html`<p class="hint">This service keeps no history of its messages (Redis needs
    ${" "}<code>MANYCLASS_ARCHIVE</code>, and <code>MANYCLASS_HISTORY=no</code> turns it off). ${needed}</p>`;
}
