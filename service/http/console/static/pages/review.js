// Review: label the messages that would teach most, by the keyboard, beside other reviewers.

import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";
import { ask, get, path, withParameters } from "../api.js";
import { keepsHistory, may, useAccess } from "../access.js";
import { Agreement } from "../agreement.js";
import { CallText } from "../call_text.js";
import { InstanceText } from "../event_item.js";
import { count, isolated, listed as listedNames, percent, plural, seconds } from "../format.js";
import { ClassField } from "../class_field.js";
import { usePlaces, useTaxonomy } from "../class_paths.js";
import { ClassTreeChoice } from "../class_tree.js";
import { useNewClass } from "../new_class.js";
import { Field, NeedsScope, Problem, Status, useAgain, useTask } from "../parts.js";
import { beat, usePulse } from "../pulse.js";
import { ClassName, called } from "../titles.js";
import { warningText } from "../warnings.js";

const NAME = "manyclass-reviewer";
const AHEAD = 5; // messages that are reserved, with the one in view
const MOST = 100; // in one call
const SUGGESTIONS = 5;
const UNDOABLE = 10;
const RENEW = 40_000; // milliseconds
const RETRY = 3_000;
const LONGEST_NAME = 200;
const LOST = "The connection is lost. The message and your choice stay here: send it again when the service is back.";
const STRATEGIES = [["uncertain", "least certain first"], ["random", "at random"], ["class", "of one suggestion"], ["suspect", "likely wrong labels"]];

const withoutId = (all, id) => all.filter((each) => each.id !== id);
const quoted = (names) => names.map((each) => `“${isolated(called(each))}”`).join(", ");
const listed = (names) => listedNames(names.map(called));

/** Send a label, or other members of an event; by the text or the features if the service has dropped the message. */
async function send({ id, event: key, second, text, text_cut, features, omitted_features, source, batch }, event) {
  if (key) return ask("PUT", path("events", key), { body: { classes: event.classes, reviewer: event.reviewer } });
  try {
    return await ask("POST", "/learn", { body: { id, ...event } });
  } catch (error) {
    if (second || ![404, 410].includes(error.status) || (text === null ? omitted_features > 0 : text_cut)) throw error;
    const { replace: _, ...rest } = event;
    const origin = { ...(source === null ? {} : { source }), ...(batch === null ? {} : { batch }) };
    return ask("POST", "/learn", { body: { ...(text === null ? { features } : { text }), ...origin, ...rest } });
  }
}

function NameForm({ onName }) {
  const [name, setName] = useState("");
  const submit = (event) => {
    event.preventDefault();
    if (name.trim()) onName(name.trim());
  };
  return html`<form class="card narrow" onSubmit=${submit}>
    <${Field} label="Your name" hint="It is kept in this browser and stored with each label, so that others see who labelled what.">
      <input type="text" value=${name} maxlength=${LONGEST_NAME} autocomplete="name" required onInput=${(event) => setName(event.currentTarget.value)} /><//>
    <div class="actions"><button class="primary" disabled=${!name.trim()}>Start</button></div>
  </form>`;
}

/** The suggestions and the further classes as chips, pressed if they belong to the label. */
function Chips({ suggested, probabilities, chosen, busy, onToggle }) {
  const further = chosen.filter((name) => !suggested.includes(name));
  const places = usePlaces([...suggested, ...further]);
  return html`<ul class="chips" aria-label="Classes">${[...suggested, ...further].map((name, at) => html`<li key=${name}>
    <button type="button" class="chip" aria-pressed=${chosen.includes(name)} disabled=${busy} onClick=${() => onToggle(name)}
      aria-keyshortcuts=${at < suggested.length ? at + 1 : undefined}>
      ${at < suggested.length && html`<kbd>${at + 1}</kbd> `}<span class="name" dir="auto"><${ClassName} name=${name} /></span>${probabilities[at] != null && html` <span>${percent(probabilities[at])}</span>`}${places[name] && html`<small>${places[name]}</small>`}</button></li>`)}</ul>`;
}

/** A field that adds a class to the label; a class that is new is asked about first. */
function Picker({ inputRef, busy, onAdd }) {
  const [name, setName] = useState("");
  const task = useTask();
  const hasTaxonomy = useTaxonomy();
  const add = (wanted) => {
    onAdd(wanted);
    setName("");
    document.activeElement?.blur(); // Enter sends then
  };
  const { mayUse, dismiss, question } = useNewClass((_, instead) => add(instead));
  const submit = (event) => {
    event.preventDefault();
    const wanted = name.trim();
    if (wanted && !busy) task.run(async () => (await mayUse(wanted)) && add(wanted));
  };
  const type = (text) => {
    setName(text);
    dismiss();
  };
  return html`<form onSubmit=${submit}>
    <div class="row"><${ClassField} label="Another class (n)" value=${name} onInput=${type} inputRef=${inputRef} />
      <button disabled=${!name.trim() || busy || task.busy}>Add</button></div>
    ${question}
    ${hasTaxonomy && html`<${ClassTreeChoice} onChoose=${(each) => !busy && add(each)} />`}
    <${Problem} error=${task.error} />
  </form>`;
}

function Question({ label, wanted, reviewer, isSecond, busy, onKeep, onReplace }) {
  const box = useRef();
  useEffect(() => box.current.querySelector("button").focus(), []);
  const isOwn = label.reviewer === reviewer;
  const who = isOwn ? "You" : label.reviewer ?? "Somebody";
  const age = Date.now() / 1000 - label.time;
  const when = label.time === null ? "" : age < 60 ? " a moment ago" : ` ${seconds(age)} ago`;
  return html`<div class="card" role="group" aria-label="Two labels" ref=${box}>
    <p role="alert"><strong>${who}</strong> labelled this message as ${label.classes ? quoted(label.classes) : "another class"}${when}${isSecond ? html`; you: ${quoted(wanted)}. Both labels are noted.` : "."}
      ${" "}Keep ${isSecond ? "the first" : "this"} label, or replace it with ${quoted(wanted)}?</p>
    <div class="actions"><button type="button" class="primary" disabled=${busy} onClick=${onKeep}>Keep ${label.classes ? listed(label.classes) : "it"}</button>
      <button type="button" disabled=${busy || !label.classes} onClick=${onReplace}>Replace with ${listed(wanted)}</button></div>
  </div>`;
}

function Keys({ on, onChange }) {
  return html`<p class="hint"><label class="check"><input type="checkbox" checked=${on} onChange=${(event) => onChange(event.currentTarget.checked)} />
    Keys:</label> <kbd>1</kbd> to <kbd>5</kbd> choose, <kbd>n</kbd> adds another class, <kbd>Enter</kbd> sends, <kbd>0</kbd> or <kbd>x</kbd>: none of these,
    ${" "}<kbd>s</kbd> skips, <kbd>u</kbd> undoes the last label.</p>`;
}

export default function Review({ query }) {
  useAccess();
  const [name, setName] = useState(localStorage.getItem(NAME)); // the typed one
  const [reviewer, setReviewer] = useState(null); // the one in force: of the key, or else the typed one
  const [isAsked, setAsked] = useState(false);
  const [source, setSource] = useState(query.source ?? "");
  const [strategy, setStrategy] = useState("uncertain");
  const [first, setFirst] = useState("");
  const [isAbstained, setAbstained] = useState(false); // only rankings that were answered without classes
  const [hidden, setHidden] = useState(0); // messages that wait, of other sources
  const [items, setItems] = useState(null); // reserved for this reviewer; the first is in view
  const [waiting, setWaiting] = useState(0);
  const [failing, setFailing] = useState(null); // the reason why the stored messages may be missing
  const [chosen, setChosen] = useState([]);
  const [done, setDone] = useState([]); // { instance, classes, former }, the newest last; `former` is the label that was replaced
  const [number, setNumber] = useState(0); // of labels sent here, without those undone
  const [conflict, setConflict] = useState(null);
  const [isLost, setLost] = useState(false); // another reviewer has the message in view
  const [said, setSaid] = useState("");
  const [keys, setKeys] = useState(true);
  const skipped = useRef(new Set());
  const ended = useRef(new Set()); // labelled here, though a list that is on its way may still have them
  const field = useRef();
  const held = useRef([]);
  const list = useRef(""); // the path of the list: a timer asks for the present one
  const unfiltered = useRef(""); // that of all sources; empty if no source is chosen
  const round = useRef(0); // of lists asked for: an answer for a former choice counts no more
  const task = useTask();
  const reading = useTask();
  const { seq, status } = usePulse();
  held.current = items ?? [];
  const wanted = strategy === "class" ? first.trim() && `class:${first.trim()}` : strategy;
  const current = items?.[0];
  const suggested = current?.ranked.slice(0, SUGGESTIONS) ?? [];

  const chosenOnes = { source: source.trim(), abstained: isAbstained && wanted !== "suspect" };
  const parameters = { limit: Math.min(MOST, AHEAD + skipped.current.size), reviewer: name, ...chosenOnes, strategy: wanted };
  const call = { method: "GET", path: withParameters("/review", parameters) };
  list.current = call.path;
  unfiltered.current = chosenOnes.source && withParameters("/review", { ...chosenOnes, source: "", limit: 1, strategy: wanted }); // leases none
  const leases = (body) => ask("POST", "/review/leases", { body: { reviewer, ...body } });
  const release = (ids) => {
    if (reviewer && ids.length) leases({ release: ids }).catch(() => {}); // a lease ends by itself
  };

  const read = () => reading.run(async () => {
    const asked = (round.current += 1);
    const page = await get(list.current);
    if (asked !== round.current) return;
    setAsked(true);
    if (page.reviewer === null) return; // a name has to be typed first
    setReviewer(page.reviewer);
    setWaiting(page.waiting);
    setFailing(page.failing);
    setHidden(page.waiting || !unfiltered.current ? 0 : (await get(unfiltered.current)).waiting);
    setItems((before) => {
      const known = new Set([...(before ?? []).map((each) => each.id), ...skipped.current, ...ended.current]);
      return [...(before ?? []), ...page.instances.filter((each) => !known.has(each.id))].slice(0, Math.max(AHEAD, before?.length ?? 0));
    });
    const over = page.instances.filter((each) => skipped.current.has(each.id)).map((each) => each.id);
    if (over.length) await ask("POST", "/review/leases", { body: { reviewer: page.reviewer, release: over } });
  });
  useEffect(() => { // another choice of the reviewer begins with its own first message
    if (!may("learn") || !wanted) return undefined;
    const timer = setTimeout(() => {
      release(held.current.map((each) => each.id));
      setItems((before) => before && []);
      setChosen([]);
      setConflict(null);
      setLost(false);
      read();
    }, 200);
    return () => clearTimeout(timer);
  }, [name, source, wanted, isAbstained]);
  const again = useAgain(reading.error);
  useEffect(() => {
    if (again) read();
  }, [again]);
  const isShort = items !== null && items.length < 2;
  useEffect(() => {
    if (!isShort || !wanted || status !== "ready") return undefined;
    read();
    const timer = setInterval(read, RETRY);
    return () => clearInterval(timer);
  }, [isShort, items?.length, wanted, status]);
  useEffect(() => {
    if (items !== null && items.length === 0) read();
  }, [seq]);
  useEffect(() => {
    if (!reviewer || status !== "ready") return undefined; // a restarted service has forgotten the leases
    const renew = async () => {
      const ids = held.current.map((each) => each.id);
      if (!ids.length) return;
      const still = await leases({ renew: ids }).catch(() => null); // tried again with the next
      if (!still) return;
      const [inView] = held.current;
      const isTaken = (each) => ids.includes(each.id) && !still.held.includes(each.id);
      setLost(inView !== undefined && isTaken(inView));
      setItems((before) => before.filter((each, at) => at === 0 || !isTaken(each)));
    };
    renew();
    const timer = setInterval(renew, RENEW);
    return () => clearInterval(timer);
  }, [reviewer, status]);
  useEffect(() => () => release(held.current.map((each) => each.id)), [reviewer]);

  const leave = (instance) => {
    setItems((before) => withoutId(before, instance.id));
    setChosen([]);
    setConflict(null);
    setLost(false);
    document.activeElement?.blur();
  };
  const label = (classes, former = null) => task.run(async () => {
    const instance = current;
    let answer;
    try {
      answer = await send(instance, { classes, reviewer, ...(former && { replace: true }) });
    } catch (error) {
      if (error.status === 0) throw new Error(LOST);
      if (error.status !== 409 || !error.label) throw error;
      setConflict(error.label);
      return;
    }
    ended.current.add(instance.id);
    setWaiting((before) => Math.max(0, before - 1));
    setNumber((before) => before + 1);
    if (instance.second && !former) {
      setSaid(`You and another reviewer gave the same label: ${listed(classes)}.`);
      leave(instance);
      return;
    }
    if (instance.event) setSaid(answer.changed ? `The label is corrected: ${listed(classes)}.` : `The label is confirmed: ${listed(classes)}.`);
    else if (answer.duplicates) setSaid(`The message has this label already: ${listed(classes)}.`);
    else setSaid(`Labelled as ${listed(classes)}. ${warningText(answer)}`);
    setDone((before) => [...before, { instance, classes, former }].slice(-UNDOABLE));
    leave(instance);
    beat();
  });
  const keep = () => {
    setSaid(current.second ? "The first label is kept. Both labels are listed under Agreement." : "The label is kept.");
    ended.current.add(current.id);
    if (current.second) setNumber((before) => before + 1);
    setWaiting((before) => Math.max(0, before - 1));
    leave(current);
  };
  const pass = (words) => {
    skipped.current.add(current.id);
    release([current.id]);
    setSaid(words);
    leave(current);
  };
  const reject = () => task.run(async () => {
    if (current.second) return setSaid("Choose a class, or skip the message.");
    if (suggested.length && !current.event) {
      const { seq: rejected } = await send(current, { not: suggested, reviewer });
      setDone((before) => [...before, { instance: current, classes: [], former: null, rejected }].slice(-UNDOABLE));
    }
    pass("None of these. The message waits for another reviewer.");
    return beat();
  });
  const restore = async (former) => {
    const by = (name) => ask("PUT", path("events", former.key), { body: { classes: former.classes, reviewer: name } });
    try {
      await by(former.reviewer ?? reviewer);
    } catch (error) {
      if (error.status !== 403) throw error; // the key of a person names this person alone
      await by(reviewer);
    }
  };
  const undo = () => {
    const last = done.at(-1);
    if (task.busy) return undefined;
    if (!last) return setSaid("There is nothing to undo.");
    if (!keepsHistory()) return setSaid("No undo here: this service keeps no history of its messages.");
    return task.run(async () => {
      const { former, rejected } = last;
      if (former) await restore(former);
      else if (last.instance.event) await send(last.instance, { classes: last.instance.classes, reviewer });
      else await ask("POST", "/review/undo", { body: { id: last.instance.id, reviewer, ...(rejected && { seq: rejected }) } });
      ended.current.delete(last.instance.id);
      skipped.current.delete(last.instance.id);
      setDone((before) => before.slice(0, -1));
      if (!rejected) setNumber((before) => before - 1);
      if (former) {
        setSaid(`The label ${listed(former.classes)}${former.reviewer ? ` of ${isolated(former.reviewer)}` : ""} is back.`);
        return beat();
      }
      if (!rejected) setWaiting((before) => before + 1);
      setItems((before) => [last.instance, ...withoutId(before, last.instance.id)]);
      setChosen([]);
      setConflict(null);
      leases({ renew: [last.instance.id] }).catch(() => {}); // a label counts without it too
      setSaid(`${rejected ? "“None of these”" : `The label ${listed(last.classes)}`} is taken back. A rebuild removes its influence.`);
      return beat();
    });
  };
  const toggle = (each) => setChosen((before) => (before.includes(each) ? before.filter((other) => other !== each) : [...before, each]));
  const showSkipped = () => {
    skipped.current.clear();
    setSaid("");
    read();
  };

  useLayoutEffect(() => { // a key pressed as soon as a message is shown is for this message
    const press = (event) => {
      if (!keys || event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input:not([type=checkbox]), textarea, select, dialog")) return;
      if (event.key === "u") undo();
      if (!current || task.busy || conflict) return;
      const choice = suggested[Number(event.key) - 1];
      if (choice) toggle(choice);
      else if (event.key === "Enter" && !event.target.closest("button:not(.chip), a, summary")) {
        event.preventDefault();
        if (chosen.length) label(chosen);
        else setSaid("Choose a class first: 1 to 5, or n for another one.");
      } else if (event.key === "n") {
        event.preventDefault();
        field.current?.focus();
      } else if (event.key === "s") pass("Skipped.");
      else if (event.key === "0" || event.key === "x") reject();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });

  const rename = () => {
    release(held.current.map((each) => each.id));
    localStorage.removeItem(NAME);
    setName(null);
    setReviewer(null);
    setItems(null);
  };
  const begin = (typed) => {
    localStorage.setItem(NAME, typed);
    setName(typed);
  };
  if (!may("learn")) return html`<h1>Review</h1><${NeedsScope} scope="learn" to="label messages" />`;
  if (!reviewer) return html`<h1>Review</h1>
    <p>Label the messages that the service is unsure of. Several people can do it at once: nobody gets a message that you have.</p>
    ${isAsked && !name && html`<${NameForm} onName=${begin} />`}
    <${Problem} error=${reading.error} />`;
  return html`<h1>Review</h1>
    <p><strong>${waiting === 1 ? "1 message waits" : `${plural(waiting, "message")} wait`}</strong>, <strong>${count(number)}</strong> labelled by <strong dir="auto">${reviewer}</strong> since this page was opened${" "}
      ${name === reviewer && html`<button type="button" class="quiet" onClick=${rename}>Not you?</button>`}</p>
    <${Keys} on=${keys} onChange=${setKeys} />
    <div class="row choosing"><${Field} label="Order">
        <select value=${strategy} onChange=${(event) => setStrategy(event.currentTarget.value)}>
          ${STRATEGIES.map(([value, words]) => html`<option key=${value} value=${value}>${words}</option>`)}</select><//>
      ${strategy === "class" && html`<${ClassField} label="Suggestion" value=${first} onInput=${setFirst} />`}
      ${strategy !== "suspect" && html`<label class="check"><input type="checkbox" checked=${isAbstained} onChange=${(event) => setAbstained(event.currentTarget.checked)} />
        Only messages that were not answered automatically</label>`}
      <${Field} label="Source" hint="Only messages from this source. Leave empty for all.">
        <input type="search" value=${source} maxlength="1000" onInput=${(event) => setSource(event.currentTarget.value)} /><//></div>
    <${Status}>${said && html`<p>${said}</p>`}<//>
    <${Problem} error=${task.error ?? reading.error} />
    ${failing && html`<p class="warning" role="alert">The messages that wait cannot all be stored or read now: ${failing}.</p>`}
    ${current
      ? html`<section class="card" aria-label="The message to label" data-id=${current.id}>
          <p class="hint">${current.event ? "labelled" : "received"} ${seconds(current.age)} ago,
            ${current.event ? ` its label is wrong with a probability of ${percent(current.confidence)}` : current.confidence === null ? " confidence unknown" : ` confidence ${percent(current.confidence)}`}${current.abstained ? ", answered without a class" : ""}
            ${current.source && html`, from <button type="button" class="quiet" onClick=${() => setSource(current.source)}>${current.source}</button>`}
            ${current.batch && html`, of ${current.batch}`}</p>
          ${current.second && html`<p class="hint">Another reviewer has labelled this message. Label it too: it shows how far two people agree, and is not taught again.</p>`}
          ${current.event && html`<p>Its label is ${quoted(current.classes)}, which is likely wrong. Choose the right classes, or the same again to confirm it.</p>`}
          ${isLost && html`<p class="warning" role="alert">Another reviewer has this message now. You can still label it, or skip it.</p>`}
          <${InstanceText} text=${current.text} isCut=${current.text_cut} features=${current.features} />
          ${current.text === null && current.omitted_features > 0 && html`<p class="hint">and ${count(current.omitted_features)} more words</p>`}
          ${!suggested.length && html`<p class="hint">There is no suggestion${current.second ? "" : ": no word of this message was taught"}.</p>`}
          <${Chips} suggested=${suggested} probabilities=${current.probabilities} chosen=${chosen} busy=${task.busy || conflict !== null} onToggle=${toggle} />
          <${Picker} key=${current.id} inputRef=${field} busy=${task.busy || conflict !== null} onAdd=${(each) => setChosen((before) => [...new Set([...before, each])])} />
          ${conflict && html`<${Question} label=${conflict} wanted=${chosen} reviewer=${reviewer} isSecond=${current.second} busy=${task.busy} onKeep=${keep} onReplace=${() => label(chosen, conflict)} />`}
          <div class="actions">
            <button type="button" class=${conflict ? "" : "primary"} disabled=${!chosen.length || task.busy || conflict !== null} onClick=${() => label(chosen)}>Send (Enter)</button>
            <button type="button" disabled=${task.busy} onClick=${() => pass("Skipped.")}>Skip (s)</button>
            <button type="button" disabled=${task.busy || conflict !== null || current.second} onClick=${reject}>None of these (0)</button>
            <button type="button" onClick=${undo} disabled=${!done.length || task.busy}>Undo (u)</button>
          </div>
          <${CallText} call=${{ method: "POST", path: "/learn", body: { id: current.id, classes: chosen.length ? chosen : ["a class"], reviewer } }} />
        </section>`
      : items && html`<p class="nothing">No ${failing ? "readable " : ""}message waits for a label${skipped.current.size ? ", but for those you skipped" : ""}${hidden > 0 && ` of the source ${isolated(source.trim())}: this filter hides ${plural(hidden, "other message")}`}. Messages whose suggestions are
          unsure come here by themselves, about a second after they got them. Those of a file come here by <a href="#/import">Import</a>.</p>
          <div class="actions">${done.length > 0 && html`<button type="button" onClick=${undo} disabled=${task.busy}>Undo (u)</button>`}
          ${skipped.current.size > 0 && html`<button type="button" onClick=${showSkipped}>Show the skipped ones again</button>`}</div>`}
    <${CallText} call=${call} title="This list as curl and Python" />
    <${Agreement} changes=${number} />
  `;
}
