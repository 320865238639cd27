// Try: rank while typing, teach by a click, see the bars move, undo.

import { html, useCallback, useMemo, useRef, useState } from "../html.js";
import { ask } from "../api.js";
import { checkAccess, may, useAccess } from "../access.js";
import { CallText } from "../call_text.js";
import { plural } from "../format.js";
import { gapFeatures } from "../gap_words.js";
import { ClassForm } from "../new_class.js";
import { NeedsScope, Problem, Status, useAgain, useLater, useTask } from "../parts.js";
import { beat, usePulse } from "../pulse.js";
import { Bars, Confidence, useLimit } from "../rank_box.js";
import { SamplePanel } from "../sample_panel.js";
import { SAMPLES } from "../samples.js";
import { TextBox, textOf } from "../text_box.js";
import { TintedText } from "../tint.js";
import { ClassName } from "../titles.js";
import { Undo } from "../undo.js";
import { VoteTable, votesOf } from "../vote_table.js";
import { Warnings } from "../warnings.js";

const WAIT = 120; // milliseconds after a key, before the text is ranked
const K = 8;

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
  body: { ...instanceOf(text), k: K, explain: true, probabilities: true, keep: false }, // it does not wait in Review
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
  }, text === null || ranked.current.text === text ? 0 : WAIT, [text, seq, again, useAgain(error)]);
  return { ranking, error };
}

function positionIn(ranking, name) {
  const at = ranking.ranked.findIndex((each) => each.class === name);
  return at < 0 ? null : at + 1;
}

/** "card_arrival was suggestion no. 3, now no. 1." */
function Moved({ taught, ranking }) {
  const places = ranking && ranking.text === taught.text && ranking.seq >= taught.seq
    ? taught.names.map((name) => positionIn(ranking, name) ?? Infinity) : [];
  const now = Math.min(...places);
  const was = taught.before === null ? "was not among the suggestions" : `was suggestion no. ${taught.before}`;
  const is = !places.length ? "" : now === Infinity ? `, now not among the first ${K}` : `, now no. ${now}`;
  return html`${taught.names.map((name, at) => html`${at > 0 && ", "}<strong><${ClassName} name=${name} /></strong>`)} ${was}${is}.`;
}

/** The classes chosen for one message, and the button that teaches them together. */
function Chosen({ chosen, busy, onDrop, onTeach }) {
  return html`<div class="row" role="group" aria-label="Chosen classes">
    ${[...chosen].map((name) => html`<button type="button" class="chip" key=${name} aria-label=${`Remove ${name}`} onClick=${() => onDrop(name)}><${ClassName} name=${name} /> ×</button>`)}
    <button type="button" class="primary" disabled=${!chosen.size || busy || !may("learn")} onClick=${onTeach}>Teach ${plural(chosen.size, "class", "classes")}</button>
  </div>`;
}

function Start({ onTry }) {
  const { stats } = useAccess();
  const [shown, setShown] = useState(null);
  const { seq } = usePulse();
  const empty = stats && stats.classes === 0 && !seq;
  const [wasEmpty] = useState(empty);
  if (!wasEmpty) return null;
  return html`<section class="start" aria-labelledby="start-title">
    <h2 id="start-title">${empty ? "This service has learned nothing yet" : "Start with a sample"}</h2>
    ${!shown && html`<p>Type a message above and teach it a class of your own, <a href="#/import">import a file</a>, or start
      with a sample. A sample can be erased again by its source.</p>`}
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
  const [chosen, setChosen] = useState(null); // a set, while several classes are chosen for one message
  const { ranking, error } = useRanking(text, again);
  const limit = useLimit();
  const task = useTask();
  kept = { entry: { typed, text }, taught: taught?.isUndone ? null : taught };

  const type = (next) => {
    const entry = entryOf(next);
    setEntry(entry);
    if (taught?.text !== entry.text) setTaught(null);
    if (chosen && entry.text !== text) setChosen(new Set());
  };
  const undone = () => {
    setTaught({ ...taught, isUndone: true });
    setAgain((times) => times + 1);
  };
  const teach = useCallback((labels) => task.run(async () => {
    const body = { ...instanceOf(text), classes: labels, source: "console" };
    const answer = await ask("POST", "/learn", { body });
    setTaught({ names: labels, text, seq: answer.seq, before: answer.rank_before, warnings: answer.warnings, call: { method: "POST", path: "/learn", body } });
    setPointed(labels[0]);
    setChosen((before) => before && new Set());
    setAgain((times) => times + 1);
    await beat();
    return true;
  }), [text]);

  const toggle = (label) => {
    const next = new Set(chosen);
    if (!next.delete(label)) next.add(label);
    setChosen(next);
    return true;
  };
  const choose = (label) => (chosen ? toggle(label) : teach([label]));
  const ranked = ranking?.ranked ?? [];
  const focus = ranked.find((each) => each.class === pointed) ?? ranked[0];
  const votes = useMemo(() => votesOf(focus), [focus]);
  return html`
    <h1>Try</h1>
    <${TextBox} typed=${typed} isUnknown=${ranking?.ranked.length === 0 && text !== null} onType=${type} />
    <${Problem} error=${error ?? task.error} />
    ${ranking && text !== null && html`<section aria-label="Suggestions for this message">
      ${gapIn(text) && html`<p class="hint">The gap _ asks for a word, by the words around it.</p>`}
      <${TintedText} text=${ranking.text} votes=${votes} />
      <${Status}><${Warnings} answer=${ranking} /><//>
      ${ranked.length === 0
        ? html`<p class="nothing">No word of this text is known yet.${!ranking.warnings && " Teach it: name its class below."}</p>`
        : html`<${Confidence} value=${ranking.confidence} limit=${limit} />
          <${Bars} text=${ranking.text} ranked=${ranked} pointed=${focus?.class} chosen=${chosen}
            taught=${taught?.isUndone ? null : taught?.names[0]} onChoose=${choose} onPoint=${setPointed} />
          <p class="hint">${!may("learn") ? "" : chosen ? "Click every right class, then teach them. " : "Click the right class to teach it. "}Tinted words speak
            for ${" "}<strong>${focus.title ?? focus.class}</strong>, those with dots below against it.</p>`}
      ${may("learn") && html`<label class="check"><input type="checkbox" checked=${chosen !== null}
        onChange=${(event) => setChosen(event.currentTarget.checked ? new Set() : null)} /> This message has several classes</label>`}
      ${chosen && html`<${Chosen} chosen=${chosen} busy=${task.busy} onDrop=${toggle} onTeach=${() => teach([...chosen])} />`}
      <${ClassForm} label="Another class" placeholder="a class, new or known" verb=${chosen ? "Add" : "Teach"} disabled=${task.busy || !may("learn")} onTeach=${choose} />
      <${NeedsScope} scope="learn" to="teach" />
    </section>`}
    <${Status}>${taught && !taught.isUndone && html`<p class="moved"><${Moved} taught=${taught} ranking=${ranking} /></p>
      <${Warnings} answer=${taught} />`}<//>
    ${taught && html`<div class="after"><${Undo} key=${taught.seq} eventKey=${`seq:${taught.seq}`} onDone=${undone} />
      <${CallText} call=${taught.call} title="The taught message as curl and Python" /></div>`}
    ${ranking && text !== null && html`<${VoteTable} name=${focus?.title ?? focus?.class} votes=${votes} />
      <${CallText} call=${rankCall(text)} title="These suggestions as curl and Python" />`}
    <${Start} onTry=${type} />
  `;
}

