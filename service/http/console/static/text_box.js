// The text to rank: one box, or one for each of its parts with a name, as title and body.

import { html, useEffect, useRef, useState } from "./html.js";
import { keepsHistory, may } from "./access.js";
import { get } from "./api.js";

const MOST = 16; // parts of a text
const LONGEST = 100_000;

/** Return the names of the parts of the newest events, the body last. */
async function namesOfParts() {
  if (!keepsHistory() || !may("learn")) return [];
  const { events } = await get("/events?limit=20");
  const names = events.flatMap(({ text }) => (typeof text === "string" ? [] : Object.keys(text ?? {})));
  return [...new Set(names)].slice(0, MOST).sort((a, b) => /body/i.test(a) - /body/i.test(b));
}

/** Return why a part, [name, text] as typed, cannot be sent; "" if it can, or has no text. */
function faultOf(parts, at) {
  const name = parts[at][0].trim();
  if (!parts[at][1].trim()) return "";
  if (!name) return `Part ${at + 1} has no name. Name it, or take its text away.`;
  const isTwice = parts.some((each, place) => place < at && each[0].trim() === name && each[1].trim());
  return isTwice ? `Another part is named ${name} too. Choose another name for part ${at + 1}.` : "";
}

/** Return what was typed, a string or [name, text] of each part, as it is sent; null if nothing is. */
export function textOf(typed) {
  if (typeof typed === "string") return typed.trim() ? typed : null;
  const filled = typed.filter((each) => each[1].trim());
  if (!filled.length || typed.some((_, at) => faultOf(typed, at))) return null;
  return Object.fromEntries(filled.map(([name, its]) => [name.trim(), its]));
}

function Part({ parts, at, nameRef, textRef, onPart }) {
  const [name, text] = parts[at];
  const fault = faultOf(parts, at);
  const id = `fault-${at}`;
  return html`<div class="row">
      <label class="field"><span>Name of part ${at + 1}</span><input type="text" ref=${nameRef} value=${name} maxlength="100"
        aria-invalid=${fault !== ""} aria-describedby=${id} onInput=${(event) => onPart([event.currentTarget.value, text])} /></label>
      <label class="field big"><span>${name.trim() || "Text"}</span><textarea ref=${textRef} rows=${at ? 3 : 1} value=${text} maxlength=${LONGEST}
        onInput=${(event) => onPart([name, event.currentTarget.value])}></textarea></label>
    </div>
    <div role="alert" id=${id}>${fault && html`<p class="problem">${fault} Until then there are no suggestions.</p>`}</div>`;
}

/** `typed` is a string, or [name, text] of each part; `isUnknown` says that it has no class. */
export function TextBox({ typed, isUnknown, onType }) {
  const [first, newest] = [useRef(), useRef()]; // a text, and the name of a part
  const number = typeof typed === "string" ? 0 : typed.length;
  const former = useRef(0);
  const [taught, setTaught] = useState([]);
  useEffect(() => {
    namesOfParts().then(setTaught, () => {}); // the usual names do
  }, [isUnknown]);
  useEffect(() => {
    (former.current && number > former.current ? newest : first).current.focus();
    former.current = number;
  }, [number]);
  const names = taught.length ? taught : ["title", "body"];
  const isOther = number ? typed.some(([name]) => name.trim() && !taught.includes(name.trim())) : isUnknown;
  const hint = taught.length > 0 && isOther && html`<p class="hint">The newest texts with parts have
    ${" "}${taught.join(", ")}. A word is known in its part; capital letters in names count.</p>`;
  // The buttons stand above the boxes, so that Tab goes from the text to its ranking.
  if (typeof typed === "string")
    return html`<p><button type="button" class="quiet"
        onClick=${() => onType(names.map((name, at) => [name, names[at + 1] ? "" : typed]))}>Separate title and body</button></p>
      <label class="field big"><span>Text of the message</span>
        <textarea ref=${first} rows="2" value=${typed} placeholder="Type a message: suggestions follow as you type" maxlength=${LONGEST}
          onInput=${(event) => onType(event.currentTarget.value)}></textarea></label>${hint}`;
  return html`<p><button type="button" class="quiet" disabled=${number >= MOST} onClick=${() => onType([...typed, ["", ""]])}>Add a part</button>${" "}
      <button type="button" class="quiet" onClick=${() => onType(typed.map(([, its]) => its).filter(Boolean).join(" "))}>One text again</button></p>
    ${typed.map((_, at) => html`<${Part} key=${at} parts=${typed} at=${at} nameRef=${at === number - 1 ? newest : undefined} textRef=${at ? undefined : first}
      onPart=${(part) => onType(typed.with(at, part))} />`)}${hint}`;
}
