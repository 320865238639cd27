// Teaching that is paused: why, in words, on every page.

import { html } from "./html.js";
import { useAccess } from "./access.js";
import { Status } from "./parts.js";
import { usePulse } from "./pulse.js";

const WORDS = {
  store_full: "the storage of the service is full",
  store_unavailable: "the storage of the service cannot be reached",
  store_slow: "the storage of the service is slow to answer",
  state_held: "the service is saving or replacing what it has learned",
  recovering: "the service is loading what it has learned",
  memory: "the service has no memory left",
};

/** Say why teaching is paused, and whether it goes on by itself. */
export function pauseText({ reason, detail }) {
  if (reason === "failed") return `Teaching has stopped: ${detail}. Tell the person who runs the service.`;
  return `Teaching is paused: ${WORDS[reason] ?? detail}. It continues by itself as soon as possible.`;
}

const LOST = ["unreachable", "not ready"];

export function PauseBanner() {
  const { paused, status } = usePulse();
  const { state } = useAccess();
  if (LOST.includes(status) && state === "granted")
    return html`<${Status} kind="banner"><p>${status === "unreachable" ? "The connection to the service is lost." : "The service is not ready."} This page stays as it is, and tries again by itself.</p><//>`;
  return html`<${Status} kind="banner">${paused && html`<p>${pauseText(paused)} Suggestions still work. <a href="#/operate">Operate</a></p>`}<//>`;
}
