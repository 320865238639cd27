// The frame of all pages: navigation, the state of the service, the key.

import { html, render, useEffect, useErrorBoundary, useRef, useState } from "./html.js";
import { keyOfSession, useKey as setKey } from "./api.js";
import { checkAccess, useAccess } from "./access.js";
import { PauseBanner } from "./paused.js";
import { beat, usePulse } from "./pulse.js";
import { count } from "./format.js";
import { Navigation } from "./navigation.js";
import { Notice } from "./notice.js";
import { PAGES, place } from "./page_list.js";
import { Palette } from "./palette.js";

const PRODUCT = "manyclass";

/** Return the name that the operator gave to the service, or that of the product. */
const nameOf = (stats) => stats?.settings.MANYCLASS_TITLE || PRODUCT;

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
    <h1>Enter an access key</h1>
    <p>This service needs an access key. Rank keys can read, learn keys can also teach, admin keys can do everything.
      The key is kept until you close this tab.</p>
    <label class="field"><span>Access key</span>
      <input type="password" ref=${field} value=${text} autocomplete="off" required
        onInput=${(event) => setText(event.currentTarget.value)} /></label>
    <div role="alert">${detail && html`<p class="problem">${detail}</p>`}</div>
    <div class="actions"><button class="primary">Continue</button></div>
  </form>`;
}

function Pulse() {
  const { seq, status, detail } = usePulse();
  const text = { ready: "ready", paused: "teaching is paused", unreachable: "no connection" }[status] ?? status;
  return html`<span class=${`pulse ${status.replace(" ", "-")}`} title=${detail || (seq === null ? "" : `changes so far: ${count(seq)}`)} data-seq=${seq}>
    <span class="dot" aria-hidden="true"></span>${text}</span>`;
}

function KeyState({ scope }) {
  if (!keyOfSession()) return null;
  const leave = () => {
    setKey(null);
    checkAccess();
  };
  return html`<span class="key">${scope} key <button type="button" class="quiet" onClick=${leave}>Sign out</button></span>`;
}

/** What it holds, or, after a fault of the console in it, the fault: a page is never blank. */
function Guarded({ children }) {
  const [fault, again] = useErrorBoundary((error) => console.error(error));
  if (!fault) return children;
  return html`<div role="alert"><p class="problem">This page cannot be shown: ${fault.message}. Nothing that was taught is lost. Please tell the person who runs the service.</p></div>
    <button type="button" onClick=${again}>Show it again</button>`;
}

function Page({ at, title }) {
  const [loaded, setLoaded] = useState({ name: null, Content: null });
  const main = useRef();
  const first = useRef(true);
  useEffect(() => {
    let wanted = true;
    import(`./pages/${at.name}.js`).then(
      (module) => wanted && setLoaded({ name: at.name, Content: module.default }),
      () => wanted && setLoaded({ name: at.name, Content: Missing }),
    );
    return () => {
      wanted = false;
    };
  }, [at.name]);
  useEffect(() => {
    document.title = `${PAGES[at.name]} · ${title}`;
  }, [at.name, title]);
  useEffect(() => {
    if (loaded.name && !first.current) {
      main.current.focus({ preventScroll: true });
      scrollTo(0, 0); // the navigation stays in view
    }
    if (loaded.name) first.current = false;
  }, [loaded.name]);
  const { Content } = loaded;
  return html`<main id="main" tabindex="-1" ref=${main} data-page=${loaded.name}>
    ${Content && loaded.name === at.name ? html`<${Guarded} key=${loaded.name}><${Content} query=${at.query} /><//>` : html`<p class="hint">…</p>`}
  </main>`;
}

const Missing = () => html`<p class="problem" role="alert">Cannot load this page. Check the connection to the service and try again.</p>`;

function Waiting({ detail }) {
  return html`<main class="card narrow"><h1>Connecting …</h1><p role="status">${detail} Retrying …</p></main>`;
}

function App() {
  const [at, setAt] = useState(place);
  const access = useAccess();
  const { status } = usePulse();
  useEffect(() => {
    const move = () => setAt(place());
    addEventListener("hashchange", move);
    move(); // the address may have changed since the first drawing
    return () => removeEventListener("hashchange", move);
  }, []);
  useEffect(() => {
    if (access.state !== "key needed") checkAccess();
  }, [status]);
  const granted = access.state === "granted";
  const title = nameOf(access.stats);
  return html`
    <a class="skip" href="#main" onClick=${(event) => {
      event.preventDefault();
      document.getElementById("main")?.focus();
    }}>Skip to the page</a>
    <header>
      <a class="home" href="#/try">${title}</a>
      <${Navigation} page=${at.name} />
      <div class="corner">${granted && html`<${Palette} />`}<${KeyState} scope=${access.scope} /><${Pulse} /><a href="docs">API</a></div>
    </header>
    <${PauseBanner} />
    ${granted && html`<${Page} at=${at} title=${title} /><${Notice} />`}
    ${access.state === "key needed" && html`<main><${KeyBox} key=${access.detail} detail=${access.detail} /></main>`}
    ${access.state === "failed" && html`<${Waiting} detail=${access.detail} />`}
  `;
}

render(html`<${App} />`, document.getElementById("app"));
beat();
