// JSON without loss: whole numbers keep their digits, keys their order.

/** An object of JSON: its keys in their order, its place in the text, and a key that it, or one in it, has twice. */
export class JsonObject extends Map {
  twice;

  constructor(place) {
    super();
    this.place = place;
  }
}

const TOKEN = /[\s,:]*([{}[\]"]|[^\s{}[\]",:]+)/y;

function scalar(token) {
  if (token === "null") return null;
  if (token === "true" || token === "false") return token === "true";
  const value = Number(token);
  if (!Number.isFinite(value)) throw new SyntaxError(`the number ${token.slice(0, 30)} is too large`);
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return value;
  return /^-?\d+$/.test(token) ? token : BigInt(value).toString();
}

/** Return where the string that begins at a place ends: behind its quote. */
function endOfString(text, begin) {
  let end = begin;
  let slashes;
  do {
    end = text.indexOf('"', end + 1);
    slashes = 0;
    while (text[end - 1 - slashes] === "\\") slashes += 1;
  } while (slashes % 2);
  return end + 1;
}

function stringIn(text, begin, end) {
  const inside = text.slice(begin + 1, end - 1);
  return inside.includes("\\") ? JSON.parse(text.slice(begin, end)) : inside;
}

/** Return a value of JSON, or raise a SyntaxError. A whole number that JavaScript would round is the text of its digits. */
export function parsed(text) {
  JSON.parse(text); // so that what follows is JSON
  const root = [];
  const open = [root];
  let into = root;
  let key;
  const put = (value) => {
    if (Array.isArray(into)) into.push(value);
    else {
      if (into.has(key)) for (const each of open) each.twice = key;
      into.set(key, value);
      key = undefined;
    }
  };
  TOKEN.lastIndex = 0;
  for (let found; (found = TOKEN.exec(text));) {
    const [, token] = found;
    const at = TOKEN.lastIndex - token.length;
    if (token === '"') {
      const end = endOfString(text, at);
      TOKEN.lastIndex = end;
      const string = stringIn(text, at, end);
      if (key === undefined && into instanceof JsonObject) key = string;
      else put(string);
    } else if (token === "{" || token === "[") {
      const made = token === "{" ? new JsonObject(at) : [];
      put(made);
      open.push(made);
      into = made;
    } else if (token === "}" || token === "]") {
      open.pop();
      into = open.at(-1);
    } else put(scalar(token));
  }
  return root[0];
}

/** Return a cell as a text; a list or an object is written as JSON. */
export const textOf = (value) => (typeof value === "object" && value !== null ? jsonText(value) : String(value ?? ""));

/** Return a value that `parsed` returned, or a Map, as JSON. */
export function jsonText(value) {
  if (value instanceof Map) return `{${Array.from(value, ([name, each]) => `${JSON.stringify(name)}:${jsonText(each)}`).join(",")}}`;
  if (Array.isArray(value)) return `[${value.map(jsonText).join(",")}]`;
  return JSON.stringify(value ?? null);
}
