// The classes of a file that the service does not have: misspelt ones are found before they are taught.

import { html, useEffect, useState } from "./html.js";
import { get, withParameters } from "./api.js";
import { classesFrom } from "./class_field.js";
import { count } from "./format.js";
import { eventsOf } from "./mapping.js";
import { LONGEST, namesCloseTo } from "./new_class.js";
import { useLater } from "./parts.js";
import { rowsOf } from "./rows.js";

const PAGE = 1000;
const LISTED = 10_000; // classes of a service, up to which all names are listed
const MOST_ASKED = 1000; // names that are looked up one by one in a larger service
const ROWS = 1000; // of a file, before it is taught
const SHOWN = 10;
const WAIT = 300; // milliseconds after a change of the roles
const NONE = { rows: 0, found: [] };

async function allClasses() {
  const names = new Set();
  let after = "";
  do {
    const page = await get(withParameters("/classes", { limit: PAGE, after }));
    for (const each of page.classes) names.add(each.class);
    after = page.next;
  } while (after && names.size < LISTED);
  return names;
}

/** The classes of the service at one moment; if it had none, no name counts as unknown. */
export class KnownClasses {
  #all; // null: they are looked up one by one
  #seen = new Set();
  #asked = 0;

  constructor(all) {
    this.#all = all;
  }

  /** Return those of now; none if the service cannot tell. */
  static async now() {
    try {
      const { classes } = await get("/stats");
      return new KnownClasses(classes > LISTED ? null : await allClasses());
    } catch {
      return new KnownClasses(new Set());
    }
  }

  /** Return the names that are no classes and were not given before. */
  async unknown(names) {
    const found = [];
    if (this.#all?.size === 0) return found;
    for (const name of names) {
      if (typeof name !== "string" || this.#seen.has(name)) continue;
      this.#seen.add(name);
      if (!(await this.#has(name))) found.push(name);
    }
    return found;
  }

  async #has(name) {
    if (this.#all) return this.#all.has(name);
    if (this.#asked === MOST_ASKED) return true;
    this.#asked += 1;
    try {
      return (await classesFrom(name, 1))[0] === name; // the shortest of a prefix is listed first
    } catch {
      return true;
    }
  }
}

/** Return { rows, found } of the first rows of a file: the unknown classes, each with the names close to it. */
async function unknownClasses(table, columns, separator, signal) {
  const known = await KnownClasses.now();
  const found = [];
  let rows = 0;
  for await (const { row } of rowsOf(table)) {
    const names = await known.unknown(eventsOf(row ? [row] : [], columns, { separator }).flatMap((event) => event.classes));
    for (const name of names) found.push({ name, close: found.length < SHOWN && name.length <= LONGEST ? await namesCloseTo(name) : null });
    rows += 1;
    if (rows === ROWS || found.length > SHOWN || signal.aborted) break;
  }
  return { rows, found };
}

export function UnknownClasses({ table, columns, separator }) {
  const [{ rows, found }, setFound] = useState(NONE);
  const changes = [table, JSON.stringify(columns), separator];
  useEffect(() => setFound(NONE), changes);
  useLater(async (signal) => {
    const result = await unknownClasses(table, columns, separator, signal).catch(() => NONE);
    if (!signal.aborted) setFound(result);
  }, WAIT, changes);
  if (!found.length) return null;
  return html`<p class="hint" role="status">New classes${rows === ROWS && ` of the first ${count(ROWS)} rows`}:
    ${found.slice(0, SHOWN).map(({ name, close }, at) => html`${at ? ", " : " "}<strong>${name}</strong>${close?.length > 0 && html` (close to <bdi>${close[0]}</bdi>)`}`)}${found.length > SHOWN && " and more"}.</p>`;
}

/** "New classes: a, b and 3 more." */
export function CreatedClasses({ names }) {
  if (!names.length) return null;
  const more = names.length - SHOWN;
  return html` New classes: ${names.slice(0, SHOWN).map((name, at) => html`${at ? ", " : ""}<bdi>${name}</bdi>`)}${more > 0 && ` and ${count(more)} more`}.`;
}
