// The number of the newest event, asked for every two seconds while the page is in view: by it a
// page learns of events that were taught elsewhere, in another tab for example.

import { useEffect, useState } from "./html.js";
import { get } from "./api.js";

const EVERY = 2000; // milliseconds

let now = { seq: null, status: "starting", detail: "" };
const observers = new Set();
let timer;

function set(next) {
  if (next.seq === now.seq && next.status === now.status && next.detail === now.detail) return;
  now = next;
  for (const each of observers) each(now);
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
      set({ seq: now.seq, status, detail: error.message });
    }
  }
  timer = setTimeout(beat, EVERY);
}

/** Return { seq, status, detail }, again whenever they change. */
export function usePulse() {
  const [state, setState] = useState(now);
  useEffect(() => {
    observers.add(setState);
    setState(now);
    return () => observers.delete(setState);
  }, []);
  return state;
}

document.addEventListener("visibilitychange", beat);
