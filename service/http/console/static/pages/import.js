// Import: teach a file of CSV or JSON lines, or rank it to CSV.

import { html, useRef, useState } from "../html.js";
import { save } from "../api.js";
import { may, useAccess } from "../access.js";
import { CallText } from "../call_text.js";
import { NOTHING, Progress, added } from "../import_progress.js";
import { rankFile, teachFile } from "../import_run.js";
import { ROLES, eventOf, guessed, instanceOf, isMixed } from "../mapping.js";
import { Action, Field, NeedsScope, Problem, useTask } from "../parts.js";
import { beat } from "../pulse.js";
import { checkFormat, firstRows } from "../rows.js";
import { TeachAgain, repeatedBy } from "../taught_source.js";
import { UnknownClasses } from "../unknown_classes.js";

const SHOWN = 10;
const LONGEST = 120; // characters of a shown cell

const shown = (value) => {
  const text = typeof value === "object" && value !== null ? JSON.stringify(value) : String(value ?? "");
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
};

function FileBox({ onFile }) {
  const [over, setOver] = useState(false);
  const drop = (event) => {
    event.preventDefault();
    setOver(false);
    if (event.dataTransfer.files.length) onFile(event.dataTransfer.files[0]);
  };
  return html`<div class=${over ? "drop over" : "drop"} onDrop=${drop} onDragLeave=${() => setOver(false)}
    onDragOver=${(event) => {
      event.preventDefault();
      setOver(true);
    }}>
    <label>Drop a file here, or choose one:${" "}
      <input type="file" accept=".csv,.tsv,.txt,.json,.jsonl,.ndjson,.gz" onChange=${(event) => event.currentTarget.files[0] && onFile(event.currentTarget.files[0])} /></label>
    <p class="hint">CSV with a header, or JSON lines; plain or .gz. The file is read in this browser and sent row by row.</p>
  </div>`;
}

function Preview({ rows, roles, onRole }) {
  const columns = Object.keys(roles);
  return html`<div class="scroll" role="region" aria-label="The first rows" tabindex="0"><table>
    <thead>
      <tr>${columns.map((name) => html`<th scope="col" key=${name}>${name}</th>`)}</tr>
      <tr>${columns.map((name) => html`<td key=${name}><select aria-label=${`Role of ${name}`} value=${roles[name]} onChange=${(event) => onRole(name, event.currentTarget.value)}>
        ${Object.entries(ROLES).map(([role, title]) => html`<option key=${role} value=${role}>${title}</option>`)}</select></td>`)}</tr>
    </thead>
    <tbody>${rows.map((row, index) => html`<tr key=${index}>${columns.map((name) => html`<td key=${name}>${shown(row[name])}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}

/** Tell what the columns of an instance become, and what they cannot be. */
function RoleNotes({ rows, roles }) {
  const of = (role) => Object.keys(roles).filter((name) => roles[name] === role);
  const features = of("feature");
  if (rows.some((row) => isMixed(row, roles)))
    return html`<p class="problem" role="alert">An instance is a text or features, not both. Give ${features.join(", ")} the role
      text too – the words of all text columns are put together – or give ${of("text").join(", ")} the role “not used”.</p>`;
  const cell = features.map((name) => [name, rows.find((row) => typeof row[name] === "string" && Number.isNaN(Number(row[name])))?.[name]])
    .find(([, value]) => value !== undefined);
  return html`${of("text").length > 0 && html`<p class="hint">The text is read as words and pairs of neighbouring words.</p>`}
    ${features.length > 0 && html`<p class="hint">A number is the value of its feature.
      ${cell && html` Another cell is one feature as a whole: <code>${cell[0]}=${shown(cell[1])}</code>. For its words and pairs of
      words, give ${cell[0]} the role text.`}</p>`}`;
}

export default function Import() {
  useAccess();
  const [file, setFile] = useState(null);
  const [rows, setRows] = useState([]);
  const [roles, setRoles] = useState({});
  const [source, setSource] = useState("");
  const [separator, setSeparator] = useState("");
  const [run, setRun] = useState(null); // { verb, file, sum }
  const [repeated, setRepeated] = useState(0); // events of the source, about which the user is asked
  const abort = useRef();
  const reading = useTask();
  const task = useTask();

  const take = (chosen) => reading.run(async () => {
    setFile(null);
    await checkFormat(chosen);
    const first = await firstRows(chosen, SHOWN);
    const columns = [...new Set(first.flatMap(Object.keys))];
    setFile(chosen);
    setRows(first);
    setRoles(guessed(columns, first));
    setSource(chosen.name);
    setRun(null);
  });
  const begin = (verb, action) => task.run(async () => {
    abort.current = new AbortController();
    let sum = { ...NOTHING, began: performance.now() };
    setRun({ verb, file, sum });
    const report = (each) => {
      sum = added(sum, each);
      setRun({ verb, file, sum });
    };
    try {
      await action(report, abort.current.signal);
    } finally {
      beat();
    }
  });
  const options = { separator: separator.trim(), source: source.trim() };
  const teach = () => begin("learned", (report, signal) => teachFile(file, roles, options, report, signal));
  const check = async () => {
    const events = await task.run(() => repeatedBy(rows.map((row) => eventOf(row, roles, options)), options.source));
    if (events) setRepeated(events);
    else if (events === 0) teach();
  };
  const rank = () => begin("ranked", async (report, signal) =>
    save(`${file.name.replace(/\.\w+(\.gz)?$/, "")}-ranked.csv`, new Blob(await rankFile(file, roles, report, signal)), "text/csv"));
  const used = new Set(Object.values(roles));
  const given = used.has("text") || used.has("feature");
  const isReady = given && !rows.some((row) => isMixed(row, roles));
  return html`<h1>Import</h1>
    <${FileBox} onFile=${take} />
    <${Problem} error=${reading.error} />
    ${file && html`
      <h2>${file.name}</h2>
      <${Preview} rows=${rows} roles=${roles} onRole=${(name, role) => setRoles({ ...roles, [name]: role })} />
      <div class="row">
        <${Field} label="Source of the events" hint="All of a source can be found and erased under Events.">
          <input type="text" value=${source} maxlength="200" onInput=${(event) => setSource(event.currentTarget.value)} /><//>
        <${Field} label="Between several classes of a cell" hint="For example | or ; – empty: one class a cell.">
          <input type="text" value=${separator} onInput=${(event) => setSeparator(event.currentTarget.value)} /><//>
      </div>
      ${used.has("class") && may("learn") && run?.verb !== "learned" && html`<${UnknownClasses} file=${file} roles=${roles} separator=${options.separator} />`}
      <div class="actions">
        <${Action} kind="primary" needs="learn" busy=${task.busy} disabled=${!isReady || !used.has("class")} onClick=${check}>Teach the file<//>
        <${Action} busy=${task.busy} disabled=${!isReady} onClick=${rank}>Rank it to CSV<//>
      </div>
      <${RoleNotes} rows=${rows} roles=${roles} />
      ${!given && html`<p class="hint">Give a column the role text or feature.</p>`}
      ${may("learn") && !used.has("class") && html`<p class="hint">To teach it, give a column the role class.</p>`}
      <${NeedsScope} scope="learn" to="teach" />
      <${CallText} call=${{ method: "POST", path: "/learn", body: eventOf(rows[0], roles, options) }} title="Teach the first row as curl and Python" />
      <${CallText} call=${{ method: "POST", path: "/rank", body: { instances: rows.slice(0, 2).map((row) => instanceOf(row, roles)), k: 5 } }} title="Rank rows as curl and Python" />`}
    <${Problem} error=${task.error} />
    ${repeated > 0 && html`<${TeachAgain} source=${options.source} events=${repeated} onClose=${() => setRepeated(0)}
      onConfirm=${() => {
        teach(); // not awaited: the dialog closes
      }} />`}
    ${run && html`<${Progress} file=${run.file} sum=${run.sum} verb=${run.verb} running=${task.busy} onStop=${() => abort.current.abort()} />`}
  `;
}
