// The advisor: other learners and analyses of texts, compared with the present ones on the history.

import { html, useEffect, useState } from "./html.js";
import { ask, get, pause } from "./api.js";
import { may } from "./access.js";
import { CallText } from "./call_text.js";
import { bytes, count, percent, plural, seconds, time } from "./format.js";
import { Action, Dialog, NeedsScope, Problem, Status, useTask } from "./parts.js";

const EVERY = 1; // seconds
const START = { method: "POST", path: "/advice", body: {} };

const signed = (share) => `${share > 0 ? "+" : ""}${(100 * share).toFixed(1)}`;

/** A share of messages, and how many points more or less than with the present learner. */
function Share({ name, share, gain }) {
  return html`<span>${name} <strong>${percent(share, 1)}</strong>${gain && html` (${signed(gain.mean)} points, ${signed(gain.low)} to ${signed(gain.high)})`}</span>`;
}

function UseIt({ candidate, present, onClose }) {
  const isText = candidate.text !== present.text;
  const call = isText
    ? { method: "POST", path: "/rebuild", body: { text: candidate.text } }
    : { method: "POST", path: "/learners", body: { learner: candidate.learner, history: true } };
  return html`<${Dialog} title=${isText ? `Analyse texts with ${candidate.text}` : `Make ${candidate.learner} a shadow`}
    confirm=${isText ? "Rebuild with it" : "Make it a shadow"} needs="admin" call=${call} onClose=${onClose}>
    <p>${isText
      ? "All texts of the history are analysed again, and the service switches to the resulting state."
      : "It learns the whole history, and every message from then on, beside the present learner. The page Live compares both and can promote it."}
      ${" "}The service ranks and learns meanwhile; this takes about as long as the history is to learn.</p>
  <//>`;
}

/** The candidates, the present learner first, then those that are surely better. */
function inOrder([present, ...others]) {
  const gain = (each) => each.r1_gain?.mean ?? -1;
  return [present, ...others.sort((a, b) => b.advised - a.advised || gain(b) - gain(a))];
}

function Candidates({ advice, onUse }) {
  const [present] = advice;
  return html`<ul class="list dense" aria-label="Learners compared">${inOrder(advice).map((each) => html`<li key=${`${each.learner} ${each.text}`}>
    <div><code>${each.learner}</code>${each.text !== present.text && html` with <span class="tag">${each.text}</span>`}
      ${each === present && html` <span class="hint">now, with ${each.text}</span>`}${each.advised && html` <strong class="good">surely better</strong>`}</div>
    ${each.failed
      ? html`<div class="facts">${each.failed}</div>`
      : html`<div class="facts"><${Share} name="First suggestion right" share=${each.r1} gain=${each.r1_gain} /><${Share} name="among five" share=${each.r5} gain=${each.r5_gain} />
        <span>${seconds(each.learn_seconds)} to learn, ${seconds(each.rank_seconds)} to suggest, ${bytes(each.bytes)}</span></div>`}
    ${each !== present && !each.failed && html`<div class="actions"><${Action} needs="admin" aria-label=${`Use ${each.learner} with ${each.text}`} onClick=${() => onUse(each)}>Use it<//></div>`}</li>`)}</ul>`;
}

const ENDS = { done: "Compared", stopped: "Stopped", failed: "Failed" };

export function Advice() {
  const [found, setFound] = useState(null);
  const [used, setUsed] = useState(null);
  const task = useTask();
  const follow = async (isHere) => {
    for (let state = "running"; state === "running" && isHere(); ) {
      const next = await get("/advice");
      if (isHere()) setFound(next);
      state = next.state;
      if (state === "running") await pause(EVERY);
    }
  };
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let here = true;
    task.run(() => follow(() => here));
    return () => {
      here = false;
    };
  }, [turn]);
  const call = (method) => task.run(async () => {
    setFound(await ask(method, "/advice", method === "POST" ? { body: {} } : undefined));
    setTurn((times) => times + 1);
  });
  const isRunning = found?.state === "running";
  const best = found?.advice.length > 0 ? inOrder(found.advice).find((each) => each.advised) : null;
  return html`<p>Would another learner be better? The service tries presets, options, <code>path</code> if the classes have a taxonomy, and
      other analyses of the texts on its newest messages, each suggested before it is learned. Nothing changes meanwhile; the work has a low priority.</p>
    <div class="actions">${isRunning
      ? html`<${Action} needs="admin" onClick=${() => call("DELETE")}>Stop<//>`
      : html`<${Action} kind="primary" needs="admin" onClick=${() => call("POST")}>Compare learners<//>`}</div>
    ${!may("admin") && html`<${NeedsScope} scope="admin" to="compare learners" />`}
    <${Problem} error=${task.error} />
    <${Status}>${isRunning && html`<label>${found.of ? `Candidate ${found.at + 1} of ${found.of}: ${found.learner}, ${found.text}` : "Reading the history …"}
      <progress max=${found.of || 1} value=${found.of ? found.at + found.share : undefined}></progress></label>`}
      ${found && ENDS[found.state] && html`<p>${ENDS[found.state]} ${time(found.ended_at)}${found.counted > 0 && `, on the newest ${count(found.counted)} of ${plural(found.events, "message")}`}.
        ${found.error && ` ${found.error}.`}
        ${found.state === "done" && (best ? html` Best: <code>${best.learner}</code>${best.text !== found.advice[0].text && ` with ${best.text}`}.` : " No candidate is surely better: the present learner fits.")}</p>`}
    <//>
    ${found?.advice.length > 0 && html`<${Candidates} advice=${found.advice} onUse=${setUsed} />
      <p class="hint">In brackets: the difference from the present learner on the same messages, and its 99 % interval. Other learners may be better
        too; more messages would tell.</p>`}
    ${found?.notes.map((note) => html`<p class="hint" key=${note}>${note}.</p>`)}
    <${CallText} call=${START} />
    ${used && html`<${UseIt} candidate=${used} present=${found.advice[0]} onClose=${() => setUsed(null)} />`}`;
}
