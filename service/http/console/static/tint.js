// The words of a text, tinted by their votes for a class.

import { html, useMemo } from "./html.js";
import { count, fixed } from "./format.js";

// Letters of scripts without spaces, with marks, are words; so are emoji.
const SCRIPTS = "Han Hira Kana Bopo Tang Kits Nshu Thai Laoo Mymr Khmr Tale Talu Lana Tavt Ahom";
const UNSPACED = String.raw`(?=[${SCRIPTS.replace(/\w+ ?/g, "\\p{scx=$&}").replaceAll(" ", "")}])(?![\u02B0-\u02FF])[\p{L}\p{Nl}]`; // an apostrophe or a tone is of its word
// Unicode 15.0 has more of them than later versions.
const PICTOGRAPH = String.raw`[\p{ExtPict}\u2605\u2607-\u2612\u2616-\u2685\u2690-\u2705\u2708-\u2712\u{1F000}-\u{1F0FF}\u{1F249}-\u{1F3FA}\u{1F400}-\u{1F53D}\u{1F546}-\u{1F64F}\u{1F680}-\u{1F6FF}]`;
const EMOJI = String.raw`\p{RI}\p{RI}|${PICTOGRAPH}(?:\p{EMod}|\u200D${PICTOGRAPH})*`;
const LETTER = String.raw`[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}]`;
const WORD = new RegExp(`${EMOJI}|${UNSPACED}\\p{M}*|(?:(?!${UNSPACED}|${PICTOGRAPH})${LETTER})+`, "gu");
const ATTACHED = /^[\p{M}\p{DI}\u1160-\u11FF]/u; // marks, invisible signs, later parts of Hangul
const JOINED = new RegExp(`(${PICTOGRAPH}|\\p{EMod})$`, "u"); // by a zero-width joiner to the next emoji
const SMALL = /[^ı\p{sc=Cherokee}]+/gu; // kept, and folded to capitals
const RUN = 4; // characters
const SHOWN = 20_000; // characters of a text, or of the texts of fields
const LONG = 300; // characters, behind which it may scroll

/** Return a text as the service folds it: NFKC_Casefold, without the dot of the Turkish İ. */
const foldedPart = (text) =>
  text
    .replace(/\p{DI}/gu, "")
    .normalize("NFKC")
    .replace(SMALL, (part) => part.toLowerCase().toUpperCase().toLowerCase())
    .replace(/\p{sc=Cherokee}+/gu, (part) => part.toUpperCase())
    .replaceAll("ς", "σ")
    .normalize("NFC")
    .replaceAll("i\u0307", "i");

/** Return a text as stretches: each character with those behind it that may change it. */
function stretches(text) {
  const found = [];
  for (const sign of text)
    if (found.length && sign > "\x7f" && ATTACHED.test(sign.normalize("NFKC"))) found[found.length - 1] += sign;
    else found.push(sign);
  return found;
}

/** Return the words of a text: { name, begin, end, score }. Those of one stretch, as of the Arabic ﷺ, have its places. */
function wordsOf(text) {
  const [begins, ends] = [[], []]; // of the stretch of each unit of the folded text
  let folded = "";
  let at = 0;
  for (const stretch of stretches(text)) {
    const part = foldedPart(stretch);
    folded += stretch.includes("\u200D") && JOINED.test(part) ? `${part}\u200D` : part;
    while (begins.length < folded.length) {
      begins.push(at);
      ends.push(at + stretch.length);
    }
    at += stretch.length;
  }
  return [...folded.matchAll(WORD)]
    .map(({ 0: word, index }) => ({ name: word.replace(/[\u200D\p{EMod}]/gu, ""), begin: begins[index], end: ends[index + word.length - 1], score: 0 }))
    .filter((each) => each.name);
}

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
  const words = wordsOf(text);
  const pairs = words.slice(1).map((word, before) => `${words[before].name} ${word.name}`);
  const first = [...new Set(words.map(({ name }) => name))].slice(0, 64); // they have runs
  const parts = words.map(({ name }) => [name, ...(first.includes(name) ? runs(name) : [])]);
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
    if (word.begin < end) { // of the stretch of the word before
      found.at(-1).text += text.slice(end, word.end);
      found.at(-1).score += word.score;
    } else {
      if (word.begin > end) found.push({ text: text.slice(end, word.begin), score: null });
      found.push({ text: text.slice(word.begin, word.end), score: word.score });
    }
    end = word.end;
  }
  if (end < text.length) found.push({ text: text.slice(end), score: null });
  return found;
}

/** Return the votes for the features of a field, by their names within it. */
const ofField = (field, votes) => votes.flatMap(({ feature, score }) => (feature.startsWith(`${field}:`) ? [{ feature: feature.slice(field.length + 1), score }] : []));

/** Return the first pieces of a text, of `most` characters, and how many are behind them. */
function firstOf(parts, most) {
  let size = 0;
  const shown = parts.flatMap(({ text, score }) => {
    const room = most - size;
    size += text.length;
    return room > 0 ? [{ text: text.slice(0, room).replace(/[\ud800-\udbff]$/, ""), score }] : [];
  });
  return { shown, more: Math.max(0, size - most) };
}

function Pieces({ field, shown, more, most }) {
  return html`<p class="tinted">${field && html`<b>${field}</b> `}${shown.map(({ text: word, score }, index) =>
    score
      ? html`<mark key=${index} class=${score > 0 ? "for" : "against"} title=${fixed(score)}
          style=${{ "--share": Math.abs(score) / most }}>${word}</mark>`
      : word)}${more > 0 && html`<span class="hint">… and ${count(more)} more characters</span>`}</p>`;
}

/** A text, or texts of fields behind their names, in a box that scrolls. */
export function TintedText({ text, votes }) {
  const { texts, most, isLong } = useMemo(() => {
    const given = typeof text === "string" ? [["", text]] : Object.entries(text);
    const all = given.map(([field, its]) => [field, pieces(its, field ? ofField(field, votes) : votes)]);
    return {
      texts: all.map(([field, parts]) => ({ field, ...firstOf(parts, Math.ceil(SHOWN / all.length)) })),
      most: all.flatMap(([, parts]) => parts).reduce((found, { score }) => Math.max(found, Math.abs(score ?? 0)), 1e-9),
      isLong: given.reduce((size, [, its]) => size + its.length, 0) > LONG,
    };
  }, [text, votes]);
  return html`<div class="tints" role="group" aria-label="The text with its words tinted" tabindex=${isLong ? 0 : undefined}>${texts.map((each) =>
    html`<${Pieces} key=${each.field} ...${each} most=${most} />`)}</div>`;
}
