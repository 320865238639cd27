// The figures of the Live page over time: /metrics is read every two seconds from the first visit of
// the page on, and the accuracy of earlier events comes from the history.

import { useEffect, useState } from "./html.js";
import { get, send, withParameters } from "./api.js";
import { keepsHistory, may } from "./access.js";
import { buckets, parsed, quantile, total } from "./prometheus.js";

const EVERY = 2000; // milliseconds
const KEPT = 900; // readings, half an hour
const BACK = 15; // readings over which a latency is taken
const BLOCK = 100; // events of a point of accuracy
const PAST = 2000; // events of the history at the start
const POINTS = 500; // of accuracy

const readings = []; // { at, samples }
const observers = new Set();
let accuracy = []; // { seq, r1, r5, mrr }
let counted = null; // the counters at the last point
let started = false;
let failure = null;

const PRIMARY = { role: "primary" };

function counters(samples) {
  return {
    examples: total(samples, "progressive_examples_total", PRIMARY),
    first: total(samples, "progressive_hits_total", { ...PRIMARY, k: "1" }),
    five: total(samples, "progressive_hits_total", { ...PRIMARY, k: "5" }),
    reciprocal: total(samples, "progressive_reciprocal_rank_total", PRIMARY),
  };
}

function addAccuracy(samples) {
  const now = counters(samples);
  const grown = counted ? now.examples - counted.examples : 0;
  if (counted === null || grown < 0) counted = now; // after a restart or a promotion
  if (grown < BLOCK / 4) return;
  accuracy.push({
    seq: total(samples, "seq"),
    r1: (now.first - counted.first) / grown,
    r5: (now.five - counted.five) / grown,
    mrr: (now.reciprocal - counted.reciprocal) / grown,
  });
  accuracy = accuracy.slice(-POINTS);
  counted = now;
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
      r1: mean((rank) => (rank === 1 ? 1 : 0)),
      r5: mean((rank) => (rank <= 5 ? 1 : 0)),
      mrr: mean((rank) => 1 / rank),
    });
  }
  return points;
}

async function read() {
  if (!document.hidden) {
    try {
      const samples = parsed(await (await send("GET", "/metrics")).text());
      readings.push({ at: Date.now() / 1000, samples });
      if (readings.length > KEPT) readings.shift();
      addAccuracy(samples);
      failure = null;
    } catch (error) {
      failure = error;
    }
    for (const each of observers) each({});
  }
  setTimeout(read, EVERY);
}

async function start() {
  if (started) return;
  started = true;
  if (keepsHistory() && may("learn")) accuracy = await pastAccuracy().catch(() => []); // a chart from now on
  read();
}

/** Points of a rate a second, of a counter between two readings. */
function rates(value) {
  const points = [];
  for (let index = 1; index < readings.length; index += 1) {
    const [before, after] = [readings[index - 1], readings[index]];
    const grown = value(after.samples) - value(before.samples);
    if (grown >= 0) points.push([after.at, grown / (after.at - before.at)]);
  }
  return points;
}

function latencies(endpoint, share) {
  return readings.slice(1).map(({ at, samples }, index) => {
    const before = readings[Math.max(0, index + 1 - BACK)].samples;
    const of = (each) => buckets(each, "request_duration_seconds", { endpoint, status: "200" });
    return [at, quantile(share, of(before), of(samples))];
  });
}

const column = (name) => accuracy.map((each) => [each.seq, each[name]]);

/** Return the series of the charts, again with every reading. */
export function useLive() {
  const [, again] = useState({});
  useEffect(() => {
    observers.add(again);
    start();
    return () => observers.delete(again);
  }, []);
  const last = readings.at(-1)?.samples;
  return {
    failure,
    accuracy: { r1: column("r1"), r5: column("r5"), mrr: column("mrr") },
    learned: rates((samples) => total(samples, "learn_events_total", { result: "learned" })),
    ranked: rates((samples) => total(samples, "rank_duration_seconds_count")),
    rankMedian: latencies("/rank", 0.5),
    rankLate: latencies("/rank", 0.99),
    learnMedian: latencies("/learn", 0.5),
    learnLate: latencies("/learn", 0.99),
    memory: readings.map(({ at, samples }) => [at, total(samples, "memory_bytes")]),
    memoryLimit: last && total(last, "memory_limit_bytes"),
    queue: last && total(last, "queue_events"),
    shed: last && total(last, "shed_total"),
  };
}
