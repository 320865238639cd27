// The pages of the console, in the groups of the navigation.

export const GROUPS = [
  { title: "Work", pages: { try: "Try", review: "Review" } },
  { title: "Data", pages: { import: "Import", events: "Messages", names: "Classes" } },
  { title: "Quality", pages: { quality: "Quality", live: "Live" } },
  { title: "Service", pages: { operate: "Operate" } },
];

export const PAGES = Object.assign({}, ...GROUPS.map((each) => each.pages));

/** Return the page and its parameters from the address: #/events?source=anna. */
export function place() {
  const [name, query] = location.hash.replace(/^#\/?/, "").split("?");
  return { name: Object.hasOwn(PAGES, name) ? name : "try", query: Object.fromEntries(new URLSearchParams(query)) };
}
