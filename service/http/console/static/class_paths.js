// The places of classes in the taxonomy, beside their names, and the classes below a name.

import { useEffect, useState } from "./html.js";
import { get, withParameters } from "./api.js";
import { useAccess } from "./access.js";

const MOST_TOP = 1000; // names at the top that are looked through
const MOST_PARENTS = 2;
const KEPT = 60_000; // milliseconds for which the names at the top are taken for the present ones

let top = { at: -KEPT, names: Promise.resolve([]) };

/** Return whether the service has a taxonomy. */
export const useTaxonomy = () => useAccess().stats?.taxonomy > 0;

/** Return "Nature › Rivers" for a class below them, "" for a class at the top or outside. */
export const placeOf = (path) => path.slice(0, -1).join(" › ");

function topNames() {
  const now = performance.now();
  if (now - top.at >= KEPT) {
    const names = get(`/taxonomy?limit=${MOST_TOP}`).then((page) => page.nodes.filter((each) => each.has_children).map((each) => each.class));
    top = { at: now, names: names.catch(() => []) }; // names are found without it
  }
  return top.names;
}

/** Return [{ class, path }] of the children of the names at the top that have a text in them. */
export async function classesBelow(text, limit, signal) {
  const plain = text.toLowerCase();
  const parents = (await topNames()).filter((each) => each.toLowerCase().includes(plain)).slice(0, MOST_PARENTS);
  const found = await Promise.all(parents.map(async (parent) => {
    const page = await get(withParameters("/taxonomy", { parent, limit }), { signal });
    return page.nodes.map((each) => ({ class: each.class, title: each.title, path: [parent, each.class] }));
  }));
  return found.flat().slice(0, limit);
}

/** Return the places of some classes, by name; they are asked for once. */
export function usePlaces(names) {
  const hasTaxonomy = useTaxonomy();
  const [places, setPlaces] = useState({});
  const lacking = hasTaxonomy ? names.filter((each) => places[each] === undefined) : [];
  useEffect(() => {
    for (const name of lacking)
      get(withParameters("/classes", { prefix: name, limit: 1 })).then(({ classes: [found] }) =>
        setPlaces((before) => ({ ...before, [name]: found?.class === name ? placeOf(found.path) : "" })), () => {}); // a class is shown without its place
  }, [lacking.join("\n")]);
  return places;
}
