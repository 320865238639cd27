// What the service answers, in the words of people at a desk. A name in quotes, or a key of the interface, stays as it is.

const QUOTED = /(`[^`]*`|"[^"]*"|(?<!\w)'[^']*'(?!\w))/;
const PHRASES = [
  [/\bevents? (?=\d)/gi, "change "],
  [/\ban (event|instance)\b/gi, "a message"],
  [/\b(event|instance)\b/gi, "message"],
  [/\b(events|instances)\b/gi, "messages"],
  [/\bfeature\b/gi, "word"],
  [/\bfeatures\b/gi, "words"],
  [/\b(was|were) ranked\b/gi, "got suggestions"],
  [/\branking\b/gi, "suggestion"],
  [/\brankings\b/gi, "suggestions"],
  [/\banalyses of texts\b/gi, "ways to read the texts"],
];

const isCapital = (word) => word[0] !== word[0].toLowerCase();

/** Return a sentence of the service with words of the desk. */
export function deskWords(text) {
  const told = (part) => PHRASES.reduce((before, [from, to]) =>
    before.replace(from, (found) => (isCapital(found) ? to[0].toUpperCase() + to.slice(1) : to)), part);
  return text.split(QUOTED).map((part, at) => (at % 2 ? part : told(part))).join("");
}
