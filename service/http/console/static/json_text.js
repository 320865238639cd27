// JSON without loss: whole numbers keep their digits, keys their order.

const places = new WeakMap(); // of objects, in the text that they were read from
const twice = new WeakMap(); // a key that an object, or one in it, has more than once

const SCALAR = /[^\s[\]{}:,"]+/y;

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

/** Return a value of JSON, or raise a SyntaxError. An object is a Map; a whole number that JavaScript would round is
 * the text of its digits. */
export function parsed(text) {
  JSON.parse(text); // so that what follows is JSON
  const root = [];
  const open = [root];
  let key;
  const put = (value) => {
    const into = open.at(-1);
    if (Array.isArray(into)) into.push(value);
    else {
      if (into.has(key)) for (const each of open) twice.set(each, key);
      into.set(key, value);
      key = undefined;
    }
  };
  for (let at = 0; at < text.length;) {
    const sign = text[at];
    let end = at + 1;
    if (sign === "{" || sign === "[") {
      const made = sign === "{" ? new Map() : [];
      places.set(made, at);
      put(made);
      open.push(made);
    } else if (sign === "}" || sign === "]") open.pop();
    else if (sign === '"') {
      end = endOfString(text, at);
      const found = JSON.parse(text.slice(at, end));
      if (key === undefined && open.at(-1) instanceof Map) key = found;
      else put(found);
    } else {
      SCALAR.lastIndex = at;
      const token = SCALAR.exec(text)?.[0];
      if (token) {
        put(scalar(token));
        end = at + token.length;
      }
    }
    at = end;
  }
  return root[0];
}

/** Return the place of an object in the text that it was read from. */
export const placeOf = (object) => places.get(object);

/** Return a key that an object, or one in it, has more than once; undefined if there is none. */
export const keyTwice = (object) => twice.get(object);

/** Return a value as JSON; of objects and lists, as `parsed` returns them. */
export function jsonText(value) {
  if (value instanceof Map) return `{${Array.from(value, ([name, each]) => `${JSON.stringify(name)}:${jsonText(each)}`).join(",")}}`;
  if (Array.isArray(value)) return `[${value.map(jsonText).join(",")}]`;
  return JSON.stringify(value ?? null);
}
