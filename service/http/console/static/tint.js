// The words of a text, tinted by their votes for a class.

import { html } from "./html.js";
import { fixed } from "./format.js";

// Letters of scripts without spaces are words, each with its marks; so are emoji.
const UNSPACED = `(?=[${[
  ...["Han", "Hiragana", "Katakana", "Bopomofo", "Tangut", "Khitan_Small_Script", "Nushu", "Thai", "Lao"],
  ...["Myanmar", "Khmer", "Tai_Le", "New_Tai_Lue", "Tai_Tham", "Tai_Viet", "Ahom"],
]
  .map((each) => `\\p{scx=${each}}`)
  .join("")}])\\p{L}`;
const EMOJI = String.raw`\p{RI}\p{RI}|\p{ExtPict}(?:\uFE0F|\p{EMod}|\u200D\p{ExtPict})*`;
const LETTER = String.raw`[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{DI}]`;
const WORD = new RegExp(`${EMOJI}|${UNSPACED}\\p{M}*|(?:(?!${UNSPACED})${LETTER})+`, "gu");
const RUN = 4; // characters

/** The name of the feature of a word, without what is invisible and skin tones.
 *
 * Letters that the service parts, or folds to capital ones, have another name there: these words stay untinted.
 */
const folded = (word) =>
  word
    .replace(/[\p{DI}\p{EMod}]/gu, "")
    .normalize("NFKC")
    .replace(/[^ı]+/g, (part) => part.toUpperCase().toLowerCase())
    .replaceAll("ς", "σ")
    .replaceAll("i\u0307", "i");

/** The names of the features of the runs of characters of a word. */
function runs(name) {
  const marked = [..."<", ...name, ">"];
  if (marked.length <= RUN) return [];
  return marked.slice(RUN - 1).map((_, begin) => `~${marked.slice(begin, begin + RUN).join("")}`);
}

/** Return the pieces of a text: { text, score } with the score of each word, null between words.
 *
 * A feature of two neighbouring words gives each a half; a run of characters gives all to its word.
 * The vote for a feature that comes twice is divided among both.
 */
export function pieces(text, votes) {
  const scores = new Map(votes.map(({ feature, score }) => [feature, score]));
  const words = [...text.matchAll(WORD)]
    .map((match) => ({ begin: match.index, text: match[0], name: folded(match[0]), score: 0 }))
    .filter((each) => each.name);
  const pairs = words.slice(1).map((word, before) => `${words[before].name} ${word.name}`);
  const parts = words.map((each) => [each.name, ...runs(each.name)]);
  const times = new Map();
  for (const name of [...parts.flat(), ...pairs]) times.set(name, (times.get(name) ?? 0) + 1);
  const share = (name) => (scores.get(name) ?? 0) / times.get(name);
  words.forEach((word, place) => (word.score += parts[place].reduce((sum, name) => sum + share(name), 0)));
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
