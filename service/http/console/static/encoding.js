// The encoding of a file, by its first bytes, as training/encodings.py guesses it.

const HOLES = [0x81, 0x8d, 0x8f, 0x90, 0x9d]; // bytes without a character in Windows-1252
const WORD = /\p{L}+/gu;
const FOREIGN = /[\u0161\u017e\u00f0\u00fe\u00fd]/giu; // š ž ð þ ý: letters of Windows-1252 that other encodings have instead of theirs
const HIGH = /[\u0080-\uffff]/g;
const AMID = /(?<=\p{L})[\u00a1-\u00a9\u00ab-\u00b1\u00b3\u00b6\u00b8\u00b9\u00bb-\u00bf\u0192\u02c6\u02dc\u2020-\u2022\u2030\u2039\u203a\u20ac\u2122](?=\p{L})/gu;
const LEAST = 3; // high letters that make a word of another script
const SAMPLE = 40; // characters

const beginsWith = (bytes, signs) => signs.every((each, at) => bytes[at] === each);

/** Return the number of characters of several bytes, and that of the bytes that are not UTF-8. */
function countsOfUtf8(bytes) {
  const counts = { wide: 0, wrong: 0 };
  for (let at = 0; at < bytes.length;) {
    const byte = bytes[at];
    const size = byte < 0x80 ? 1 : byte >= 0xc2 && byte < 0xe0 ? 2 : byte >= 0xe0 && byte < 0xf0 ? 3 : byte >= 0xf0 && byte < 0xf5 ? 4 : 0;
    let end = at + 1;
    while (size && end < at + size && end < bytes.length && (bytes[end] & 0xc0) === 0x80) end += 1;
    const isCut = end === bytes.length && end < at + size;
    const isWrong = size === 0 || (end < at + size && !isCut);
    if (isWrong) counts.wrong += 1;
    else if (size > 1 && !isCut) counts.wide += 1;
    at = isWrong ? at + 1 : end;
  }
  return counts;
}

/** Return the encoding of UTF-16 if bytes are 0 at every second place only: those of blanks and of ASCII. */
function withoutMark(bytes) {
  const zeros = [0, 0];
  for (let at = 0; at < bytes.length; at += 1) if (bytes[at] === 0) zeros[at % 2] += 1;
  const isMost = (number) => number > 1 && number * 20 > bytes.length;
  if (isMost(zeros[1]) && !zeros[0]) return "utf-16le";
  return isMost(zeros[0]) && !zeros[1] ? "utf-16be" : null;
}

/** Return whether bytes read as Windows-1252 are words of Western Europe. */
function isWestern(bytes) {
  if (HOLES.some((each) => bytes.includes(each))) return false;
  const text = new TextDecoder("windows-1252").decode(bytes);
  const words = (text.match(WORD) ?? []).filter((word) => word.search(HIGH) >= 0);
  const others = words.filter((word) => word.length >= LEAST && word.match(HIGH).length === word.length);
  const letters = words.join("").match(HIGH)?.length ?? 0;
  const foreign = (words.join("").match(FOREIGN)?.length ?? 0) + (text.match(AMID)?.length ?? 0);
  return others.length * 2 <= words.length && foreign * 10 <= letters;
}

/** Return the likely encoding, or null if there is none. */
export function likelyEncoding(bytes) {
  if (beginsWith(bytes, [0xff, 0xfe])) return "utf-16le";
  if (beginsWith(bytes, [0xfe, 0xff])) return "utf-16be";
  const wide = withoutMark(bytes);
  if (wide) return wide;
  const utf8 = countsOfUtf8(bytes);
  if (utf8.wide >= utf8.wrong) return "utf-8"; // a few other bytes are faults of their rows
  return isWestern(bytes) ? "windows-1252" : null;
}

/** Return some words around the first letter beyond ASCII of a text, by which a person sees whether the encoding is right. */
export function sampleOf(text) {
  const at = text.search(/[^\0-\x7f\ufeff]/);
  if (at < 0) return "";
  const words = text.slice(Math.max(0, at - SAMPLE), at + SAMPLE).toWellFormed();
  return words.split(/[\r\n]+/).find((each) => /[^\0-\x7f\ufeff]/.test(each)).trim();
}
