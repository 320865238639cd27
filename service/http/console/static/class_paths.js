// The places of classes in the taxonomy, beside their names, and the classes below a name.

import { useEffect, useState } from "./html.js";
import { get, withParameters } from "./api.js";
import { useAccess } from "./access.js";
import { useTitles } from "./titles.js";

const MOST_TOP = 1000; // names at the top that are looked through
const MOST_PARENTS = 2;
const KEPT = 60_000; // milliseconds for which the names at the top are taken for the present ones

let top = { at: -KEPT, nodes: Promise.resolve([]) };

/** Return whether the service has a taxonomy. */
export const useTaxonomy = () => useAccess().stats?.taxonomy > 0;

/** Return "Nature › Rivers" for a class below them, by their titles, "" for a class at the top or outside. */
export const placeOf = (path, titleOf) => path.slice(0, -1).map((each) => titleOf(each) ?? each).join(" › ");

function topNodes() {
  const now = performance.now();
  if (now - top.at >= KEPT) {
    const nodes = get(`/taxonomy?limit=${MOST_TOP}`).then((page) => page.nodes.filter((each) => each.has_children));
    top = { at: now, nodes: nodes.catch(() => []) }; // names are found without it
  }
  return top.nodes;
}

/** Return [{ class, path }] of the children of the names at the top that have a text in them or in their titles. */
export async function classesBelow(text, limit, signal) {
  const plain = text.toLowerCase();
  const has = (name) => name?.toLowerCase().includes(plain);
  const parents = (await topNodes()).filter((each) => has(each.class) || has(each.title)).slice(0, MOST_PARENTS);
  const found = await Promise.all(parents.map(async ({ class: parent }) => {
    const page = await get(withParameters("/taxonomy", { parent, limit }), { signal });
    return page.nodes.map((each) => ({ class: each.class, title: each.title, path: [parent, each.class] }));
  }));
  return found.flat().slice(0, limit);
}

/** Return the places of some classes, by name; they are asked for once. */
export function usePlaces(names) {
  const hasTaxonomy = useTaxonomy();
  const [paths, setPaths] = useState({});
  const titleOf = useTitles(Object.values(paths).flatMap((path) => path.slice(0, -1)));
  const lacking = hasTaxonomy ? names.filter((each) => paths[each] === undefined) : [];
  useEffect(() => {
    for (const name of lacking)
      get(withParameters("/classes", { prefix: name, limit: 1 })).then(({ classes: [found] }) =>
        setPaths((before) => ({ ...before, [name]: found?.class === name ? found.path : [] })), () => {}); // a class is shown without its place
  }, [lacking.join("\n")]);
  return Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, placeOf(path, titleOf)]));
}
