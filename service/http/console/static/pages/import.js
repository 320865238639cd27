// Import: a file, its columns, then teach it or rank it.

import { html, useState } from "../html.js";
import { save } from "../api.js";
import { may, useAccess } from "../access.js";
import { CallText } from "../call_text.js";
import { percent, plural } from "../format.js";
import { NOTHING, Progress, added } from "../import_progress.js";
import { rankBody, rankFile, reviewFile, teachFile } from "../import_run.js";
import { Notation } from "../file_notation.js";
import { textOf } from "../json_text.js";
import { sameAs, keyOf } from "../label_clusters.js";
import { LabelNotes, useSurvey } from "../label_notes.js";
import { ROLES, eventsOf, guessed, instancesOf, isMixed, namedOnly, namesOf } from "../mapping.js";
import { Action, Field, NeedsScope, Problem, useTask } from "../parts.js";
import { beat } from "../pulse.js";
import { openTable } from "../rows.js";
import { Shared, useShared } from "../shared.js";
import { TeachAgain, repeatedBy } from "../taught_batch.js";
import { readingOf } from "../text_parts.js";
import { UnknownClasses } from "../unknown_classes.js";

const LONGEST = 120; // characters of a shown cell

const shown = (value) => {
  const text = textOf(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
};

function FileBox({ isBusy, onFile }) {
  const [over, setOver] = useState(false);
  const drop = (event) => {
    event.preventDefault();
    setOver(false);
    if (event.dataTransfer.files.length && !isBusy) onFile(event.dataTransfer.files[0]);
  };
  return html`<div class=${over ? "drop over" : "drop"} onDrop=${drop} onDragLeave=${() => setOver(false)}
    onDragOver=${(event) => {
      event.preventDefault();
      setOver(true);
    }}>
    <label>Drop a file here, or choose one:${" "}
      <input type="file" disabled=${isBusy} accept=".xlsx,.xlsm,.xls,.ods,.csv,.tsv,.txt,.json,.jsonl,.ndjson,.gz" onChange=${(event) => event.currentTarget.files[0] && onFile(event.currentTarget.files[0])} /></label>
    <p class="hint">A workbook of Excel or LibreOffice, CSV, or JSON lines. Nothing is taught before you say so.</p>
  </div>`;
}

/** The name of a column, told apart from another one of this name. */
const named = (columns, at) => (columns.some((each, place) => place !== at && each.name === columns[at].name) ? `${columns[at].name} (column ${at + 1})` : columns[at].name);

function Preview({ rows, columns, onRole }) {
  return html`<div class="scroll" role="region" aria-label="The first rows" tabindex="0"><table class="file">
    <thead>
      <tr>${columns.map((_, at) => html`<th scope="col" key=${at}>${named(columns, at)}</th>`)}</tr>
      <tr>${columns.map(({ role }, at) => html`<td key=${at}><select class=${role ? "" : "open"} aria-label=${`Role of ${named(columns, at)}`} value=${role} onChange=${(event) => onRole(at, event.currentTarget.value)}>
        ${Object.entries(ROLES).map(([each, title]) => html`<option key=${each} value=${each}>${title}</option>`)}</select></td>`)}</tr>
    </thead>
    <tbody>${rows.map((row, index) => html`<tr key=${index}>${columns.map((_, at) => html`<td key=${at}>${shown(row[at])}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}

const isWord = (value) => typeof value === "string" && Number.isNaN(Number(value));

/** Tell what the columns of an instance become, and what they cannot be. */
function RoleNotes({ rows, columns }) {
  const { stats } = useAccess();
  const features = columns.flatMap(({ name, role }, at) => (role === "feature" ? [[name, rows.map((row) => row[at]).find(isWord)]] : []));
  const [text, part] = ["text", "field"].map((role) => namesOf(columns, role));
  if (rows.some((row) => isMixed(row, columns)))
    return html`<p class="problem" role="alert">A row is one text, parts of a text, or words and numbers of their own, not two of these.
      Give ${namesOf(columns, "field", "feature")} the role text too – the words of all text columns are put together –, or
      give ${text || part} the role “not used”${text && part && ` or “${ROLES.field}”`}.</p>`;
  const cell = features.find(([, value]) => value !== undefined);
  const lists = namesOf(columns.filter((each) => each.isList), "class");
  const twice = [...new Set(columns.map((each) => each.name).filter((name, at, all) => all.indexOf(name) !== at))];
  const parts = columns.filter((each) => each.role === "field");
  const isWhole = rows.some((row) => row[columns.indexOf(parts[0])] instanceof Map);
  return html`${(text || part) && html`<p class="hint">The text is read as ${readingOf(stats.settings.MANYCLASS_TEXT)}.</p>`}
    ${columns.filter(({ role }) => role === "text").length > 1 && html`<p class="hint">${text} are put together to one text. To tell a word in one of them from the same word
      in another, give them the role “${ROLES.field}”.</p>`}
    ${parts.length > 0 && !isWhole && html`<p class="hint">${parts[1]
      ? `The same word in two of ${part} counts as two different words. Messages need parts with the same names to get suggestions.`
      : `${parts[0].name} is the only part: messages need a part of this name to get suggestions. Else give it the role text.`}</p>`}
    ${features.length > 0 && html`<p class="hint">A number counts as it is, under the name of its column.
      ${cell && html` Another cell is one word as a whole: <code>${cell[0]}=${shown(cell[1])}</code>. For its words and pairs of
      words, give ${cell[0]} the role text.`}</p>`}
    ${lists && html`<p class="hint">The cells of ${lists} are lists: each item is a class.</p>`}
    ${namesOf(columns, "one_hot") && html`<p class="hint">The columns ${namesOf(columns, "one_hot")} are classes: a 1 in a row means that the class is right.</p>`}
    ${namesOf(columns, "answer") && html`<p class="hint">Rows whose answer is reject or ignore are not taught.</p>`}
    ${twice.length > 0 && html`<p class="hint">${twice.join(", ")}: several columns have this name. Give a role to the right one.</p>`}`;
}

function Step({ number, title, children }) {
  return html`<section class="step" aria-labelledby=${`step-${number}`}>
    <h2 id=${`step-${number}`}><span class="number" aria-hidden="true">${number}</span> ${title}</h2>
    ${children}
  </section>`;
}

const OFFERED = ["text", "one_hot"]; // the class is the choice of the user alone

/** Offer the roles that the cells make likely: nothing has a role that neither its name nor the user says. */
function Proposal({ columns, proposed, onTake }) {
  const isOffered = ({ role }, at) => !columns[at].role && OFFERED.includes(role);
  const open = proposed.filter(isOffered);
  if (!open.length) return null;
  const said = open.length > 4 ? `${open.slice(0, 3).map(({ name }) => name).join(", ")} and ${open.length - 3} more: ${ROLES[open[0].role]}` : open.map(({ name, role }) => `${name}: ${ROLES[role]}`).join(", ");
  return html`<p class="hint">By their cells, likely: ${said}. <button type="button" class="small"
    onClick=${() => onTake(columns.map((each, at) => (isOffered(proposed[at], at) ? proposed[at] : each)))}>Take these roles</button></p>`;
}

const TARGETS = [0.8, 0.9, 0.95, 0.99]; // shares of right answers, as the page Quality has them

/** How often an automatic answer has to be right; null: every row gets its suggestions. */
function TargetField({ target, onTarget }) {
  return html`<${Field} label="Answer automatically" hint="Which suggestions are taken without a person. The others are marked, and can go to Review.">
    <select value=${target ?? ""} onChange=${(event) => onTarget(Number(event.currentTarget.value) || null)}>
      <option value="">all suggestions</option>
      ${TARGETS.map((each) => html`<option key=${each} value=${each}>${percent(each)} right</option>`)}</select><//>`;
}

const OPEN = { separator: undefined, same: new Set(), without: false }; // the answers, before the user gives them

const NO_FILE = {
  file: null, // as it was chosen
  chosen: {}, // how to read it, as far as the user has said
  table: null,
  columns: [],
  proposed: [],
  batch: "",
  source: "",
  answers: OPEN,
  target: null, // the share of automatic answers that has to be right
  unsure: null, // { columns, lines } of the rows that were ranked without an answer, until they are in Review
  run: null, // { verb, table, batch, target, sum, isRunning, error }
};
const kept = new Shared(NO_FILE); // while another page is open too, where a run goes on
let abort = new AbortController();

const put = (change) => kept.set({ ...kept.value, ...change });

/** Run an action on the rows of the table, and keep what it reports. Return whether it came to its end. */
async function begin(verb, table, batch, action) {
  abort = new AbortController();
  let run = { verb, table, batch, target: kept.value.target, sum: { ...NOTHING, began: performance.now() }, isRunning: true, error: null };
  const show = (change) => {
    run = { ...run, ...change };
    put({ run });
  };
  show({});
  try {
    await action((each) => show({ sum: added(run.sum, each) }), abort.signal);
    show({ isRunning: false });
    return true;
  } catch (error) {
    show({ isRunning: false, error: error.name === "AbortError" ? null : error });
    return false;
  } finally {
    beat();
  }
}

export default function Import() {
  useAccess();
  const { file, chosen, table, columns, proposed, batch, source, answers, target, unsure, run } = useShared(kept);
  const [said, setSaid] = useState(null); // what the rows say; null while they are read
  const [repeated, setRepeated] = useState(0); // events of the batch, about which the user is asked
  const reading = useTask();
  const task = useTask();
  const isBusy = task.busy || Boolean(run?.isRunning);

  const take = (its, choices) => reading.run(async () => {
    put({ ...NO_FILE, file: its, chosen: choices });
    const opened = await openTable(its, choices);
    const likely = guessed(opened.names, opened.rows);
    put({ table: opened, proposed: likely, columns: namedOnly(likely), batch: its.name });
  });
  const separator = answers.separator ?? "";
  const same = sameAs((said?.clusters ?? []).filter((each) => answers.same.has(keyOf(each))));
  const options = { separator: separator.trim(), source: source.trim(), batch: batch.trim(), same, without: answers.without };
  const start = (verb, action) => begin(verb, table, options.batch, action);
  const teach = () => start("learned", (report, signal) => teachFile(table, columns, options, report, signal));
  const check = async () => {
    const events = await task.run(() => repeatedBy(eventsOf(table.rows, columns, options), options.batch));
    if (events) setRepeated(events);
    else if (events === 0) teach();
  };
  const review = () => start("put into Review", (report, signal) => reviewFile(table, columns, options, report, signal));
  const rank = async () => {
    put({ unsure: null });
    const lines = new Set();
    const isDone = await start("ranked", async (report, signal) => {
      const parts = await rankFile(table, columns, target, (each) => {
        for (const line of each.unsure) lines.add(line);
        report(each);
      }, signal);
      save(`${file.name.replace(/\.\w+(\.gz)?$/, "")}-ranked.csv`, new Blob(parts), "text/csv");
    });
    if (isDone && lines.size && kept.value.table === table) put({ unsure: { columns, lines } });
  };
  const reviewUnsure = async () => {
    const isDone = await start("put into Review", (report, signal) => reviewFile(table, unsure.columns, options, report, signal, unsure.lines));
    if (isDone) put({ unsure: null });
  };
  const given = namesOf(columns, "text", "field", "feature") !== "";
  const labelled = namesOf(columns, "class", "one_hot", "not") !== "";
  const isReady = given && !table?.rows.some((row) => isMixed(row, columns));
  const isTaught = run?.verb === "learned";
  const isOpen = answers.separator === undefined && said?.joined.length > 0;
  const [example] = table ? eventsOf(table.rows, columns, options) : [];
  useSurvey(given && labelled && may("learn") ? table : null, columns, options.separator, setSaid);
  return html`<h1>Import</h1>
    <${Step} number="1" title="File">
      <${FileBox} isBusy=${isBusy} onFile=${(its) => take(its, {})} />
      ${file && html`<div class="actions"><button type="button" disabled=${isBusy || reading.busy} onClick=${() => put(NO_FILE)}>Start anew</button></div>`}
      ${reading.busy && html`<p role="status">Reading the file …</p>`}
      ${file && !reading.busy && html`<${Notation} table=${table} chosen=${chosen} onChoice=${(choices) => take(file, choices)} />`}
      <${Problem} error=${reading.error} />
    <//>
    ${table && html`<${Step} number="2" title="Columns">
      <h3>${table.file.name}</h3>
      ${table.notes.map((each) => html`<p class="hint" key=${each}>${each}</p>`)}
      <p class="hint">Choose which column has the text of the messages, and which their class.</p>
      <${Preview} rows=${table.rows} columns=${columns} onRole=${(at, role) => put({ columns: columns.with(at, { ...columns[at], role }) })} />
      <${Proposal} columns=${columns} proposed=${proposed} onTake=${(its) => put({ columns: its })} />
      <${RoleNotes} rows=${table.rows} columns=${columns} />
      ${!given && html`<p class="hint">No column has the text yet: choose the role text for one.</p>`}
      ${may("learn") && given && !labelled && html`<p class="hint">To teach the file, choose the role class for a column. Without one, its rows can be put into Review, or get suggestions.</p>`}
    <//>`}
    ${table && given && html`<${Step} number="3" title=${!may("learn") ? "Suggest classes" : labelled ? "Teach" : "Review, or suggest classes"}>
      ${may("learn") && html`<div class="row">
        <${Field} label="Name of this import" hint="By it you can take the whole import back.">
          <input type="text" value=${batch} maxlength="200" onInput=${(event) => put({ batch: event.currentTarget.value })} /><//>
        ${!namesOf(columns, "source") && html`<${Field} label="Source of the messages" hint="Whose messages they are, if all are of one. Else give a column the role source.">
          <input type="text" value=${source} maxlength="200" onInput=${(event) => put({ source: event.currentTarget.value })} /><//>`}
        ${labelled && html`<${Field} label="Separator of classes in a cell" hint="For example | or ; – empty: one class a cell.">
          <input type="text" value=${separator} onInput=${(event) => put({ answers: { ...answers, separator: event.currentTarget.value } })} /><//>`}
      </div>
      ${labelled && !isTaught && html`<${LabelNotes} said=${said} answers=${answers} onAnswers=${(change) => put({ answers: { ...answers, ...change } })} />
        <${UnknownClasses} table=${table} columns=${columns} options=${options} />`}`}
      ${isOpen && html`<p class="hint">Before you teach the file, say above what the cells with several names are.</p>`}
      <div class="actions">
        ${labelled && html`<${Action} kind="primary" needs="learn" busy=${isBusy} disabled=${!isReady || isOpen || !said} onClick=${check}>Teach the file<//>`}
        ${(!labelled || said?.unlabelled > 0) && html`<${Action} needs="learn" busy=${isBusy} disabled=${!isReady} onClick=${review}>${labelled
          ? `Put ${plural(said.unlabelled, "row")} without a class into Review` : "Put the rows into Review"}<//>`}
      </div>
      <div class="row">
        <${TargetField} target=${target} onTarget=${(its) => put({ target: its, unsure: null, run: run?.verb === "ranked" && !run.isRunning ? null : run })} />
      </div>
      <div class="actions">
        <${Action} busy=${isBusy} disabled=${!isReady} onClick=${rank}>Save suggestions as CSV<//>
      </div>
      <${NeedsScope} scope="learn" to="teach" />
      ${example && html`<${CallText} call=${{ method: "POST", path: "/learn", body: example }} title="Teach the first row as curl and Python" />`}
      <${CallText} call=${{ method: "POST", path: "/rank", body: rankBody(instancesOf(table.rows, columns).slice(0, 2), target) }} title="Suggestions as curl and Python" />
    <//>`}
    <${Problem} error=${task.error} />
    ${repeated > 0 && html`<${TeachAgain} batch=${options.batch} events=${repeated} onClose=${() => setRepeated(0)}
      onConfirm=${() => {
        teach(); // not awaited: the dialog closes
      }} />`}
    ${run && html`<${Progress} table=${run.table} sum=${run.sum} batch=${run.batch} verb=${run.verb} target=${run.target} running=${run.isRunning} onStop=${() => abort.abort()} /><${Problem} error=${run.error} />`}
    ${unsure && !isBusy && html`<div class="actions"><${Action} kind="primary" needs="learn" onClick=${reviewUnsure}>Put the ${plural(unsure.lines.size, "unsure row")} into Review<//></div>`}
  `;
}
