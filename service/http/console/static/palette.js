// The search over everything, opened by / or Ctrl-K: pages, classes by their names and titles, messages.

import { html, useEffect, useLayoutEffect, useRef, useState } from "./html.js";
import { keepsHistory, may } from "./access.js";
import { searched } from "./class_field.js";
import { PAGES } from "./page_list.js";
import { useLater } from "./parts.js";
import { ClassName } from "./titles.js";
import { classAddress } from "./weight_list.js";

const SHOWN_CLASSES = 8;

const isTyping = (target) => target.closest("input, textarea, select, dialog");

function pagesOf(text) {
  const wanted = text.trim().toLowerCase();
  return Object.entries(PAGES)
    .filter(([, title]) => title.toLowerCase().startsWith(wanted))
    .map(([name, title]) => ({ kind: "Page", title, address: `#/${name}` }));
}

function messagesOf(text) {
  if (!text.trim() || !keepsHistory() || !may("learn")) return [];
  const parameters = new URLSearchParams({ text: text.trim() });
  return [{ kind: "Messages", title: `with “${text.trim()}”`, address: `#/events?${parameters}` }];
}

function Search({ onClose }) {
  const dialog = useRef();
  const [text, setText] = useState("");
  const [classes, setClasses] = useState([]);
  const [chosen, setChosen] = useState(0);
  useLayoutEffect(() => dialog.current.showModal(), []);
  useLater(async (signal) => {
    try {
      setClasses(text.trim() ? await searched(text, SHOWN_CLASSES, signal) : []);
    } catch {
      setClasses([]); // pages are found without the service
    }
  }, 120, [text]);
  const found = [...pagesOf(text), ...classes.map(({ class: name, title }) => ({ kind: "Class", title: html`<${ClassName} name=${name} title=${title} />`, address: classAddress(name) })), ...messagesOf(text)];
  const at = Math.min(chosen, found.length - 1);
  const go = (each) => {
    onClose();
    if (each) location.hash = each.address;
  };
  const press = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !found.length) return;
    event.preventDefault();
    setChosen((at + step + found.length) % found.length);
  };
  return html`<dialog ref=${dialog} class="palette" aria-label="Search" onClose=${onClose}
      onClick=${(event) => event.target === dialog.current && onClose()}>
    <form onSubmit=${(event) => {
      event.preventDefault();
      go(found[at]);
    }}>
      <input type="text" role="combobox" aria-label="Find a page, a class or a message" placeholder="Find a page, a class or a message"
        aria-expanded="true" aria-controls="found" aria-activedescendant=${at >= 0 ? `found-${at}` : undefined} autocomplete="off"
        spellcheck=${false} value=${text} onKeyDown=${press} onInput=${(event) => {
          setText(event.currentTarget.value);
          setChosen(0);
        }} />
      <ul id="found" role="listbox" aria-label="Found">${found.map((each, index) => html`
        <li key=${each.address} id=${`found-${index}`} role="option" aria-selected=${index === at} onClick=${() => go(each)}>
          <span class="hint">${each.kind}</span> ${each.title}</li>`)}</ul>
    </form>
  </dialog>`;
}

/** The button that opens the search, and its keys. */
export function Palette() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const press = (event) => {
      const isWanted = (event.key === "/" && !isTyping(event.target)) || (event.key === "k" && (event.ctrlKey || event.metaKey));
      if (!isWanted || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      setOpen(true);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  return html`<button type="button" class="quiet" aria-keyshortcuts="/ Control+K" onClick=${() => setOpen(true)}>Search <kbd>/</kbd></button>
    ${isOpen && html`<${Search} onClose=${() => setOpen(false)} />`}`;
}
