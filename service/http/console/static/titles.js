// The titles of classes, which stand in front of their names: asked for by many names at once, and kept for a minute.

import { html, useEffect } from "./html.js";
import { ask } from "./api.js";
import { useAccess } from "./access.js";
import { Shared, useShared } from "./shared.js";

const MOST = 1000; // names in a call
const KEPT = 60_000; // milliseconds
const WAIT = 20; // milliseconds, in which the names of a page come together

const known = new Shared(new Map()); // name -> { title, at }; the title of a class without one is null
const wanted = new Set();
let timer;

const isKnown = (name) => performance.now() - (known.value.get(name)?.at ?? -KEPT) < KEPT;

/** Note the titles of classes: [name, title or null]. */
export function noteTitles(entries) {
  const at = performance.now();
  known.set(new Map([...known.value, ...entries.map(([name, title]) => [name, { title, at }])]));
}

async function askForWanted() {
  const classes = [...wanted].slice(0, MOST);
  for (const name of classes) wanted.delete(name);
  timer = wanted.size ? setTimeout(askForWanted, 0) : undefined;
  const { titles } = await ask("POST", "/titles", { body: { classes } }).catch(() => ({ titles: [] })); // names are shown without them
  const found = new Map(titles.map((each) => [each.class, each.title]));
  noteTitles(classes.map((name) => [name, found.get(name) ?? null]));
}

/** Return the title of a class by its name, else the name: for sentences, of classes that are in view. */
export const called = (name) => known.value.get(name)?.title ?? name;

/** Return a function from a name to the title of the class, or null; it asks for those of these names. */
export function useTitles(names) {
  const hasTitles = useAccess().stats?.described > 0;
  const titles = useShared(known);
  const lacking = hasTitles ? names.filter((name) => name && !isKnown(name)) : [];
  useEffect(() => {
    for (const name of lacking) wanted.add(name);
    if (lacking.length) timer ??= setTimeout(askForWanted, WAIT);
  }, [lacking.join("\n")]);
  return (name) => titles.get(name)?.title ?? null;
}

/** The title of a class and its name; the name alone without a title. `title` is given by an answer that has it, or null. */
export function ClassName({ name, title }) {
  const titleOf = useTitles(title === undefined ? [name] : []);
  const shown = title === undefined ? titleOf(name) : title;
  return shown ? html`<span class="titled" title=${name}><bdi>${shown}</bdi> <small>${name}</small></span>` : name;
}
