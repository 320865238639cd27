// The two samples that an empty service offers, taught through POST /learn like any other events.

import { ROOT, learnLines } from "./api.js";
import { featuresAround, sentences } from "./gap_words.js";
import { isPaused } from "./pulse.js";

const LINES = 500; // events of one request
const FEW_LINES = 150; // of a small sample, whose accuracy rises soon

async function unpacked(name) {
  const response = await fetch(`${ROOT}console/samples/${name}`);
  if (!response.ok) throw new Error(`The sample ${name} is not there.`);
  return new Response(response.body.pipeThrough(new DecompressionStream("gzip"))).text();
}

async function questions() {
  const text = await unpacked("banking77.jsonl.gz");
  return text.trim().split("\n").map((line) => JSON.parse(line));
}

async function gaps() {
  const events = [];
  for (const words of sentences(await unpacked("persuasion.txt.gz")))
    words.forEach((word, position) =>
      events.push({ features: featuresAround(words, position), classes: [word], sentence: words, position }));
  return events;
}

export const SAMPLES = [
  {
    name: "banking",
    title: "77 banking intents",
    text: "Two thousand questions of customers to a bank, by intent. A few seconds.",
    source: "sample: 77 banking intents",
    events: questions,
    tries: [
      "my new card is still not here",
      "why was I charged for taking out cash",
      "someone stole my phone",
    ],
  },
  {
    name: "novel",
    title: "Watch it read a novel",
    text: "Each word of Jane Austen's Persuasion is predicted from the words around it, then learned.",
    source: "sample: a novel",
    events: gaps,
    tries: [
      "Captain _ was in the room",
      "It was a quarter of an _ before they came",
      "they walked together _ the street",
    ],
  },
];

/** Teach a sample; after each request, report { done, total, accepted, r1, r5, faults, last }. */
export async function teachSample(sample, report, signal) {
  const events = await sample.events();
  const size = events.length < 10 * LINES ? FEW_LINES : LINES;
  for (let begin = 0; begin < events.length; begin += size) {
    signal.throwIfAborted();
    const some = events.slice(begin, begin + size);
    const lines = some.map(({ sentence, position, ...event }, index) => ({
      ...event,
      source: sample.source,
      event_id: `sample-${sample.name}-${begin + index + 1}`, // so that a second time changes nothing
    }));
    const { accepted, r1, r5, duplicates, rejected } = await learnLines(lines, signal, isPaused);
    report({ done: begin + some.length, total: events.length, accepted, r1, r5, duplicates, rejected, last: some.at(-1) });
  }
}
