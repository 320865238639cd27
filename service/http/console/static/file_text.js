// The text of a file of the user, piece by piece: unpacked, and decoded without a replacement character.

export const ENCODINGS = {
  "utf-8": "UTF-8",
  "windows-1252": "Windows-1252 (Western Europe)",
  "windows-1250": "Windows-1250 (Central Europe)",
  "windows-1251": "Windows-1251 (Cyrillic)",
  "windows-1253": "Windows-1253 (Greek)",
  "windows-1254": "Windows-1254 (Turkish)",
  macintosh: "Mac Roman",
  "utf-16le": "UTF-16 (little-endian)",
  "utf-16be": "UTF-16 (big-endian)",
  shift_jis: "Shift JIS (Japanese)",
  gb18030: "GB 18030 (Chinese)",
  big5: "Big5 (Chinese)",
  "euc-kr": "EUC-KR (Korean)",
};

export const LONGEST = 16 * 2 ** 20; // bytes of a line, characters of a cell

const BINARY = [
  [[0x50, 0x4b, 3, 4], "a packed workbook or a zip file. Unpack it"],
  [[0x25, 0x50, 0x44, 0x46], "a PDF. Extract its text"],
  [[0x50, 0x41, 0x52, 0x31], "a Parquet file. Use: manyclass learn FILE"],
  [[0x53, 0x51, 0x4c, 0x69, 0x74, 0x65], "a database of SQLite. Export a table as CSV"],
  [[0x28, 0xb5, 0x2f, 0xfd], "packed by zstd. Unpack it, or use: manyclass learn FILE"],
];
const PACKED = [0x1f, 0x8b];
const SHOWN = 20; // characters in front of a faulty byte
const LOOKED_AT = 2 ** 20; // bytes, by which the encoding is recognised

const beginsWith = (bytes, signs) => signs.every((each, at) => bytes[at] === each);

const isWide = (encoding) => encoding.startsWith("utf-16");

async function* bytesOf(file) {
  const isPacked = beginsWith(new Uint8Array(await file.slice(0, PACKED.length).arrayBuffer()), PACKED);
  const stream = file.stream();
  const reader = (isPacked ? stream.pipeThrough(new DecompressionStream("gzip")) : stream).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error) => {
        throw isPacked ? new Error("The .gz file is cut or damaged, or has several parts: unpack it.") : error;
      });
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {}); // the rest is not needed
  }
}

/** A byte that is not of the encoding becomes a lone surrogate, which no decoded text has. */
const marked = (byte) => String.fromCharCode(0xdc00 + byte);

/** Decodes bytes; each piece but the last ends in front of a character. */
class Decoder {
  #decoder;
  #begins; // whether a character begins with a byte, whatever is in front of it
  #holes;

  constructor(encoding) {
    this.#decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
    this.#begins = encoding === "utf-8" ? (byte) => (byte & 0xc0) !== 0x80 : (byte) => byte < 0x30;
    this.#holes = encoding.startsWith("windows"); // bytes without a character become controls
  }

  /** Return the number of bytes up to the last character. */
  whole(bytes) {
    let end = bytes.length - 1;
    while (end > 0 && !this.#begins(bytes[end])) end -= 1;
    return Math.max(end, 0);
  }

  decode(bytes) {
    let text;
    try {
      text = this.#decoder.decode(bytes);
    } catch {
      return this.#parted(bytes);
    }
    return this.#holes ? text.replace(/[\x80-\x9f]/g, (sign) => marked(sign.charCodeAt(0))) : text;
  }

  #parted(bytes) {
    let at = bytes.length >> 1;
    while (at > 0 && !this.#begins(bytes[at])) at -= 1;
    if (!at) at = bytes.findIndex((byte, place) => place > 0 && this.#begins(byte));
    if (at < 1) return Array.from(bytes, (byte) => (byte < 0x80 ? String.fromCharCode(byte) : marked(byte))).join("");
    return this.decode(bytes.subarray(0, at)) + this.decode(bytes.subarray(at));
  }
}

/** Decodes UTF-16 to the units that a string has: half a character stays a lone surrogate. */
class WideDecoder {
  #isLittle;

  constructor(encoding) {
    this.#isLittle = encoding === "utf-16le";
  }

  whole(bytes) {
    return bytes.length & ~1;
  }

  decode(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    let text = "";
    for (let at = 0; at + 1 < bytes.length; at += 2) text += String.fromCharCode(view.getUint16(at, this.#isLittle));
    return bytes.length % 2 ? text + marked(bytes.at(-1)) : text;
  }
}

/** Return the first bytes of a file, unpacked. */
export async function beginOf(file) {
  const pieces = [];
  let size = 0;
  for await (const each of bytesOf(file)) {
    pieces.push(each);
    size += each.length;
    if (size >= LOOKED_AT) break;
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer()).subarray(0, LOOKED_AT);
}

/** Raise an Error that says what a file is of which these bytes, the first, are no text. */
export function checkText(begin) {
  const found = BINARY.find(([signs]) => beginsWith(begin, signs));
  if (found) throw new Error(`This is ${found[1]}.`);
}

/** Yield the text of a file. */
export async function* textOf(file, encoding) {
  const decoder = isWide(encoding) ? new WideDecoder(encoding) : new Decoder(encoding);
  let rest = new Uint8Array();
  for await (const some of bytesOf(file)) {
    const bytes = rest.length ? new Uint8Array(await new Blob([rest, some]).arrayBuffer()) : some;
    const end = decoder.whole(bytes);
    rest = bytes.slice(end);
    if (rest.length > LONGEST) throw new Error("A line is too long for the encoding to be right.");
    if (end) yield decoder.decode(bytes.subarray(0, end));
  }
  if (rest.length) yield decoder.decode(rest);
}

const FAULTY = /[\ud800-\udfff]/u; // only a lone surrogate matches

export const isFaulty = (text) => FAULTY.test(text);

/** Return what is wrong with a text that has a byte which could not be decoded. */
export function faultOf(text, encoding) {
  const { index } = FAULTY.exec(text);
  const before = text.slice(0, index).split(/[\r\n]/).at(-1).slice(-SHOWN);
  const byte = (text.charCodeAt(index) & 0xff).toString(16).toUpperCase().padStart(2, "0");
  const what = `the byte ${byte} ${before ? `behind “${before}”` : "at the beginning"} is not ${ENCODINGS[encoding].split(" (")[0]}`;
  return `${what}: choose the encoding of the file, e.g. ${encoding === "utf-8" ? "Windows-1252" : "another one"}`;
}

/** Return a text as the parts of a Blob, its faulty bytes as they are in the file. */
export const asParts = (text) =>
  text.split(/([\udc80-\udcff])/u).map((each) => (FAULTY.test(each) ? Uint8Array.of(each.charCodeAt(0) & 0xff) : each));

/** Yield [number, line] of a text in pieces; a line ends with \n, \r\n or \r. */
export async function* linesOf(pieces) {
  let rest = "";
  let number = 0;
  for await (const piece of pieces) {
    const text = rest + piece;
    const isCut = text.endsWith("\r"); // perhaps amid \r\n
    const lines = (isCut ? text.slice(0, -1) : text).split(/\r\n|\r|\n/);
    rest = lines.pop() + (isCut ? "\r" : "");
    for (const line of lines) yield [(number += 1), line];
  }
  if (rest) yield [number + 1, rest.replace(/\r$/, "")];
}
