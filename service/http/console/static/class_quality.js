// The accuracy of each class: a picture, and a table that the service sorts and filters.

import { html, useEffect, useRef, useState } from "./html.js";
import { get, withParameters } from "./api.js";
import { CallText } from "./call_text.js";
import { Points } from "./chart.js";
import { count, percent } from "./format.js";
import { Action, Field, Problem, SortHead, useAgain, useLater, useTask } from "./parts.js";
import { RenameClass } from "./rename_class.js";
import { ClassName } from "./titles.js";
import { classAddress } from "./weight_list.js";

const PAGE = 25;
const PICTURED = 500;
const WAIT = 250; // milliseconds after a key, before the filter is applied
const COLUMNS = { class: "Class", events: "Messages", recall: "First suggestion right", r5: "Among the first five", precision: "Right when suggested", trend: "Trend" };

const signed = (share) => (share === null ? "–" : `${share > 0 ? "+" : ""}${(100 * share).toFixed(0)} pts`);

function Picture({ last, seq }) {
  const [classes, setClasses] = useState([]);
  useEffect(() => {
    const address = withParameters("/quality/classes", { last, sort: "events", limit: PICTURED, seconds: 0.1 });
    get(address).then((page) => setClasses(page.classes.filter((each) => each.events)), () => {}); // the table shows the error
  }, [seq]);
  return html`<${Points} label="First suggestion right, of each class by its number of messages" xText=${count}
    points=${classes.map((each) => [each.events, each.recall, `${each.class}: ${percent(each.recall)} of ${count(each.events)}`])} />
    <p class="hint">Each point is a class${classes.length === PICTURED && ` (the ${PICTURED} with most messages)`}: to the right those with many messages, at the top those that are
      mostly suggested first. Low on the right: worth a look. Low on the left: too few messages yet.</p>`;
}

function Row({ row, hasTrend, hasParents, onRename }) {
  return html`<tr><td><a href=${classAddress(row.class)}><${ClassName} name=${row.class} /></a>${hasParents && row.parent && html`<br /><small class="hint"><${ClassName} name=${row.parent} /></small>`}</td>
    <td class="number">${count(row.events)}</td>
    <td class="number"><span class="meter" style=${`--share: ${row.recall ?? 0}`}>${percent(row.recall)}</span></td>
    <td class="number">${percent(row.r5)}</td><td class="number">${percent(row.precision)}</td>
    ${hasTrend && html`<td class="number">${signed(row.trend)}</td>`}
    <td>${row.confusions.map((each, index) => html`<span key=${each.class}>${index > 0 && ", "}<a href=${classAddress(each.class)}><${ClassName} name=${each.class} /></a> ${count(each.count)} ×</span>`)}</td>
    <td><${Action} kind="quiet" needs="admin" aria-label=${`Rename ${row.class}`} onClick=${() => onRename(row.class)}>Rename<//></td></tr>`;
}

export function ClassQuality({ last, seq, hasTrend, onChanged }) {
  const [order, setOrder] = useState({ sort: "errors", reverse: false });
  const [contains, setContains] = useState("");
  const [found, setFound] = useState(null);
  const [renamed, setRenamed] = useState(null);
  const task = useTask();
  const asked = useRef(0);
  const address = (after) => withParameters("/quality/classes", { last, ...order, contains, limit: PAGE, after, seconds: 0.1 });
  const load = (after) => task.run(async () => {
    const turn = (asked.current += 1);
    const page = await get(address(after));
    if (turn === asked.current) setFound((before) => ({ ...page, classes: after ? [...before.classes, ...page.classes] : page.classes }));
  });
  useLater(() => load(0), WAIT, [order.sort, order.reverse, contains, seq, useAgain(task.error)]);
  const sortBy = (name) => setOrder({ sort: name, reverse: order.sort === name && !order.reverse });
  const columns = Object.entries(COLUMNS).filter(([name]) => name !== "trend" || hasTrend);
  return html`<${Picture} last=${last} seq=${seq} />
    <div class="row"><${Field} label="Find a class"><input type="search" value=${contains} onInput=${(event) => setContains(event.currentTarget.value)} /><//>
      <${Field} label="Order"><select value=${order.sort} onChange=${(event) => setOrder({ sort: event.currentTarget.value, reverse: false })}>
        <option value="errors">Most errors first</option>${columns.map(([name, title]) => html`<option key=${name} value=${name}>${title}</option>`)}
      </select><//></div>
    <${Problem} error=${task.error} />
    ${found && html`<div class="scroll" role="region" aria-label="Accuracy by class" tabindex="0"><table class="dense by-class">
      <thead><tr>${columns.map(([name, title]) => html`<${SortHead} key=${name} title=${title} sorted=${order.sort === name && (order.reverse ? "reversed" : "plain")} onSort=${() => sortBy(name)} />`)}
        <th scope="col">Suggested instead</th><th scope="col">Action</th></tr></thead>
      <tbody>${found.classes.map((row) => html`<${Row} key=${row.class} row=${row} hasTrend=${hasTrend} hasParents onRename=${setRenamed} />`)}</tbody></table></div>
      ${!found.classes.length && html`<p class="nothing">${contains ? "No class of these messages has this in a name." : "No class yet."}</p>`}
      <p class="hint">${count(found.classes.length)} of ${count(found.total)} classes.
        ${found.next !== null && html` <button type="button" class="quiet" disabled=${task.busy} onClick=${() => load(found.next)}>Show more</button>`}</p>`}
    <p class="hint">First suggestion right: of the messages with this label, the share for which it was the first suggestion. Right when
      suggested: of the messages for which it was the first suggestion, the share that was right.
      A message with several classes counts for each of them, and as right for each if its first suggestion was any of them: which one is not stored.${hasTrend && " Trend: first suggestion right in the newest week, less that of the weeks before."}</p>
    <${CallText} call=${{ method: "GET", path: address(0) }} />
    ${renamed && html`<${RenameClass} name=${renamed} onClose=${() => setRenamed(null)} onDone=${onChanged} />`}`;
}
