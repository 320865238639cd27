// Word prediction, as `manyclass demo` has it (core/words.py): an instance is a gap in a sentence, its
// features are the words around it, written as patterns with `_` for the gap and `*` for any word.

const PATTERNS = [
  [-1], [-2], [-3], [1], [2], [3], [-2, -1], [-3, -2], [-3, -2, -1], [1, 2], [2, 3], [1, 2, 3],
  [-1, 1], [-2, -1, 1], [-1, 1, 2],
];
const REACH = 3;
const BEYOND = Array(REACH).fill(".");
const WORD = /[\p{L}\p{N}]+/gu;
const PARAGRAPH = /\n\s*\n/;
const SENTENCE_END = /[.!?]+["'\u2019\u201d)\]]*\s+(?=[^a-z\s]*[A-Z0-9])/g;
const ABBREVIATIONS = new Set(["Mr", "Mrs", "Ms", "Dr", "St", "Messrs", "Esq", "Col", "Capt"]);

const wordsOf = (text) => text.match(WORD) ?? [];

/** Yield the words of each sentence in order. */
export function* sentences(text) {
  for (const paragraph of text.split(PARAGRAPH)) {
    let start = 0;
    for (const end of paragraph.matchAll(SENTENCE_END)) {
      const words = wordsOf(paragraph.slice(start, end.index));
      if (ABBREVIATIONS.has(words.at(-1))) continue;
      start = end.index + end[0].length;
      if (words.length) yield words;
    }
    const words = wordsOf(paragraph.slice(start));
    if (words.length) yield words;
  }
}

function pattern(words, gap, places) {
  const first = Math.min(places[0], 0);
  const last = Math.max(places.at(-1), 0);
  const parts = [];
  for (let place = first; place <= last; place += 1)
    parts.push(place === 0 ? "_" : places.includes(place) ? words[gap + place] : "*");
  return parts.join(" ");
}

/** Return the fifteen features of the gap at a position of a sentence. */
export function featuresAround(words, position) {
  const within = [...BEYOND, ...words, ...BEYOND];
  return PATTERNS.map((places) => pattern(within, position + REACH, places));
}

/** Return the features of a text with a gap `_` as a word of its own, else null. */
export function gapFeatures(text) {
  const gap = /(^|\s)_(?=$|[\s.,;:!?])/.exec(text);
  if (!gap) return null;
  const left = wordsOf(text.slice(0, gap.index));
  const right = wordsOf(text.slice(gap.index + gap[0].length));
  return featuresAround([...left, "_", ...right], left.length);
}
