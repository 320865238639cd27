// The figures of the Live page over time: /metrics is read every two seconds from the first visit of
// the page on, and the accuracy of earlier events comes from the history. What was read stays with
// the tab, also when the page is loaded again.

import { useEffect } from "./html.js";
import { ROOT, get, send, withParameters } from "./api.js";
import { keepsHistory, may } from "./access.js";
import { buckets, parsed, quantile, total } from "./prometheus.js";
import { Shared, useShared } from "./shared.js";

const EVERY = 2000; // milliseconds
export const GAP = 10; // seconds between two readings, between which no line is drawn
const KEPT = 900; // readings, half an hour
const BACK = 15; // readings over which a latency is taken
const BLOCK = 100; // events of a point of accuracy
const PAST = 2000; // events of the history at the start
const POINTS = 500; // of accuracy
const STORED = `manyclass-live ${ROOT}`;

const PRIMARY = { role: "primary" };

/** points: [{ at, … }], see `figuresOf`; accuracy: [{ seq, time, r1, r5, mrr }] */
const live = new Shared({ points: [], accuracy: [], last: null, failure: null });
const recent = []; // the newest readings: { at, samples }
let counted = null; // the counters at the last point of accuracy
let started = false;

/** Points of this tab that an earlier load of the page has read. */
function stored() {
  try {
    return JSON.parse(sessionStorage.getItem(STORED)) ?? [];
  } catch {
    return []; // of another release
  }
}

function store() {
  try {
    sessionStorage.setItem(STORED, JSON.stringify(live.value.points));
  } catch {
    // no room: the points are lost with the page
  }
}

/** Return a rate a second of a counter between two readings, null after a restart. */
function rate(before, after, value) {
  const grown = value(after.samples) - value(before.samples);
  return grown < 0 ? null : grown / (after.at - before.at);
}

/** Return the figures of the newest reading: rates since the one before it, times of the last half minute. */
function figuresOf(readings) {
  const after = readings.at(-1);
  const before = readings.at(-2);
  const figures = {
    at: after.at,
    memory: total(after.samples, "memory_bytes"),
    learned: rate(before, after, (samples) => total(samples, "learn_events_total", { result: "learned" })),
    ranked: rate(before, after, (samples) => total(samples, "rank_duration_seconds_count")),
  };
  for (const name of ["rank", "learn"]) {
    const of = ({ samples }) => buckets(samples, "request_duration_seconds", { endpoint: `/${name}`, status: "200" });
    figures[`${name}Median`] = quantile(0.5, of(readings[0]), of(after));
    figures[`${name}Late`] = quantile(0.99, of(readings[0]), of(after));
  }
  return figures;
}

function counters(samples) {
  return {
    examples: total(samples, "progressive_examples_total", PRIMARY),
    first: total(samples, "progressive_hits_total", { ...PRIMARY, k: "1" }),
    five: total(samples, "progressive_hits_total", { ...PRIMARY, k: "5" }),
    reciprocal: total(samples, "progressive_reciprocal_rank_total", PRIMARY),
  };
}

/** Return the accuracy with a point more, if enough events were learned since the last one. */
function withAccuracy(accuracy, samples) {
  const now = counters(samples);
  const grown = counted ? now.examples - counted.examples : 0;
  const seq = total(samples, "seq");
  const time = Date.now() / 1000;
  if (counted === null || grown < 0) counted = now;
  if (grown < 0) return [...accuracy, { seq, time, r1: null, r5: null, mrr: null }]; // after a restart or a promotion
  if (grown < BLOCK / 4) return accuracy;
  const point = {
    seq,
    time,
    r1: (now.first - counted.first) / grown,
    r5: (now.five - counted.five) / grown,
    mrr: (now.reciprocal - counted.reciprocal) / grown,
  };
  counted = now;
  return [...accuracy, point].slice(-POINTS);
}

/** Accuracy of the newest events of the history, in blocks. */
async function pastAccuracy() {
  const events = [];
  let after;
  while (events.length < PAST) {
    const page = await get(withParameters("/events", { limit: 1000, after }));
    events.push(...page.events.filter((each) => each.outcome_known && each.classes.length));
    if (page.next === null) break;
    after = page.next;
  }
  events.reverse();
  const points = [];
  for (let begin = 0; begin + BLOCK <= events.length; begin += BLOCK) {
    const ranks = events.slice(begin, begin + BLOCK).map((each) => each.rank_before ?? Infinity);
    const mean = (value) => ranks.reduce((sum, rank) => sum + value(rank), 0) / BLOCK;
    points.push({
      seq: events[begin + BLOCK - 1].seq,
      time: events[begin + BLOCK - 1].time,
      r1: mean((rank) => (rank === 1 ? 1 : 0)),
      r5: mean((rank) => (rank <= 5 ? 1 : 0)),
      mrr: mean((rank) => 1 / rank),
    });
  }
  return points;
}

async function read() {
  if (!document.hidden) {
    const before = live.value;
    try {
      const samples = parsed(await (await send("GET", "/metrics")).text());
      recent.push({ at: Date.now() / 1000, samples });
      if (recent.length > BACK) recent.shift();
      const points = recent.length > 1 ? [...before.points, figuresOf(recent)].slice(-KEPT) : before.points;
      live.set({ points, accuracy: withAccuracy(before.accuracy, samples), last: samples, failure: null });
    } catch (failure) {
      live.set({ ...before, failure });
    }
  }
  setTimeout(read, EVERY);
}

async function start() {
  if (started) return;
  started = true;
  live.set({ ...live.value, points: stored() });
  addEventListener("pagehide", store);
  if (keepsHistory() && may("learn"))
    live.set({ ...live.value, accuracy: await pastAccuracy().catch(() => []) }); // a chart from now on
  read();
}

/** Return the series of the charts, again with every reading. */
export function useLive() {
  useEffect(() => {
    start();
  }, []);
  const { points, accuracy, last, failure } = useShared(live);
  return {
    failure,
    since: points[0]?.at,
    hasPast: keepsHistory() && may("learn"),
    accuracy: (name) => accuracy.map((each) => [each.seq, each[name]]),
    timeAt: (seq) => accuracy.find((each) => each.seq === seq)?.time ?? null,
    series: (name) => points.map((each) => [each.at, each[name]]),
    memoryLimit: last && total(last, "memory_limit_bytes"),
    queue: last && total(last, "queue_events"),
    shed: last && total(last, "shed_total"),
  };
}
