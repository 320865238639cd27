// The text format of Prometheus, and figures over the time between two readings.

const LINE = /^manyclass_([a-z0-9_]+)(?:\{(.*)\})? (\S+)/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** Return samples by name: [{ labels, value }]. */
export function parsed(text) {
  const samples = new Map();
  for (const line of text.split("\n")) {
    const match = LINE.exec(line);
    if (!match) continue;
    const labels = {};
    for (const [, name, value] of (match[2] ?? "").matchAll(LABEL)) labels[name] = value;
    if (!samples.has(match[1])) samples.set(match[1], []);
    samples.get(match[1]).push({ labels, value: Number(match[3]) });
  }
  return samples;
}

/** Return the samples of a name whose labels are as wanted. */
const chosen = (samples, name, wanted = {}) => (samples.get(name) ?? []).filter(({ labels }) => Object.entries(wanted).every(([label, text]) => labels[label] === text));

/** Return the sum of the chosen samples. */
export const total = (...which) => chosen(...which).reduce((sum, { value }) => sum + value, 0);

/** Return the cumulated counts of a histogram by the upper bounds of its buckets. */
export function buckets(samples, name, wanted) {
  const counts = new Map();
  for (const { labels, value } of chosen(samples, `${name}_bucket`, wanted)) {
    const bound = labels.le === "+Inf" ? Infinity : Number(labels.le);
    counts.set(bound, (counts.get(bound) ?? 0) + value);
  }
  return [...counts].sort(([a], [b]) => a - b);
}

/** Return a quantile of the observations between two readings of a histogram, null without any. */
export function quantile(share, before, after) {
  const earlier = new Map(before);
  const grown = after.map(([bound, count]) => [bound, count - (earlier.get(bound) ?? 0)]);
  const all = grown.at(-1)?.[1] ?? 0;
  if (all <= 0) return null;
  let low = 0;
  let below = 0;
  for (const [bound, count] of grown) {
    if (count >= share * all) {
      if (bound === Infinity) return low;
      return low + ((share * all - below) / (count - below)) * (bound - low);
    }
    low = bound;
    below = count;
  }
  return low;
}
