// The frame of all pages: navigation, the state of the service, the key.

import { html, render, useEffect, useRef, useState } from "./html.js";
import { keyOfSession, useKey as setKey } from "./api.js";
import { checkAccess, useAccess } from "./access.js";
import { PauseBanner } from "./paused.js";
import { beat, usePulse } from "./pulse.js";
import { count } from "./format.js";
import { Notice } from "./notice.js";

const PAGES = {
  try: "Try",
  import: "Import",
  review: "Review",
  mistakes: "Mistakes",
  names: "Classes and features",
  live: "Live",
  events: "Events",
  operate: "Operate",
};

/** The page and its parameters from the address: #/events?source=anna. */
function place() {
  const [name, query] = location.hash.replace(/^#\/?/, "").split("?");
  return { name: Object.hasOwn(PAGES, name) ? name : "try", query: Object.fromEntries(new URLSearchParams(query)) };
}

function KeyBox({ detail }) {
  const [text, setText] = useState("");
  const field = useRef();
  useEffect(() => field.current.focus(), []);
  const submit = (event) => {
    event.preventDefault();
    setKey(text.trim());
    checkAccess();
  };
  return html`<form class="card narrow" onSubmit=${submit}>
    <h1>A key, please</h1>
    <p>This service has keys. A rank key sees, a learn key teaches, an admin key operates. The key stays
      in this tab until you close it.</p>
    <label class="field"><span>Key</span>
      <input type="password" ref=${field} value=${text} autocomplete="off" required
        onInput=${(event) => setText(event.currentTarget.value)} /></label>
    <div role="alert">${detail && html`<p class="problem">${detail}</p>`}</div>
    <div class="actions"><button class="primary">Use this key</button></div>
  </form>`;
}

function Pulse() {
  const { seq, status, detail } = usePulse();
  const text = status === "ready" ? `event ${count(seq)}` : status === "paused" ? "teaching is paused" : status;
  return html`<span class=${`pulse ${status.replace(" ", "-")}`} title=${detail || "the newest event"}>
    <span class="dot" aria-hidden="true"></span>${text}</span>`;
}

function KeyState({ scope }) {
  if (!keyOfSession()) return null;
  const leave = () => {
    setKey(null);
    checkAccess();
  };
  return html`<span class="key">${scope} key <button type="button" class="quiet" onClick=${leave}>Forget it</button></span>`;
}

function Page({ at }) {
  const [loaded, setLoaded] = useState({ name: null, Content: null });
  const main = useRef();
  const first = useRef(true);
  useEffect(() => {
    let wanted = true;
    import(`./pages/${at.name}.js`).then(
      (module) => wanted && setLoaded({ name: at.name, Content: module.default }),
      () => wanted && setLoaded({ name: at.name, Content: Missing }),
    );
    document.title = `${PAGES[at.name]} · manyclass`;
    return () => {
      wanted = false;
    };
  }, [at.name]);
  useEffect(() => {
    if (loaded.name && !first.current) main.current.focus();
    if (loaded.name) first.current = false;
  }, [loaded.name]);
  const { Content } = loaded;
  return html`<main id="main" tabindex="-1" ref=${main} data-page=${loaded.name}>
    ${Content && loaded.name === at.name ? html`<${Content} key=${loaded.name} query=${at.query} />` : html`<p class="hint">…</p>`}
  </main>`;
}

const Missing = () => html`<p class="problem" role="alert">This page could not be loaded. Is the service there?</p>`;

function Waiting({ detail }) {
  return html`<main class="card narrow"><h1>Not ready yet</h1><p role="status">${detail}</p></main>`;
}

function App() {
  const [at, setAt] = useState(place);
  const access = useAccess();
  const { status } = usePulse();
  useEffect(() => {
    const move = () => setAt(place());
    addEventListener("hashchange", move);
    return () => removeEventListener("hashchange", move);
  }, []);
  useEffect(() => {
    if (access.state !== "key needed") checkAccess();
  }, [status]);
  const granted = access.state === "granted";
  return html`
    <a class="skip" href="#main" onClick=${(event) => {
      event.preventDefault();
      document.getElementById("main")?.focus();
    }}>Skip to the page</a>
    <header>
      <a class="home" href="#/try">manyclass</a>
      <nav aria-label="Pages">
        ${Object.entries(PAGES).map(([name, title]) => html`<a key=${name} href=${`#/${name}`}
          aria-current=${name === at.name ? "page" : undefined}>${title}</a>`)}
      </nav>
      <div class="corner"><${KeyState} scope=${access.scope} /><${Pulse} /><a href="docs">API</a></div>
    </header>
    <${PauseBanner} />
    ${granted && html`<${Page} at=${at} /><${Notice} />`}
    ${access.state === "key needed" && html`<main><${KeyBox} key=${access.detail} detail=${access.detail} /></main>`}
    ${access.state === "failed" && html`<${Waiting} detail=${access.detail} />`}
  `;
}

render(html`<${App} />`, document.getElementById("app"));
beat();
