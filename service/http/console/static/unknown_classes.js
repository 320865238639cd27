// The classes of a file that the service does not have: misspelt ones are found before they are taught.

import { html, useEffect, useState } from "./html.js";
import { get, withParameters } from "./api.js";
import { classesFrom } from "./class_field.js";
import { count } from "./format.js";
import { eventsOf } from "./mapping.js";
import { LONGEST, namesCloseTo } from "./new_class.js";
import { useLater } from "./parts.js";
import { rowsOf } from "./rows.js";
import { ClassName } from "./titles.js";

const PAGE = 1000;
const LISTED = 10_000; // classes of a service, up to which all names are listed
const MOST_ASKED = 1000; // names that are looked up one by one in a larger service
const ROWS = 1000; // of a file, before it is taught
const SHOWN = 10;
const WAIT = 300; // milliseconds after a change of the roles
const NONE = { rows: 0, found: [], former: [] };

/** Return [name, class] of the first names of a listing: of classes, or of former names. */
async function allOf(listing, nameOf) {
  const found = [];
  let after = "";
  do {
    const page = await get(withParameters(`/${listing}`, { limit: PAGE, after }));
    found.push(...page[listing].map((each) => [nameOf(each), each.class]));
    after = page.next;
  } while (after && found.length < LISTED);
  return new Map(found);
}

const formerNames = () => allOf("aliases", (each) => each.former);

/** The classes of the service at one moment; if it had none, no name counts as unknown. */
export class KnownClasses {
  #all; // null: they are looked up one by one
  #former; // former name -> the class that it counts as
  #seen = new Set();
  #asked = 0;

  constructor(all, former = new Map()) {
    this.#all = all;
    this.#former = former;
  }

  /** Return those of now; none if the service cannot tell. */
  static async now() {
    try {
      const { classes } = await get("/stats");
      return new KnownClasses(classes > LISTED ? null : await allOf("classes", (each) => each.class), await formerNames());
    } catch {
      return new KnownClasses(new Map());
    }
  }

  /** Return [former name, class] of those of the names that a class had before. */
  former(names) {
    return names.flatMap((name) => (this.#former.has(name) ? [[name, this.#former.get(name)]] : []));
  }

  /** Return the names that are no classes and were not given before. */
  async unknown(names) {
    const found = [];
    if (this.#all?.size === 0) return found;
    for (const name of names) {
      if (typeof name !== "string" || this.#seen.has(name)) continue;
      this.#seen.add(name);
      if (this.#former.has(name)) continue;
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

/** Return { rows, found, former } of the first rows of a file: the unknown classes, each with the names close to it, and
 * [former name, class] of those that are former names. */
async function unknownClasses(table, columns, options, signal) {
  const known = await KnownClasses.now();
  const found = [];
  const former = new Map();
  let rows = 0;
  for await (const { row } of rowsOf(table)) {
    const names = eventsOf(row ? [row] : [], columns, options).flatMap((event) => event.classes);
    for (const [name, its] of known.former(names)) former.set(name, its);
    for (const name of await known.unknown(names)) found.push({ name, close: found.length < SHOWN && name.length <= LONGEST ? await namesCloseTo(name) : null });
    rows += 1;
    if (rows === ROWS || found.length > SHOWN || signal.aborted) break;
  }
  return { rows, found, former: [...former] };
}

/** `options` as for eventOf. */
export function UnknownClasses({ table, columns, options }) {
  const [{ rows, found, former }, setFound] = useState(NONE);
  const { separator, same, without } = options;
  const changes = [table, JSON.stringify([columns, separator, [...same], without])];
  useEffect(() => setFound(NONE), changes);
  useLater(async (signal) => {
    const result = await unknownClasses(table, columns, options, signal).catch(() => NONE);
    if (!signal.aborted) setFound(result);
  }, WAIT, changes);
  if (!found.length && !former.length) return null;
  return html`${former.length > 0 && html`<p class="hint" role="status">Former names of classes: ${former.slice(0, SHOWN).map(([name, its], at) => html`${at ? ", " : ""}<bdi>${name}</bdi> counts as <strong dir="auto"><${ClassName} name=${its} /></strong>`)}${former.length > SHOWN && " and more"}.</p>`}
    ${found.length > 0 && html`<p class="hint" role="status">New classes${rows === ROWS && ` of the first ${count(ROWS)} rows`}:
    ${found.slice(0, SHOWN).map(({ name, close }, at) => html`${at ? ", " : " "}<strong>${name}</strong>${close?.length > 0 && html` (close to <bdi><${ClassName} name=${close[0]} /></bdi>)`}`)}${found.length > SHOWN && " and more"}.</p>`}`;
}

/** "New classes: a, b and 3 more." */
export function CreatedClasses({ names }) {
  if (!names.length) return null;
  const more = names.length - SHOWN;
  return html` New classes: ${names.slice(0, SHOWN).map((name, at) => html`${at ? ", " : ""}<bdi>${name}</bdi>`)}${more > 0 && ` and ${count(more)} more`}.`;
}
