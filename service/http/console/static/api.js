// The calls of the public API, with the key of this session.

import { deskWords } from "./desk_words.js";

const KEY = "manyclass-key"; // in the storage of this tab, gone with it
const LONGEST = 40; // characters of the name of a field
const PATIENCE = 60; // seconds for which a full service is asked again

/** The address of the service; the console may be below a path of a proxy. */
export const ROOT = new URL(".", document.baseURI).href;

export const keyOfSession = () => sessionStorage.getItem(KEY);

export function useKey(key) {
  if (key) sessionStorage.setItem(KEY, key);
  else sessionStorage.removeItem(KEY);
}

/** A refusal of the service, or no answer (status 0). */
export class Refusal extends Error {
  constructor(status, problem, retryAfter) {
    super(deskWords(problem.detail || problem.title || `The service answered ${status}.`));
    this.status = status;
    this.retryAfter = retryAfter;
    this.faults = problem.errors ?? [];
    this.label = problem.label ?? null; // that a message has already
  }
}

/** A path with a name at its end: `path("classes", "a/b")`. */
export const path = (...parts) => `/${parts.map(encodeURIComponent).join("/")}`;

/** A path with parameters; those without a value are left out. */
export function withParameters(base, parameters) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined && value !== null && value !== "" && value !== false)
      query.set(name, value);
  return query.size ? `${base}?${query}` : base;
}

const AMENDS = /^(DELETE|PUT) |^POST \/(classes\/|review\/undo|snapshots\/|rebuild)/;

let amended = 0;

/** Return how many calls of this tab changed what was taught before: counts from before them are not about it. */
export const amendments = () => amended;

/** Return the response to a call, or raise a Refusal. */
export async function send(method, url, { body, lines, bytes, signal } = {}) {
  const headers = {};
  const key = keyOfSession();
  if (key) headers.Authorization = `Bearer ${key}`;
  if (lines !== undefined) headers["Content-Type"] = "application/x-ndjson";
  else if (bytes !== undefined) headers["Content-Type"] = "application/octet-stream";
  else if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(ROOT + url.slice(1), {
      method, headers, signal, cache: "no-store",
      body: lines ?? bytes ?? (body === undefined ? undefined : JSON.stringify(body)),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(0, { detail: "Cannot reach the service." });
  }
  if (response.ok) {
    amended += AMENDS.test(`${method} ${url}`);
    return response;
  }
  const problem = await response.json().catch(() => ({}));
  throw new Refusal(response.status, problem, Number(response.headers.get("Retry-After")));
}

/** Return the JSON that answers a call. */
export const ask = async (method, url, options) => (await send(method, url, options)).json();

export const get = (url, options) => ask("GET", url, options);

/** Return a fault as a text, with the name of the field of a text that it is about. */
export function faultText(detail, faults) {
  const step = /\/text\/([^/]+)$/.exec(faults[0]?.pointer ?? "")?.[1];
  if (step === undefined) return deskWords(detail);
  const name = new URLSearchParams(`name=${step}`).get("name").replaceAll("~1", "/").replaceAll("~0", "~");
  return `the field ${name.slice(0, LONGEST)} of the text: ${deskWords(detail)}`;
}

/** Teach events as a stream of lines; return its summary, the lines refused, and the warnings about others.
 *
 * A service that refuses them for now is asked again, for as long as `isPaused` answers true and for PATIENCE besides.
 */
export async function learnLines(events, signal, isPaused) {
  const lines = events.map((each) => JSON.stringify(each)).join("\n") + "\n";
  for (let waited = 0; ; ) {
    try {
      const text = await (await send("POST", "/learn", { lines, signal })).text();
      const reports = text.trim().split("\n").map((line) => JSON.parse(line));
      const last = reports.at(-1);
      if (last.kind === "failure") throw new Refusal(last.status, last, 1);
      return { ...last, faults: reports.filter((each) => each.kind === "fault"), warnings: reports.filter((each) => each.kind === "warning") };
    } catch (error) {
      if (![429, 503].includes(error.status) || waited >= PATIENCE) throw error;
      const paused = await isPaused();
      await pause(error.retryAfter || 1);
      if (!paused) waited += error.retryAfter || 1;
    }
  }
}

export const pause = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

/** Save a text or other content as a file of the user. */
export function save(name, content, type = "text/plain") {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
