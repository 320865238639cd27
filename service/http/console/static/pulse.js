// The number of the newest event, asked for every two seconds while the page is in view: by it a
// page learns of events that were taught elsewhere, in another tab for example.

import { get } from "./api.js";
import { Shared, useShared } from "./shared.js";

const EVERY = 2000; // milliseconds

const pulse = new Shared({ seq: null, status: "starting", detail: "" });
let timer;

function set(next) {
  const now = pulse.value;
  if (next.seq !== now.seq || next.status !== now.status || next.detail !== now.detail) pulse.set(next);
}

/** Ask now, and from now on again. */
export async function beat() {
  clearTimeout(timer);
  if (!document.hidden) {
    try {
      const ready = await get("/readyz");
      set({ seq: ready.seq, status: "ready", detail: "" });
    } catch (error) {
      const status = error.status ? "not ready" : "unreachable";
      set({ seq: pulse.value.seq, status, detail: error.message });
    }
  }
  timer = setTimeout(beat, EVERY);
}

/** Return { seq, status, detail }, again whenever they change. */
export const usePulse = () => useShared(pulse);

document.addEventListener("visibilitychange", beat);
