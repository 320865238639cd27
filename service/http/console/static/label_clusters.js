// Labels that may be one class in several spellings; no codes.

import { plainLabel } from "./label_words.js";
import { distance } from "./new_class.js";

const LEAST = 5; // letters of labels that are compared letter by letter
const MOST = 10_000; // labels that are

const isCode = (name) => /^\S*\d\S*$/.test(name.trim());

const byNumber = (some) => [...some].sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1));

/** Return whether one letter was inserted, left out or replaced, or two next to each other were swapped. */
const areClose = (one, other) => {
  const apart = distance(one, other);
  return apart === 1 || (apart === 2 && one.length === other.length && [...one].sort().join() === [...other].sort().join());
};

/** Return the pairs of texts that are close: those that have a text in common when a letter of each is left out. */
function closePairs(texts) {
  const without = new Map();
  for (const text of texts)
    for (let at = 0; at <= text.length; at += 1) {
      const key = text.slice(0, at) + text.slice(at + 1); // the last one is the text itself
      if (!without.has(key)) without.set(key, new Set());
      without.get(key).add(text);
    }
  const pairs = [...without.values()].flatMap((some) => [...some].flatMap((one, at) => [...some].slice(at + 1).map((other) => [one, other])));
  return pairs.filter(([one, other]) => areClose(one, other));
}

/** Return the sets of connected texts. */
function connected(pairs) {
  const sets = new Map();
  for (const [one, other] of pairs) {
    const whole = new Set([...(sets.get(one) ?? [one]), ...(sets.get(other) ?? [other])]);
    for (const each of whole) sets.set(each, whole);
  }
  return [...new Set(sets.values())];
}

/** Return the clusters of labels [name, number]: { isSpelling, names }, the most frequent name first. The first ones differ
 * in case, blanks, accents, width and signs only; the others in a letter, and have the most frequent spelling of each. */
export function clustersOf(labels) {
  const groups = Map.groupBy(labels.filter(([name]) => !isCode(name)), ([name]) => plainLabel(name));
  const spelled = new Map([...groups].map(([plain, some]) => [plain, byNumber(some)]));
  const compared = [...spelled.keys()].filter((plain) => plain.length >= LEAST && !/\d/.test(plain));
  const close = compared.length > MOST ? [] : connected(closePairs(compared));
  const rows = (plain) => spelled.get(plain).reduce((sum, [, number]) => sum + number, 0);
  return [
    ...[...spelled.values()].filter((some) => some.length > 1).map((names) => ({ isSpelling: true, names })),
    ...close.map((some) => ({ isSpelling: false, names: byNumber([...some].map((plain) => [spelled.get(plain)[0][0], rows(plain)])) })),
  ];
}

export const keyOf = ({ names }) => JSON.stringify(names.map(([name]) => name));

/** Return the class to teach in place of each other name of some clusters. */
export const sameAs = (clusters) => new Map(clusters.flatMap(({ names: [[main], ...others] }) => others.map(([name]) => [name, main])));
