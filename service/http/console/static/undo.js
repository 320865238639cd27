// Undo of a taught event: DELETE /events/{key}, and a rebuild to take its part out of the weights.

import { html, useState } from "./html.js";
import { ask, path } from "./api.js";
import { keepsHistory, may } from "./access.js";
import { CallText } from "./call_text.js";
import { Problem, useTask } from "./parts.js";
import { beat } from "./pulse.js";

/** A button that deletes an event, and after it one that rebuilds. `onDone` is called after each. */
export function Undo({ eventKey, onDone }) {
  const [deleted, setDeleted] = useState(false);
  const [rebuilt, setRebuilt] = useState(null);
  const task = useTask();
  if (!keepsHistory())
    return html`<span class="hint">No undo here: this service keeps no history, and its messages cannot be
      erased.</span>`;
  if (!may("admin"))
    return html`<span class="hint">To undo it, a key of the scope admin is needed.</span>`;
  const call = deleted ? { method: "POST", path: "/rebuild" } : { method: "DELETE", path: path("events", eventKey) };
  const send = () => task.run(async () => {
    (deleted ? setRebuilt : setDeleted)(await ask(call.method, call.path));
    await beat();
    onDone?.();
  });
  return html`<span class="undo">
    ${!deleted && html`<button type="button" onClick=${send} disabled=${task.busy}>Undo</button>`}
    ${deleted && !rebuilt && html`<span>The message is hidden. It still influences the suggestions until the next rebuild.</span>
      <button type="button" onClick=${send} disabled=${task.busy}>${task.busy ? "Rebuilding …" : "Rebuild now"}</button>`}
    ${rebuilt && html`<span>Undone, as if the message had never been taught.</span>`}
    <${Problem} error=${task.error} />
    <${CallText} call=${call} />
  </span>`;
}
