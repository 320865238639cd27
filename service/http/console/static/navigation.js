// The navigation: the pages in groups. On a narrow screen they are one row that scrolls, and fades where it goes on.

import { html, useEffect, useRef, useState } from "./html.js";
import { GROUPS } from "./page_list.js";

/** Return in which directions a row can be scrolled, as class names. */
function directions({ scrollLeft, scrollWidth, clientWidth }) {
  const right = scrollWidth - clientWidth - scrollLeft;
  return [scrollLeft >= 1 && "more-left", right >= 1 && "more-right"].filter(Boolean).join(" "); // parts of a pixel are no more
}

/** `page`: the name of the page in view, whose link is kept in view, as is one that gets the focus by a key. */
export function Navigation({ page }) {
  const row = useRef();
  const [more, setMore] = useState("");
  const look = () => setMore(directions(row.current));
  const show = (link) => {
    link?.scrollIntoView({ block: "nearest", inline: "center" });
    look();
  };
  const showPresent = () => show(row.current.querySelector("[aria-current]"));
  const focus = ({ target }) => target.matches(":focus-visible") && show(target); // a link that is pressed stays under the pointer
  useEffect(() => {
    const sizes = new ResizeObserver(showPresent);
    sizes.observe(row.current);
    return () => sizes.disconnect();
  }, []);
  useEffect(showPresent, [page]);
  return html`<nav aria-label="Pages" ref=${row} class=${more} onScroll=${look} onFocusIn=${focus}>
    ${GROUPS.map(({ title: group, pages }) => html`<div key=${group} role="group" aria-label=${group}>
      ${Object.entries(pages).map(([name, title]) => html`<a key=${name} href=${`#/${name}`}
        aria-current=${name === page ? "page" : undefined}>${title}</a>`)}</div>`)}
  </nav>`;
}
