// The parts of the reading of messages: as the service names them, and in plain words.

export const TEXT_PARTS = [
  ["pairs", "pairs of neighbouring words"],
  ["characters", "parts of words, for other forms and misspelt ones"],
  ["unmarked", "words without their accents too"],
  ["symbols", "signs at words: c++, .net"],
];

const LIST = new Intl.ListFormat("en");

/** Return all parts of a reading, such as "words+pairs", as a list in words. */
export function readingOf(parts) {
  const named = parts.split("+");
  return LIST.format(["words", ...TEXT_PARTS.filter(([part]) => named.includes(part)).map(([, plain]) => plain)]);
}
