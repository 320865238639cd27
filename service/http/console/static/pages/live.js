// Live: accuracy, learners, reliability, throughput, latency, memory and outdegrees as they change.

import { html, useEffect, useState } from "../html.js";
import { get, path } from "../api.js";
import { CallText } from "../call_text.js";
import { Columns, Lines, Reliability, compact } from "../chart.js";
import { bytes, count, percent, plural, seconds, time } from "../format.js";
import { keepsHistory, may } from "../access.js";
import { GAP, useLive } from "../live_series.js";
import { Action, Dialog, Facts, NeedsScope, Problem, Table, useTask } from "../parts.js";
import { usePulse } from "../pulse.js";

const EVERY = 10_000; // milliseconds, for /stats
const STANDING = "100 % if it is always the first suggestion, 50 % if always the second, 33 % if always the third";
const HEAD = [
  "Learner",
  ["First suggestion right", "share of the messages whose class was the first suggestion"],
  ["Among the first five", "share of the messages whose class was among the first five suggestions"],
  ["How high the right class stands", `on average: ${STANDING}`],
  ["Confidence wrong by", "on average: the distance between how sure suggestions were and how many of them were right"],
  "Time per message",
  "Memory",
  "Role",
];

const clock = (unix) => new Date(1000 * unix).toLocaleTimeString("sv");

/** The unix time of the newest event in the history, null without one. */
async function newestTime() {
  if (!keepsHistory() || !may("learn")) return null;
  return (await get("/events?limit=1")).events[0]?.time ?? null;
}

/** The statistics and the time of the newest event, again every ten seconds and when `again` changes. */
function useStats(again) {
  const [found, setFound] = useState({ stats: null, newest: null });
  const task = useTask();
  useEffect(() => {
    let timer;
    let wanted = true;
    const load = async () => {
      if (!document.hidden) await task.run(async () => setFound({ stats: await get("/stats"), newest: await newestTime() }));
      if (wanted) timer = setTimeout(load, EVERY);
    };
    load();
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [again]);
  return { ...found, error: task.error };
}

/** The accuracy over the longest window that has examples. */
function longest(accuracy) {
  const windows = Object.keys(accuracy).map(Number).sort((a, b) => b - a);
  return accuracy[windows[0]];
}

function Promote({ learner, onClose, onDone }) {
  const call = { method: "POST", path: `${path("learners", learner)}/promote` };
  return html`<${Dialog} title=${`Promote ${learner}`} confirm="Promote" needs="admin" call=${call} onDone=${onDone} onClose=${onClose}>
    <p>From now on it makes the suggestions, and the present one only learns. Both continue to learn, without a restart.</p>
  <//>`;
}

// The weights of titles and embeddings beside words, as outcomes have moved them.
function weightsOf({ descriptions, vectors }) {
  const parts = [descriptions !== null && `titles count ${+descriptions.toFixed(2)}`, vectors !== null && `embeddings ${+vectors.toFixed(2)}`].filter(Boolean);
  return parts.length ? ` In a suggestion, words count 1, ${parts.join(", ")}.` : "";
}

function Learners({ learners, newest, onPromoted }) {
  const [promoted, setPromoted] = useState(null);
  return html`<section aria-label="Learners"><h2>Learners</h2>
    <${Table} label="Learners" head=${HEAD}>
      ${learners.map((each) => {
        const accuracy = longest(each.accuracy);
        const shareOf = (value) => percent(accuracy.examples ? value : null, 1); // of nothing is no share
        return html`<tr key=${each.learner}><td><code>${each.learner}</code></td>
          <td class="number">${shareOf(accuracy.r1)}</td><td class="number">${shareOf(accuracy.r5)}</td><td class="number">${shareOf(accuracy.mrr)}</td>
          <td class="number">${percent(each.confidence.calibration_error, 1)}</td>
          <td class="number">${seconds(each.learn_seconds)}</td><td class="number">${bytes(each.bytes)}</td>
          <td>${each.primary ? "makes the suggestions" : html`<${Action} kind="quiet" needs="admin" aria-label=${`Promote ${each.learner}`}
            onClick=${() => setPromoted(each.learner)}>Promote<//>`}</td></tr>`;
      })}
    <//>
    <p class="hint">${longest(learners[0].accuracy).examples === 0 ? html`No message was taught yet: <a href="#/import">import a file</a>, or teach one under <a href="#/try">Try</a>.` : `Over the last ${plural(longest(learners[0].accuracy).examples, "message")}, each with its suggestions before it was taught${newest === null ? "" : `; the newest ${seconds(Math.max(0, Date.now() / 1000 - newest))} ago, ${time(newest)}`}.`}
      ${weightsOf(learners.find((each) => each.primary).mixture)}
      ${learners.length === 1 && html` The page <a href="#/quality">Quality</a> finds other learners and lets them learn beside this one, and this page compares them.`}</p>
    ${learners.length > 1 && html`<${NeedsScope} scope="admin" to="promote a learner" />`}
    <${CallText} call=${{ method: "GET", path: "/learners" }} />
    ${promoted && html`<${Promote} learner=${promoted} onClose=${() => setPromoted(null)} onDone=${onPromoted} />`}
  </section>`;
}

function Memory({ live, stats }) {
  const limit = live.memoryLimit;
  return html`<div>
    <${Lines} label="Memory of the learners" gap=${GAP} series=${[{ name: "memory", points: live.series("memory") }]} yText=${bytes} yBase=${1024} xText=${clock} />
    ${limit > 0 && html`<p><label>${bytes(stats.bytes)} of ${bytes(limit)} (${percent(stats.bytes / limit, 1)})
      <meter min="0" max=${limit} high=${0.8 * limit} low=${0.5 * limit} optimum="0" value=${stats.bytes}></meter></label></p>`}
  </div>`;
}

export default function Live() {
  const live = useLive();
  const { seq } = usePulse();
  const [promotions, setPromotions] = useState(0);
  const { stats, newest, error } = useStats(promotions);
  return html`<h1>Live</h1>
    <${Problem} error=${live.failure ?? error} />
    <${Facts} of=${[
      ["Changes so far", count(seq)],
      ...Object.entries({ Classes: "classes", Words: "features", "Links of words to classes": "edges" }).map(([title, size]) => [title, stats ? compact(stats[size]) : "–"]),
      ["In the queue", count(live.queue)],
      ["Refused at overload", count(live.shed)],
    ]} />
    <${Lines} label="Accuracy of the suggestions, before each message was taught" yTo=${1} yText=${percent} xText=${(seq) => (live.timeAt(seq) === null ? `change ${count(seq)}` : time(live.timeAt(seq)))} series=${[
      { name: "first suggestion right", points: live.accuracy("r1") },
      { name: "among the first five", points: live.accuracy("r5") },
      { name: "how high the right class stands", points: live.accuracy("mrr") },
    ]} />
    <p class="hint">${live.hasPast ? `The newest 2,000 messages of the history and all since, 100 messages per point.` : "Drawn as messages are taught while this page is open."}
      ${" "}The share of messages whose class was the first suggestion, and among the first five; and how high the right class stands on average: ${STANDING}.</p>
    ${stats && html`<${Learners} learners=${stats.learners} newest=${newest} onPromoted=${() => setPromotions((times) => times + 1)} />`}
    <h2>Service</h2>
    <p class="hint">${live.since ? `Read every two seconds since ${clock(live.since)}, while this page was open in this tab; the last half hour is kept.` : "The first readings come within seconds."}</p>
    <div class="columns">
      <${Lines} label="Messages taught and suggestions made, per second" gap=${GAP} xText=${clock} yText=${compact} series=${[
        { name: "taught", points: live.series("learned") },
        { name: "suggestions", points: live.series("ranked") },
      ]} />
      <${Lines} label="Time per suggestion and per taught message" gap=${GAP} xText=${clock} yText=${seconds} series=${[
        { name: "suggestion, median", points: live.series("rankMedian") },
        { name: "suggestion, slowest 1 %", points: live.series("rankLate") },
        { name: "teaching, median", points: live.series("learnMedian") },
        { name: "teaching, slowest 1 %", points: live.series("learnLate") },
      ]} />
      ${stats && html`<${Memory} live=${live} stats=${stats} />
        <div><${Columns} label="Words by the number of classes that they are linked to" values=${stats.outdegrees} /></div>
        <div><${Reliability} label="How sure, and how often right" bins=${stats.learners[0].confidence.reliability} />
          <p class="hint">Each point stands for suggestions that were about equally sure (to the right), and the share of them that was right
            (upwards). On the dashed line both are equal. “Confidence wrong by” is their average distance from it.</p></div>`}
    </div>
    <${CallText} call=${{ method: "GET", path: "/metrics" }} title="The figures as curl" />
    <${CallText} call=${{ method: "GET", path: "/stats" }} title="The statistics as curl and Python" />
  `;
}
