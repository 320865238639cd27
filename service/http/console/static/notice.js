// What was done to an event, named at the foot of the window until another page is opened.

import { html } from "./html.js";
import { Status } from "./parts.js";
import { Shared, useShared } from "./shared.js";

const done = new Shared(null);

/** Say that messages, one or `many`, were amended: their former part in the weights goes with a rebuild. */
export const sayAmended = (what, many = false) => done.set({ what, waits: many ? "their" : "its" });

/** Say what was done to an event without a change of its part. */
export const sayKept = (what) => done.set({ what, waits: null });

/** Say what was done on the page that is opened next. */
export const sayThere = (what) => addEventListener("hashchange", () => sayKept(what), { once: true });

addEventListener("hashchange", () => done.set(null));

export function Notice() {
  const said = useShared(done);
  return html`<${Status} kind="notice">${said && html`<p>${said.what}
    ${said.waits && html` The next rebuild removes ${said.waits} former effect on the suggestions: <a href="#/operate">Operate</a>.`}
    ${" "}<button type="button" class="quiet" onClick=${() => done.set(null)}>Close</button></p>`}<//>`;
}
