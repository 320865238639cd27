// How far two reviewers agree about the messages that both labelled.

import { html, useState } from "./html.js";
import { get } from "./api.js";
import { CallText } from "./call_text.js";
import { InstanceText } from "./event_item.js";
import { count, percent, plural } from "./format.js";
import { Problem, useAgain, useLater, useTask } from "./parts.js";
import { ClassName } from "./titles.js";

const CALL = { method: "GET", path: "/review/agreement" };
const KAPPA = "Cohen’s κ: agreement beyond chance. 1 is full agreement, 0 is no better than chance.";

const who = ({ reviewer, classes }) => html`<strong>${reviewer}</strong>: ${classes.map((each) => html`<span class="tag" dir="auto" key=${each}><${ClassName} name=${each} /></span>`)}`;

/** `changes`: read again when it changes. */
export function Agreement({ changes }) {
  const [found, setFound] = useState(null);
  const task = useTask();
  useLater((signal) => task.run(async () => setFound(await get(CALL.path, { signal }))), 300, [changes, useAgain(task.error)]);
  if (!found) return html`<${Problem} error=${task.error} />`;
  if (!found.percent && !found.pairs) return html`<details><summary>Have some messages labelled twice</summary>
    <p class="hint">With the setting <code>MANYCLASS_REVIEW_TWICE=10</code>, 10 % of the messages are given to a second reviewer; this page then shows how far two people agree.</p></details>`;
  const { pairs, equal, kappa, disagreements } = found;
  return html`<section aria-label="Agreement"><h2>Agreement</h2>
    <p>${found.percent} % of the messages are given to a second reviewer, who does not see the first label.
      ${" "}${pairs ? html`<strong>${percent(equal / pairs)} of ${plural(pairs, "message")} have the same two labels.</strong>` : "None has two labels yet."}
      ${kappa !== null && html` <span title=${KAPPA}>Cohen’s κ is <strong>${kappa.toFixed(2)}</strong>.</span>`}</p>
    ${kappa !== null && html`<p class="hint">${KAPPA}</p>`}
    ${disagreements.length > 0 && html`<details><summary>Different labels (${count(pairs - equal)})</summary>
      <p class="hint">The first label was taught, unless the second reviewer replaced it.</p>
      <ul class="list">${disagreements.map(({ id, text, first, second }) => html`<li key=${id}>
        ${text !== null && html`<${InstanceText} text=${text} />`}
        <div>${who(first)} · ${who(second)} <a href=${`#/events?id=${encodeURIComponent(id)}`}>Open it to decide</a></div></li>`)}</ul></details>`}
    <${CallText} call=${CALL} />
  </section>`;
}
