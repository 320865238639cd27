// The number of the newest event, and whether events are learned now, asked for every second while the
// page is in view: by it a page learns of events that were taught elsewhere, in another tab for example.

import { get } from "./api.js";
import { deskWords } from "./desk_words.js";
import { Shared, useShared } from "./shared.js";

const EVERY = 1000; // milliseconds

const pulse = new Shared({ seq: null, status: "starting", detail: "", paused: null });
let timer;

function set(next) {
  const now = pulse.value;
  const isNew = next.seq !== now.seq || next.status !== now.status || next.detail !== now.detail || next.paused?.reason !== now.paused?.reason;
  if (isNew) pulse.set(next);
}

async function askOnce() {
  try {
    const { seq, learns, reason, detail } = await get("/readyz?to=rank");
    set(learns ? { seq, status: "ready", detail: "", paused: null } : { seq, status: "paused", detail: "", paused: { reason, detail: deskWords(detail) } });
  } catch (error) {
    const status = error.status ? "not ready" : "unreachable";
    set({ seq: pulse.value.seq, status, detail: error.message, paused: null });
  }
}

/** Ask now, and from now on again. */
export async function beat() {
  clearTimeout(timer);
  if (!document.hidden) await askOnce();
  timer = setTimeout(beat, EVERY);
}

/** Return whether teaching is paused at this moment. */
export async function isPaused() {
  await askOnce();
  return pulse.value.paused !== null;
}

/** Return { seq, status, detail, paused }, again whenever they change; `paused` is null or has the reason. */
export const usePulse = () => useShared(pulse);

document.addEventListener("visibilitychange", beat);
