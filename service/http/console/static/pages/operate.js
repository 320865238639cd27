// Operate: health, durability, snapshots, rebuilds, processes and settings.

import { html, useEffect, useState } from "../html.js";
import { ask, get, save, send } from "../api.js";
import { checkAccess, keepsHistory, may, readStats, useAccess } from "../access.js";
import { CallText } from "../call_text.js";
import { deskWords } from "../desk_words.js";
import { bytes, count, plural, seconds, time } from "../format.js";
import { Action, Dialog, Field, NeedsScope, Problem, Status, Table, useAgain, useTask } from "../parts.js";
import { pauseText } from "../paused.js";
import { beat, usePulse } from "../pulse.js";
import { TEXT_PARTS } from "../text_parts.js";
import { WhenRebuilt, whenRebuilt } from "../when_erased.js";

const EVERY = 1000; // milliseconds, while a rebuild runs
const WATCH = 10_000; // milliseconds between two looks at the health

const SCARCE = 0.05; // share of the disk, below which it needs attention
const OLD_SNAPSHOT = 86_400; // seconds

/** Say what the next rebuild does to the messages that wait for it, and when it comes. */
function waitText(stats) {
  const { amendments, erasures } = stats.history;
  const corrected = amendments - erasures;
  const erased = erasures && `${plural(erasures, "erased message")} ${erasures === 1 ? "leaves" : "leave"} the disk`;
  const other = corrected && `${plural(corrected, "corrected message")} ${corrected === 1 ? "counts" : "count"} by ${corrected === 1 ? "its" : "their"} new label`;
  return `${[erased, other].filter(Boolean).join(" and ")} with the next rebuild. ${whenRebuilt(stats)}`;
}

/** What an operator watches: { name, value, fault, todo }; `fault` says what to do, empty while all is well;
 * `todo` what a rebuild would do. */
function checksOf(stats, pulse) {
  const { health, history, newest_snapshot: newest } = stats;
  const { status, detail, paused } = pulse;
  const age = newest && Date.now() / 1000 - newest.taken_at;
  const waits = history?.amendments ?? 0;
  return [
    { name: "Suggestions", value: ["ready", "paused"].includes(status) ? "work" : status, fault: ["ready", "paused"].includes(status) ? "" : detail },
    { name: "Teaching", value: paused ? "paused" : status === "ready" ? "works" : status, fault: paused ? `${pauseText(paused)} The reason: ${paused.detail}.` : "" },
    { name: "Learned so far", value: `${plural(stats.classes, "class", "classes")}, ${plural(stats.features, "word")}`, fault: "" },
    health.disk && { name: "Disk", value: `${bytes(health.disk.free)} free of ${bytes(health.disk.total)}`,
      fault: health.store_full ? "It is full: free some room." : health.disk.free < SCARCE * health.disk.total ? "It is nearly full: free some room." : "" },
    { name: "Memory", value: `${bytes(stats.bytes)} of ${stats.settings.MANYCLASS_MAX_BYTES} allowed`,
      fault: stats.evicted_features + stats.evicted_classes > 0 ? `${plural(stats.evicted_features, "rare word")} and ${plural(stats.evicted_classes, "rare class", "rare classes")} were dropped at a limit: see MANYCLASS_MAX_FEATURES, _CLASSES and _BYTES.` : "" },
    { name: "Queue", value: plural(health.queued_events, "message"), fault: health.refused_by_queue ? `${plural(health.refused_by_queue, "request")} found it full and was refused.` : "" },
    { name: "Review", value: `${plural(stats.review.items, "message")} in its queue, with those labelled in the last ten minutes`,
      fault: stats.review.failing ? `New ones are only in memory: ${stats.review.failing}.` : "" },
    { name: "Newest snapshot", value: newest ? `${time(newest.taken_at)}, change ${count(newest.seq)}` : "none yet",
      fault: health.snapshot_failures ? `${plural(health.snapshot_failures, "snapshot")} failed: see the log of the service.` : age > OLD_SNAPSHOT && stats.seq > newest.seq ? "It is older than a day." : "" },
    history && { name: "History", value: `${plural(history.events, "change")}, ${bytes(history.bytes)}`,
      fault: history.failures ? `${plural(history.failures, "write")} failed: see the log of the service.` : "" },
    history && { name: "Corrections", todo: waits ? waitText(stats) : "", value: waits ? `${plural(waits, "message")} ${waits === 1 ? "waits" : "wait"} for a rebuild` : "none waits for a rebuild",
      fault: history.rebuild_failures ? `${plural(history.rebuild_failures, "rebuild")} failed: see the log of the service.` : "" },
    stats.store_unreachable_seconds > 1 && { name: "Store", value: `unreachable for ${seconds(stats.store_unreachable_seconds)}`, fault: "Check the connection to the store." },
  ].filter(Boolean);
}

function Health({ stats, rebuild }) {
  const checks = checksOf(stats, usePulse());
  const faults = checks.filter((each) => each.fault);
  const { recovery } = stats;
  return html`<section aria-label="Health"><h2>Health</h2>
    <${Status}><p>${faults.length ? `${plural(faults.length, "thing needs", "things need")} attention.` : "Everything works."}</p><//>
    <${Table} label="Health" head=${["Part", "State", "To do"]}>${checks.map(({ name, value, fault, todo }) => html`<tr key=${name}>
      <td><span class=${`dot ${fault ? "bad" : "well"}`} aria-hidden="true"></span> ${name}</td><td>${value}</td><td>${fault || (!todo && html`<span class="hint">nothing</span>`)}
        ${todo && html`${fault && " "}${todo} <${Action} kind="small" needs="admin" busy=${rebuild.isRunning} onClick=${() => rebuild.run()}>${rebuild.isRunning ? "Rebuilding …" : "Rebuild now"}<//>`}</td></tr>`)}<//>
    <details><summary>Storage and last start</summary>
      <p>A taught message is ${deskWords(stats.durability)}.</p>
      <p>The service started from ${recovery.snapshot ? `the snapshot of change ${count(recovery.snapshot.seq)}` : "nothing"} in
        ${" "}${seconds(recovery.seconds)} and read ${plural(recovery.replayed, "change")} again.
        ${Object.entries(recovery.refused).map(([number, reason]) => ` Snapshot ${number} was refused: ${reason}.`)}</p>
    </details>
    <${CallText} call=${{ method: "GET", path: "/stats" }} />
  </section>`;
}

function Restore({ snapshot, onClose, onDone }) {
  return html`<${Dialog} title="Restore a snapshot" confirm="Restore" kind="danger" needs="admin" onClose=${onClose}
    call=${{ method: "POST", path: `/snapshots/${snapshot.seq}/restore` }} onDone=${({ seq }) => onDone(`The snapshot of change ${count(snapshot.seq)} is restored, as change ${count(seq)}.`)}>
    <p>The service returns to what it had learned at change ${count(snapshot.seq)}, ${time(snapshot.taken_at)}. What was
      taught later has no influence any more.</p>
  <//>`;
}

function Snapshots() {
  const [snapshots, setSnapshots] = useState(null);
  const [restoring, setRestoring] = useState(null);
  const [said, setSaid] = useState("");
  const task = useTask();
  const load = async () => setSnapshots((await get("/snapshots")).snapshots);
  const reading = useTask();
  useEffect(() => {
    if (may("admin")) reading.run(load);
  }, [useAgain(reading.error)]);
  const take = () => task.run(async () => {
    const taken = await ask("POST", "/snapshots");
    setSaid(`A snapshot of change ${count(taken.seq)} is taken, ${bytes(taken.bytes)}.`);
    await load();
  });
  const download = () => task.run(async () => {
    const response = await send("GET", "/state");
    const name = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "")?.[1];
    save(name ?? "manyclass.snapshot", await response.blob());
  });
  if (!may("admin")) return html`<section><h2>Snapshots</h2><${NeedsScope} scope="admin" to="see and take snapshots" /></section>`;
  return html`<section aria-label="Snapshots"><h2>Snapshots</h2>
    <p class="hint">A snapshot holds everything learned up to a change. The service starts from the newest one.</p>
    <div class="actions">
      <${Action} needs="admin" busy=${task.busy} onClick=${take}>Take one now<//>
      <${Action} needs="admin" busy=${task.busy} onClick=${download}>Download the state<//>
    </div>
    <${Status}>${said && html`<p>${said}</p>`}<//>
    <${Problem} error=${task.error ?? reading.error} />
    ${snapshots && html`<${Table} label="Snapshots" head=${["Change", "Taken", "Size", "Action"]}>
      ${snapshots.map((each) => html`<tr key=${each.seq}><td class="number">${count(each.seq)}</td><td>${time(each.taken_at)}</td>
        <td class="number">${bytes(each.bytes)}</td>
        <td><button type="button" class="quiet" aria-label=${`Restore change ${each.seq}`} onClick=${() => setRestoring(each)}>Restore</button></td></tr>`)}
    <//>`}
    <${CallText} call=${{ method: "POST", path: "/snapshots" }} title="Take a snapshot as curl and Python" />
    <${CallText} call=${{ method: "GET", path: "/state", save: "state.snapshot" }} title="Download the state as curl and Python" />
    ${restoring && html`<${Restore} snapshot=${restoring} onClose=${() => setRestoring(null)}
      onDone=${(text) => {
        setSaid(text);
        load();
        checkAccess();
      }} />`}
  </section>`;
}

/** Return { status, isRunning, error, run }: the state of rebuilds, asked for each second while one runs; `run` begins one,
 * and returns whether it ended well. */
function useRebuild() {
  const [status, setStatus] = useState(null);
  const task = useTask();
  const { seq } = usePulse();
  const isRunning = Boolean(status?.running);
  const load = async () => setStatus(await get("/rebuild"));
  useEffect(() => {
    if (may("learn") && keepsHistory()) load().catch(() => setStatus(null)); // the button tells why
  }, [seq]);
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => load().catch(() => {}), EVERY); // a service that is away is asked again
    return () => {
      clearInterval(timer);
      checkAccess(); // the numbers of classes and features
    };
  }, [isRunning]);
  const run = (body) => task.run(async () => {
    try {
      await ask("POST", "/rebuild", { body });
      return true;
    } finally {
      await beat();
      await load();
      await checkAccess();
    }
  });
  return { status, isRunning: task.busy || isRunning, error: task.error, run };
}

/** Boxes for the parts of a message that count. `text` is an analysis as the service names it. */
function Reading({ text, onChange }) {
  const parts = text.split("+");
  const tick = (part) => (event) => {
    const { checked } = event.currentTarget;
    const kept = TEXT_PARTS.map(([name]) => name).filter((name) => (name === part ? checked : parts.includes(name)));
    onChange(["words", ...kept].join("+"));
  };
  return html`<details><summary>How messages are read</summary>
    <p class="hint">Beside the words of a message these count. With another choice a rebuild reads every message of the
      history again; the service is then as if it had been so from the first one on.</p>
    ${TEXT_PARTS.map(([name, plain]) => html`<p key=${name}><label class="check"><input type="checkbox" checked=${parts.includes(name)} onChange=${tick(name)} /> ${plain}</label></p>`)}
  </details>`;
}

function Rebuild({ stats, rebuild: { status, isRunning, error, run } }) {
  const present = stats.settings.MANYCLASS_TEXT;
  const [chosen, setChosen] = useState(null);
  const body = chosen && chosen !== present ? { text: chosen } : undefined;
  const rebuild = async () => (await run(body)) && setChosen(null);
  if (!keepsHistory()) return null;
  return html`<section aria-label="Rebuild"><h2>Rebuild</h2>
    <p class="hint">A rebuild learns all messages of the history again, without the erased ones and with the corrected labels.
      ${" "}<${WhenRebuilt} /></p>
    <${Status}><p>${status?.waiting
      ? `${plural(status.waiting, "corrected or erased message waits", "corrected or erased messages wait")} for a rebuild.`
      : "No corrected or erased message waits for a rebuild."}
      ${status?.last && html` The last one learned ${plural(status.last.events, "message")} in ${seconds(status.last.seconds)}, ${time(status.last.finished_at)}.`}</p><//>
    <${Reading} text=${chosen ?? present} onChange=${setChosen} />
    <div class="actions"><${Action} needs="admin" busy=${isRunning} onClick=${rebuild}>
      ${isRunning ? "Rebuilding …" : "Rebuild now"}<//></div>
    ${status?.running && html`<p class="hint">${plural(status.learned, "message")} learned so far.</p>`}
    <${NeedsScope} scope="admin" to="rebuild" />
    <${Problem} error=${error} />
    <${CallText} call=${{ method: "POST", path: "/rebuild", body }} />
  </section>`;
}

function Processes({ stats }) {
  return html`<section aria-label="Processes"><h2>Processes</h2>
    ${stats.processes
      ? html`<${Table} label="Processes" head=${["Name", "Change", "Role"]}>${stats.processes.map((each) => html`<tr key=${each.name}>
          <td>${each.name}${each.name === stats.process ? " (this one)" : ""}</td><td class="number">${count(each.seq)}</td>
          <td>${each.leads ? "takes the snapshots" : "follows"}</td></tr>`)}<//>`
      : html`<p>One process with its own store.</p>`}
  </section>`;
}

/** The settings in force; an admin key also sees where each comes from. */
function Settings({ values }) {
  const [settings, setSettings] = useState(() => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }])));
  const [wanted, setWanted] = useState("");
  const task = useTask();
  useEffect(() => {
    if (may("admin")) task.run(async () => setSettings((await get("/settings")).settings));
  }, [useAgain(task.error)]);
  const shown = Object.entries(settings).filter(([name]) => name.toLowerCase().includes(wanted.toLowerCase()));
  return html`<section aria-label="Settings in force"><h2>Settings in force</h2>
    <details><summary>${plural(Object.keys(settings).length, "setting")}</summary>
    <${Field} label="Find"><input type="search" value=${wanted} onInput=${(event) => setWanted(event.currentTarget.value)} /><//>
    <${Problem} error=${task.error} />
    <${Table} label="Settings" kind="settings" head=${["Setting", "Value", "From", "Meaning"]}>
      ${shown.map(([name, { value, source, help }]) => html`<tr key=${name}><td><code>${name}</code></td>
        <td>${value === "" ? "–" : value}</td><td class=${["default", "not given"].includes(source) ? "hint" : ""}>${source ?? "–"}</td><td class="hint">${help ?? "–"}</td></tr>`)}
    <//>
    <${NeedsScope} scope="admin" to="see the source of each value" />
    <p class="hint">A setting that is “not given” has the value stored with the model, or one chosen by the service.</p>
    <${CallText} call=${{ method: "GET", path: "/settings" }} /></details>
  </section>`;
}

export default function Operate() {
  const { stats } = useAccess();
  const { seq } = usePulse();
  const rebuild = useRebuild();
  useEffect(() => {
    const read = () => readStats().catch(() => {}); // the pulse says that the service is away
    read();
    const timer = setInterval(read, WATCH);
    return () => clearInterval(timer);
  }, [seq]);
  return html`<h1>Operate</h1>
    <${Health} stats=${stats} rebuild=${rebuild} />
    <${Snapshots} />
    <${Rebuild} stats=${stats} rebuild=${rebuild} />
    <${Processes} stats=${stats} />
    <${Settings} values=${stats.settings} />`;
}
