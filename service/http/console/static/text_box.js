// The text to rank: one box, or one for each of its parts with a name, as title and body.

import { html, useState } from "./html.js";

const MOST = 16; // parts of a text
const LONGEST = 100_000;

/** Return whether a text, or each of its parts, has nothing but blanks. */
export const isBlank = (text) => !(typeof text === "string" ? [text] : Object.values(text)).some((each) => each.trim());

/** Return the parts that have a name and a text; of two with one name the first. */
const textOf = (parts) => Object.fromEntries(parts.filter(([name, text], at) => name && text.trim() && parts.findIndex((each) => each[0] === name) === at));

export function TextBox({ text, inputRef, onText }) {
  const [parts, setParts] = useState(typeof text === "string" ? [] : Object.entries(text)); // as they are typed
  const put = (next) => {
    setParts(next);
    onText(textOf(next));
  };
  // The buttons stand above the boxes, so that Tab goes from the text to its ranking.
  if (typeof text === "string")
    return html`<p><button type="button" class="quiet" onClick=${() => put([["title", ""], ["body", text]])}>Title and body apart</button></p>
      <label class="field big"><span>Text to rank</span>
        <textarea ref=${inputRef} rows="2" value=${text} placeholder="Type a text: it is ranked as you type" maxlength=${LONGEST}
          onInput=${(event) => onText(event.currentTarget.value)}></textarea></label>`;
  return html`<p><button type="button" class="quiet" disabled=${parts.length >= MOST} onClick=${() => put([...parts, ["", ""]])}>Add a part</button>${" "}
      <button type="button" class="quiet" onClick=${() => onText(parts.map(([, its]) => its).filter(Boolean).join(" "))}>One text again</button></p>
    ${parts.map(([name, its], at) => html`<div class="row" key=${at}>
      <label class="field"><span>Name of part ${at + 1}</span><input type="text" value=${name} maxlength="100"
        onInput=${(event) => put(parts.with(at, [event.currentTarget.value.trim(), its]))} /></label>
      <label class="field big"><span>${name || "Text"}</span><textarea ref=${at ? undefined : inputRef} rows=${at ? 3 : 1} value=${its} maxlength=${LONGEST}
        onInput=${(event) => put(parts.with(at, [name, event.currentTarget.value]))}></textarea></label>
    </div>`)}`;
}
