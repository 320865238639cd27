// A call of the console as a command of curl, and as lines of the Python client.

import { html, useState } from "./html.js";
import { ROOT, keyOfSession } from "./api.js";

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

export function curlOf({ method, path, body, save }) {
  const parts = ["curl"];
  if (method === "DELETE" || method === "PUT" || (method === "POST" && body === undefined))
    parts.push(`-X ${method}`);
  const address = ROOT + path.slice(1);
  parts.push(/^[\w:/.%-]+$/.test(address) ? address : quoted(address));
  if (keyOfSession()) parts.push('-H "Authorization: Bearer $MANYCLASS_KEY"');
  if (body !== undefined) parts.push(`--json ${quoted(JSON.stringify(body))}`);
  if (save) parts.push(`-o ${save}`);
  return parts.join(" ");
}

/** A value of JSON as Python writes it. */
function literal(value) {
  if (value === null || value === undefined) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value === "object")
    return `{${Object.entries(value).map(([name, each]) => `${literal(name)}: ${literal(each)}`).join(", ")}}`;
  return JSON.stringify(value);
}

/** Arguments by their names: `, k=5, explain=True`. */
const named = (options) =>
  Object.entries(options).map(([name, value]) => `, ${name}=${literal(value)}`).join("");

const only = (options) => named(options).slice(2);

const byName = (method) => ({ name }) => `client.${method}(${literal(name)})`;

const CALLS = {
  "POST /rank": ({ body: { text, features, id, instances, ...how } }) =>
    instances
      ? `client.rank_many(${literal(instances)}${named(how)})`
      : `client.rank(${literal(text === undefined ? { features } : { text })}${named(how)})`,
  "POST /learn": ({ body }) => `client.learn(${literal(body)})`,
  "GET /stats": () => "client.stats()",
  "GET /settings": () => "client.settings()",
  "GET /learners": () => "client.learners()",
  "POST /learners/*": byName("promote"),
  "GET /classes": ({ query }) => `client.classes(${query.prefix ? literal(query.prefix) : ""})`,
  "GET /classes/*": byName("class_"),
  "GET /taxonomy": ({ query }) => `client.taxonomy(${query.parent ? literal(query.parent) : ""})`,
  "DELETE /classes/*": byName("forget_class"),
  "POST /classes/*": ({ name, body }) =>
    body.rename
      ? `client.rename_class(${literal(name)}, ${literal(body.rename)})`
      : `client.merge_class(${literal(name)}, ${literal(body.merge_into)})`,
  "GET /features/*": byName("feature"),
  "DELETE /features/*": byName("forget_feature"),
  "GET /events": ({ query: { class: of_class, wrong, order, limit, id: instance_id, ...rest } }) => {
    const filter = { of_class, ...rest, instance_id, wrong: wrong && true, oldest_first: order === "oldest" || undefined };
    return `client.events(${only(JSON.parse(JSON.stringify(filter)))})`;
  },
  "GET /events/*": byName("event"),
  "PUT /events/*": ({ name, body }) => `client.correct(${literal(name)}, ${literal(body.classes)})`,
  "DELETE /events/*": byName("delete_event"),
  "DELETE /events": ({ query }) => `client.delete_events(${only(query)})`,
  "GET /confusions": () => "client.confusions()",
  "GET /suspects": () => "client.suspects()",
  "GET /review": () => "client.review()",
  "POST /rebuild": ({ body }) => `client.rebuild(${only(body ?? {})})`,
  "POST /snapshots": () => "client.take_snapshot()",
  "POST /snapshots/*": ({ name }) => `client.restore(${name})`,
  "GET /state": ({ save }) => `client.save_state(open(${literal(save)}, "wb"))`,
  "GET /readyz": () => "client.is_ready()",
};

export function pythonOf(call) {
  const [base, query] = call.path.split("?");
  const [, noun, name] = base.split("/");
  const line = CALLS[`${call.method} /${noun}${name === undefined ? "" : "/*"}`];
  if (!line) return "";
  const parts = {
    ...call,
    name: name && decodeURIComponent(name),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
  const key = keyOfSession() ? ', os.environ["MANYCLASS_KEY"]' : "";
  return [
    ...(key ? ["import os", ""] : []),
    "from manyclass import Client",
    "",
    `client = Client(${JSON.stringify(ROOT.replace(/\/$/, ""))}${key})`,
    line(parts),
  ].join("\n");
}

function Copied({ text, label }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard?.writeText(text);
    setDone(true);
  };
  return html`<button type="button" class="quiet" onClick=${copy} aria-label=${`Copy for ${label}`}>
    ${done ? "Copied" : "Copy"}
  </button>`;
}

/** A call, to unfold as curl and as Python: { method, path, body }. */
export function CallText({ call, title = "As curl and Python" }) {
  const [open, setOpen] = useState(false);
  if (!call) return null;
  const texts = open ? [["curl", curlOf(call)], ["Python", pythonOf(call)]] : [];
  return html`<details class="call" onToggle=${(event) => setOpen(event.currentTarget.open)}>
    <summary>${title}</summary>
    ${texts.filter(([, text]) => text).map(([label, text]) => html`<figure key=${label}>
      <figcaption>${label} <${Copied} text=${text} label=${label} /></figcaption>
      <pre tabindex="0">${text}</pre>
    </figure>`)}
  </details>`;
}
