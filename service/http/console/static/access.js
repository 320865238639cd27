// The scope of the key in use, and what the service has: asked once for a key.

import { get, keyOfSession } from "./api.js";
import { Shared, useShared } from "./shared.js";

const SCOPES = ["rank", "learn", "admin"];

/** { state: "asking" | "key needed" | "granted" | "failed", scope, stats, detail } */
const access = new Shared({ state: "asking", scope: null, stats: null, detail: "" });

async function allowed(url) {
  try {
    await get(url);
    return true;
  } catch (error) {
    if (error.status === 403) return false;
    if (error.status === 401) throw error;
    return true; // the key was accepted before the call failed
  }
}

/** Find out what the key may do. */
export async function checkAccess() {
  try {
    const stats = await get("/stats");
    let scope = "admin"; // without keys every call is open
    if (keyOfSession() && !(await allowed("/snapshots")))
      scope = (await allowed("/review?limit=1")) ? "learn" : "rank";
    access.set({ state: "granted", scope, stats, detail: "" });
  } catch (error) {
    if (error.status !== 401 && access.value.state === "granted") return; // the page stays, with what was done in it
    const state = error.status === 401 ? "key needed" : "failed";
    const detail = state === "failed" || keyOfSession() ? error.message : "";
    access.set({ state, scope: null, stats: null, detail });
  }
}

/** Read the statistics again; the key, and so the scope, stays. */
export async function readStats() {
  const stats = await get("/stats");
  access.set({ ...access.value, stats });
}

/** Return whether calls of this scope are allowed. */
export const may = (scope) => SCOPES.indexOf(access.value.scope) >= SCOPES.indexOf(scope);

/** Return whether the store keeps a history of events. */
export const keepsHistory = () => Boolean(access.value.stats?.history);

export const useAccess = () => useShared(access);
