// Drift: the newest weeks beside each other.

import { html } from "./html.js";
import { count, percent, seconds, time } from "./format.js";
import { Table } from "./parts.js";
import { ClassName } from "./titles.js";
import { classAddress } from "./weight_list.js";

export function Drift({ report }) {
  const { weeks, class_mix: mix } = report;
  if (!mix)
    return html`<p class="nothing">The weeks are compared once there are messages of two weeks${report.begin !== null && `; these ${count(report.all.events)} are of ${seconds(Math.max(1, report.end - report.begin))}`}.</p>`;
  return html`<${Table} label="Weeks" kind="dense" head=${["Seven days up to", "Messages", "First suggestion right", "Among the first five", "Confidence", "New words"]}>
      ${weeks.filter((each) => each.events).map((week) => html`<tr key=${week.end}><td>${time(week.end)}</td><td class="number">${count(week.events)}</td>
        <td class="number">${percent(week.r1)}</td><td class="number">${percent(week.r5)}</td><td class="number">${percent(week.confidence)}</td><td class="number">${percent(week.unknown_features, 1)}</td></tr>`)}
    <//>
    <p class="hint">New words: the share of words that no message before that week had. A week with many is unlike the past.
      Confidence: how sure the first suggestions were, on average. If it is far from the share that was right, or falls, the messages have changed.</p>
    <p>The labels of the newest week differ from those of the weeks before by ${percent(mix.distance)} (0 %: the same shares, 100 %: no common label). Most changed:</p>
    <ul class="list dense" aria-label="Labels that became more or less frequent">${mix.changed.map((each) => html`<li key=${each.class}>
      <div><a href=${classAddress(each.class)}><${ClassName} name=${each.class} /></a> ${percent(each.before, 1)} → <strong>${percent(each.share, 1)}</strong></div></li>`)}</ul>`;
}
