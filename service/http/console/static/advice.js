// The advisor: other learners and analyses of texts, compared with the present ones on the history.

import { html, useEffect, useState } from "./html.js";
import { ask, get, path, pause } from "./api.js";
import { may } from "./access.js";
import { CallText } from "./call_text.js";
import { deskWords } from "./desk_words.js";
import { bytes, count, percent, plural, seconds, time } from "./format.js";
import { Action, Dialog, NeedsScope, Problem, Status, useAgain, useTask } from "./parts.js";
import { readingOf } from "./text_parts.js";

const EVERY = 1; // seconds
const START = { method: "POST", path: "/advice", body: {} };

const signed = (share) => `${share > 0 ? "+" : ""}${(100 * share).toFixed(1)}`;

/** A share of messages, and how many points more or less than with the present learner. */
function Share({ name, share, gain }) {
  return html`<span>${name} <strong>${percent(share, 1)}</strong>${gain && html` (${signed(gain.mean)} points, ${signed(gain.low)} to ${signed(gain.high)})`}</span>`;
}

function UseIt({ candidate, present, onDone, onClose }) {
  const isText = candidate.text !== present.text;
  const call = isText
    ? { method: "POST", path: "/rebuild", body: { text: candidate.text } }
    : { method: "POST", path: "/learners", body: { learner: candidate.learner, history: true } };
  return html`<${Dialog} title=${isText ? "Read messages differently" : `Let ${candidate.learner} learn beside`}
    confirm=${isText ? "Rebuild with it" : "Let it learn beside"} needs="admin" call=${call} onDone=${onDone} onClose=${onClose}>
    <p>${isText
      ? `All messages of the history are read again, now by their ${readingOf(candidate.text)}, and the suggestions then follow from that.`
      : "It learns the whole history, and every message from then on, beside the present learner. The page Live compares both and can promote it."}
      ${" "}The service makes suggestions and learns meanwhile; this takes about as long as the history is to learn.</p>
  <//>`;
}

/** The question before a shadow is removed. */
function Removal({ learner, onDone, onClose }) {
  return html`<${Dialog} title=${`Remove ${learner}`} confirm="Remove" kind="danger" needs="admin" call=${{ method: "DELETE", path: path("learners", learner) }} onDone=${onDone} onClose=${onClose}>
    <p>It learns no longer, and all that it has learned is deleted. Suggestions stay as they are: they come from the present learner.
      ${" "}To have it again, let it learn the history anew.</p>
  <//>`;
}

function Shadows({ learners, onRemove }) {
  if (!learners.length) return null;
  return html`<p>Learning beside the present learner; <a href="#/live">Live</a> compares them and promotes one:</p>
    <ul class="list dense" aria-label="Learners beside the present one">${learners.map((each) => html`<li key=${each}><div><code>${each}</code></div>
      <div class="actions"><${Action} needs="admin" aria-label=${`Remove ${each}`} onClick=${() => onRemove(each)}>Remove<//></div></li>`)}</ul>`;
}

/** The candidates: the present learner, the best one, those that are better, then by their first suggestions. */
function inOrder({ advice: [present, ...others], best }) {
  const gain = (each) => each.r1_gain?.mean ?? -1;
  const isBest = (each) => best !== null && each === others[best - 1];
  return [present, ...others.toSorted((a, b) => isBest(b) - isBest(a) || b.advised - a.advised || gain(b) - gain(a))];
}

/** Return the name of a candidate, with its reading of the texts if that is another one. */
const nameOf = ({ learner, text }, present) => (text === present.text ? learner : `${learner} with ${readingOf(text)}`);

/** Whether a candidate is better than the present learner. */
function Judgement({ each, shadows }) {
  if (each.failed) return null;
  return html`${each.advised && html` <strong class="good">better</strong>`}${each.worse && html` <strong class="worse">worse</strong>`}
    ${!each.advised && !each.worse && html` <span class="hint">no sure difference</span>`}${shadows.includes(each.learner) && html` <span class="hint">learns beside already</span>`}`;
}

function Candidates({ found, shadows, onUse }) {
  const [present] = found.advice;
  const mayUse = (each) => each !== present && !each.failed && !each.worse && !(each.text === present.text && shadows.includes(each.learner));
  return html`<ul class="list dense" aria-label="Learners compared">${inOrder(found).map((each) => html`<li key=${`${each.learner} ${each.text}`}>
    <div><code>${each.learner}</code>${each.text !== present.text && html` with <span class="tag">${readingOf(each.text)}</span>`}
      ${each === present ? html` <span class="hint">now, with ${readingOf(each.text)}</span>` : html`<${Judgement} each=${each} shadows=${shadows} />`}</div>
    ${each.failed
      ? html`<div class="facts">${deskWords(each.failed)}</div>`
      : html`<div class="facts"><${Share} name="First suggestion right" share=${each.r1} gain=${each.r1_gain} /><${Share} name="among the first five" share=${each.r5} gain=${each.r5_gain} />
        <span>${seconds(each.learn_seconds)} to learn, ${seconds(each.rank_seconds)} to suggest, ${bytes(each.bytes)}</span></div>`}
    ${mayUse(each) && html`<div class="actions"><${Action} needs="admin" aria-label=${`Use ${nameOf(each, present)}`} onClick=${() => onUse(each)}>${each.advised ? "Use it" : "Try it"}<//></div>`}</li>`)}</ul>`;
}

/** The verdict of a comparison that is done. */
function Verdict({ found }) {
  const present = found.advice[0];
  if (present.failed) return html` The present learner was not compared: ${deskWords(present.failed)}.`;
  if (found.best === null) return " Nothing tried is better than the present learner by more than its error.";
  const best = found.advice[found.best];
  return html` Best: <code>${best.learner}</code>${best.text !== present.text && ` with ${readingOf(best.text)}`}, with the first suggestion right in
    ${" "}<strong>${signed(best.r1_gain.mean)} points</strong>, and among the first five in ${signed(best.r5_gain.mean)} points.`;
}

const ENDS = { done: "Compared", stopped: "Stopped", failed: "Failed" };

export function Advice() {
  const [found, setFound] = useState(null);
  const [used, setUsed] = useState(null);
  const [removed, setRemoved] = useState(null);
  const [shadows, setShadows] = useState([]);
  const task = useTask();
  const follow = async (isHere) => {
    for (let state = "running"; state === "running" && isHere(); ) {
      const next = await get("/advice");
      if (isHere()) setFound(next);
      state = next.state;
      if (state === "running") await pause(EVERY);
    }
  };
  const findShadows = async () => {
    const { learners } = await get("/learners");
    setShadows(learners.filter((each) => !each.primary).map((each) => each.learner));
  };
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let here = true;
    task.run(async () => {
      await findShadows();
      await follow(() => here);
    });
    return () => {
      here = false;
    };
  }, [turn, useAgain(task.error)]);
  const call = (method) => task.run(async () => {
    setFound(await ask(method, "/advice", method === "POST" ? { body: {} } : undefined));
    setTurn((times) => times + 1);
  });
  const isRunning = found?.state === "running";
  return html`<p>Would another learner be better? The service tries other learners and options, one that follows the taxonomy if there is one, and
      other ways to read the texts, on its newest messages, each with its suggestions before it is learned. Nothing changes meanwhile; the work has a low priority.</p>
    <div class="actions">${isRunning
      ? html`<${Action} needs="admin" onClick=${() => call("DELETE")}>Stop<//>`
      : html`<${Action} kind="primary" needs="admin" onClick=${() => call("POST")}>Compare learners<//>`}</div>
    ${!may("admin") && html`<${NeedsScope} scope="admin" to="compare learners" />`}
    <${Problem} error=${task.error} />
    <${Status}>${isRunning && html`<label>${found.of ? `Candidate ${found.at + 1} of ${found.of}: ${found.learner}, with ${readingOf(found.text)}` : "Reading the history …"}
      <progress max=${found.of || 1} value=${found.of ? found.at + found.share : undefined}></progress></label>`}
      ${found && ENDS[found.state] && html`<p>${ENDS[found.state]} ${time(found.ended_at)}${found.counted > 0 && `, on the newest ${count(found.counted)} of ${plural(found.events, "message")}`}.
        ${found.error && ` ${deskWords(found.error)}.`}
        ${found.state === "done" && html`<${Verdict} found=${found} />`}</p>`}
    <//>
    ${found?.advice.length > 0 && html`<${Candidates} found=${found} shadows=${shadows} onUse=${setUsed} />
      <p class="hint">In brackets: the difference from the present learner on the same messages, and its 99 % interval. Other learners may be better
        too; more messages would tell.</p>`}
    ${found?.notes.map((note) => html`<p class="hint" key=${note}>${deskWords(note)}.</p>`)}
    <${Shadows} learners=${shadows} onRemove=${setRemoved} />
    <${CallText} call=${START} />
    ${used && html`<${UseIt} candidate=${used} present=${found.advice[0]} onDone=${findShadows} onClose=${() => setUsed(null)} />`}
    ${removed && html`<${Removal} learner=${removed} onDone=${findShadows} onClose=${() => setRemoved(null)} />`}`;
}
