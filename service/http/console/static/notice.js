// The last amendment, named above the page until another page is opened.

import { html } from "./html.js";
import { Status } from "./parts.js";
import { Shared, useShared } from "./shared.js";

const done = new Shared(null);

/** Say that an event was amended: its former part in the weights goes with a rebuild. */
export const sayAmended = (what) => done.set({ what });

addEventListener("hashchange", () => done.set(null));

export function Notice() {
  const said = useShared(done);
  return html`<${Status}>${said && html`${said.what} Its former part in the weights goes with the next rebuild:
    ${" "}<a href="#/operate">Operate</a>.`}<//>`;
}
