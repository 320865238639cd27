// Try: rank while typing, teach by a click, see the bars move, undo.

import { html, useCallback, useMemo, useRef, useState } from "../html.js";
import { ask } from "../api.js";
import { checkAccess, may, useAccess } from "../access.js";
import { CallText } from "../call_text.js";
import { ordinal } from "../format.js";
import { gapFeatures } from "../gap_words.js";
import { ClassForm } from "../new_class.js";
import { NeedsScope, Problem, Status, useLater, useTask } from "../parts.js";
import { beat, usePulse } from "../pulse.js";
import { Bars, Confidence } from "../rank_box.js";
import { SamplePanel } from "../sample_panel.js";
import { SAMPLES } from "../samples.js";
import { TextBox, textOf } from "../text_box.js";
import { TintedText } from "../tint.js";
import { Undo } from "../undo.js";
import { VoteTable } from "../vote_table.js";
import { Warnings } from "../warnings.js";

const WAIT = 120; // milliseconds after a key, before the text is ranked
const K = 8;
// One id for all that is typed here: what waits for a label by id is the last text, not every letter.
const ID = `console-${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;

const entryOf = (typed) => ({ typed, text: textOf(typed) });

let kept = { entry: entryOf(""), taught: null }; // so that a visit to another page loses nothing

const gapIn = (text) => (typeof text === "string" ? gapFeatures(text) : null);

const instanceOf = (text) => {
  const features = gapIn(text);
  return features ? { features } : { text };
};

const rankCall = (text) => ({
  method: "POST",
  path: "/rank",
  body: { ...instanceOf(text), k: K, explain: true, id: ID },
});

/** Return the ranking of the text, ranked again when it or the newest event changes. */
function useRanking(text, again) {
  const [ranking, setRanking] = useState(null);
  const [error, setError] = useState(null);
  const { seq } = usePulse();
  const ranked = useRef({ text: null });
  useLater(async (signal) => {
    try {
      const { method, path, body } = rankCall(text);
      const answer = text === null ? null : await ask(method, path, { body, signal });
      ranked.current = { text };
      setRanking(answer && { ...answer, text });
      setError(null);
    } catch (reason) {
      if (reason.name !== "AbortError") setError(reason);
    }
  }, text === null || ranked.current.text === text ? 0 : WAIT, [text, seq, again]);
  return { ranking, error };
}

function positionIn(ranking, name) {
  const at = ranking.ranked.findIndex((each) => each.class === name);
  return at < 0 ? null : at + 1;
}

/** "card_arrival was 3rd, now 1st (event 42)". */
function Moved({ taught, ranking }) {
  const now = ranking && ranking.text === taught.text && ranking.seq >= taught.seq
    ? positionIn(ranking, taught.name) : undefined;
  const was = taught.before === null ? "was not ranked" : `was ${ordinal(taught.before)}`;
  const is = now === undefined ? "" : now === null ? `, now not among the first ${K}` : `, now ${ordinal(now)}`;
  return html`<strong>${taught.name}</strong> ${was}${is} (event ${taught.seq}).`;
}

function Start({ onTry }) {
  const { stats } = useAccess();
  const [shown, setShown] = useState(null);
  const { seq } = usePulse();
  const empty = stats && stats.learned === 0 && !seq;
  const [wasEmpty] = useState(empty);
  if (!wasEmpty) return null;
  return html`<section class="start" aria-labelledby="start-title">
    <h2 id="start-title">${empty ? "This service has learned nothing yet" : "Begin with a sample"}</h2>
    ${!shown && html`<p>Type a text above and teach it a class of your own, <a href="#/import">import a file of
      yours</a>, or begin with a sample. Each is taught through the ordinary calls, and can be erased by its source.</p>`}
    <${NeedsScope} scope="learn" to="teach" />
    ${!shown && html`<div class="choices">${SAMPLES.map((sample) => html`<button type="button" key=${sample.name} class="choice"
      disabled=${!may("learn")} onClick=${() => setShown(sample)}>
      <strong>${sample.title}</strong><span>${sample.text}</span></button>`)}</div>`}
    ${shown && html`<${SamplePanel} sample=${shown} onTry=${onTry} onDone=${checkAccess} />`}
  </section>`;
}

export default function Try({ query }) {
  const [{ typed, text }, setEntry] = useState(query.text === undefined ? kept.entry : entryOf(query.text));
  const [taught, setTaught] = useState(kept.taught?.text === text ? kept.taught : null);
  const [pointed, setPointed] = useState(null);
  const [again, setAgain] = useState(0);
  const { ranking, error } = useRanking(text, again);
  const task = useTask();
  kept = { entry: { typed, text }, taught: taught?.isUndone ? null : taught };

  const type = (next) => {
    const entry = entryOf(next);
    setEntry(entry);
    if (taught?.text !== entry.text) setTaught(null);
  };
  const undone = () => {
    setTaught({ ...taught, isUndone: true });
    setAgain((times) => times + 1);
  };
  const teach = useCallback((label) => task.run(async () => {
    const body = { ...instanceOf(text), classes: [label], source: "console" };
    const answer = await ask("POST", "/learn", { body });
    setTaught({ name: label, text, seq: answer.seq, before: answer.rank_before, warnings: answer.warnings, call: { method: "POST", path: "/learn", body } });
    setPointed(label);
    setAgain((times) => times + 1);
    await beat();
    return true;
  }), [text]);

  const ranked = ranking?.ranked ?? [];
  const focus = ranked.find((each) => each.class === pointed) ?? ranked[0];
  const votes = useMemo(() => focus?.features ?? [], [focus]);
  return html`
    <h1>Try</h1>
    <${TextBox} typed=${typed} isUnknown=${ranking?.ranked.length === 0 && text !== null} onType=${type} />
    <${Problem} error=${error ?? task.error} />
    ${ranking && text !== null && html`<section aria-label="Ranking">
      ${gapIn(text) && html`<p class="hint">The gap _ asks for a word: its features are the words around it.</p>`}
      <${TintedText} text=${ranking.text} votes=${votes} />
      <${Status}><${Warnings} answer=${ranking} /><//>
      ${ranked.length === 0
        ? html`<p class="nothing">No word of this text is known yet.${!ranking.warnings && " Teach it: name its class below."}</p>`
        : html`<${Confidence} value=${ranking.confidence} />
          <${Bars} text=${ranking.text} ranked=${ranked} pointed=${focus?.class} taught=${taught?.isUndone ? null : taught?.name} onChoose=${teach} onPoint=${setPointed} />
          <p class="hint">${may("learn") ? "Click the right class to teach it. " : ""}The words are tinted by their votes for
            ${" "}<strong>${focus.class}</strong>.</p>`}
      <${ClassForm} label="Another class" placeholder="a class, new or known" disabled=${task.busy || !may("learn")} onTeach=${teach} />
      <${NeedsScope} scope="learn" to="teach" />
    </section>`}
    <${Status}>${taught && !taught.isUndone && html`<p class="moved"><${Moved} taught=${taught} ranking=${ranking} /></p>
      <${Warnings} answer=${taught} />`}<//>
    ${taught && html`<div class="after"><${Undo} key=${taught.seq} eventKey=${`seq:${taught.seq}`} onDone=${undone} />
      <${CallText} call=${taught.call} title="The taught event as curl and Python" /></div>`}
    ${ranking && text !== null && html`<${VoteTable} name=${focus?.class} votes=${votes} />
      <${CallText} call=${rankCall(text)} title="This ranking as curl and Python" />`}
    <${Start} onTry=${type} />
  `;
}

