// The words of a text, tinted by their votes for a class.

import { html } from "./html.js";
import { fixed } from "./format.js";

const WORD = /[\p{L}\p{N}\p{M}_]+/gu;

/** Return the pieces of a text: { text, score } with the score of each word, null between words.
 *
 * A feature of two neighbouring words gives each a half. The vote for a word that comes twice is
 * divided among both.
 */
export function pieces(text, votes) {
  const scores = new Map(votes.map(({ feature, score }) => [feature, score]));
  const words = [...text.matchAll(WORD)].map((match) => ({
    begin: match.index,
    text: match[0],
    name: match[0].normalize("NFKC").toLowerCase(),
    score: 0,
  }));
  const pairs = words.slice(1).map((word, before) => `${words[before].name} ${word.name}`);
  const times = new Map();
  for (const name of [...words.map((each) => each.name), ...pairs])
    times.set(name, (times.get(name) ?? 0) + 1);
  const share = (name) => (scores.get(name) ?? 0) / times.get(name);
  words.forEach((word) => (word.score += share(word.name)));
  pairs.forEach((name, before) => {
    words[before].score += share(name) / 2;
    words[before + 1].score += share(name) / 2;
  });
  const found = [];
  let end = 0;
  for (const word of words) {
    if (word.begin > end) found.push({ text: text.slice(end, word.begin), score: null });
    found.push({ text: word.text, score: word.score });
    end = word.begin + word.text.length;
  }
  if (end < text.length) found.push({ text: text.slice(end), score: null });
  return found;
}

/** Return the votes for the features of a field, by their names within it. */
const ofField = (field, votes) => votes.flatMap(({ feature, score }) => (feature.startsWith(`${field}:`) ? [{ feature: feature.slice(field.length + 1), score }] : []));

/** A text, or the texts of fields, each behind its name. */
export function TintedText({ text, votes }) {
  const texts = typeof text === "string" ? [["", pieces(text, votes)]] : Object.entries(text).map(([field, its]) => [field, pieces(its, ofField(field, votes))]);
  const most = Math.max(1e-9, ...texts.flatMap(([, parts]) => parts.map((each) => Math.abs(each.score ?? 0))));
  return texts.map(([field, parts]) => html`<p class="tinted" key=${field}>${field && html`<b>${field}</b> `}${parts.map(({ text: word, score }, index) =>
    score
      ? html`<mark key=${index} class=${score > 0 ? "for" : "against"} title=${fixed(score)}
          style=${{ "--share": Math.abs(score) / most }}>${word}</mark>`
      : word)}</p>`);
}
