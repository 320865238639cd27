// Operating points: above which limit of confidence are suggestions right often enough to be taken without a look?

import { html, useState } from "./html.js";
import { get } from "./api.js";
import { CallText } from "./call_text.js";
import { Lines } from "./chart.js";
import { count, fixed, percent, plural } from "./format.js";
import { Field, Status } from "./parts.js";

const POINTS = "/operating-points?by=class&window=newest&limit=1";

const share = (value, low, high) => `${percent(value, 1)} (${percent(low, 1)} to ${percent(high, 1)})`;

function Sentence({ point, classes }) {
  return html`Limit <strong>${fixed(point.limit, 2)}</strong>: answers ${share(point.coverage, point.coverage_low, point.coverage_high)} of the
    messages, and <strong>${percent(point.accuracy, 1)}</strong> of these are right (${percent(point.accuracy_low, 1)} to ${percent(point.accuracy_high, 1)});
    ${" "}${count(point.classes)} of ${plural(classes, "class", "classes")}.`;
}

/** Return the position of the point of the curve that is next to a limit. */
function nearest(curve, limit) {
  const far = curve.map((each) => Math.abs(each.limit - limit));
  return far.indexOf(Math.min(...far));
}

function Target({ each, best, reached, chosen, onChoose }) {
  const name = percent(each.target);
  if (!each.point)
    return html`<li>${name} right: not reachable yet${best && html`; the best ${percent(best.coverage, 1)} of answers were right ${percent(best.accuracy, 1)}`}</li>`;
  return html`<li><button type="button" class="quiet" aria-pressed=${chosen} onClick=${onChoose}>${name} right</button>
    ${" "}limit <strong>${fixed(each.point.limit, 2)}</strong>, answers ${share(each.point.coverage, each.point.coverage_low, each.point.coverage_high)} of the messages
    ${reached && html`; ${plural(reached.groups, "class reaches", "classes reach")} it at a limit of their own`}</li>`;
}

function Points({ found }) {
  const { curve, targets, best, outcomes, classes } = found.newest;
  const first = targets.findLast((each) => each.point)?.point ?? curve.at(-1);
  const [at, setAt] = useState(nearest(curve, first.limit));
  const index = Math.min(at, curve.length - 1);
  const point = curve[index];
  const reachedOf = (target) => found.groups?.reached.find((each) => each.target === target);
  return html`<p>Of the newest ${plural(outcomes, "message")}, each suggested before it was learned. Move the handle to see how many messages could be answered
      without a person, and how often that would be right.</p>
    <${Lines} label="Share of right answers, by the share of messages that are answered" yTo=${1} yText=${percent} xText=${percent} mark=${point.coverage}
      series=${[{ name: "right", points: curve.map((each) => [each.coverage, each.accuracy]) }]} />
    <${Field} label="Limit of confidence"><input type="range" min="0" max=${curve.length - 1} step="1" value=${index}
      aria-valuetext=${`limit ${fixed(point.limit, 2)}, answers ${percent(point.coverage, 1)}, right ${percent(point.accuracy, 1)}`}
      onInput=${(event) => setAt(Number(event.currentTarget.value))} /><//>
    <${Status}><p><${Sentence} point=${point} classes=${classes} /></p><//>
    <ul aria-label="Wanted accuracies">${targets.map((each) => html`<${Target} key=${each.target} each=${each} best=${best} reached=${reachedOf(each.target)}
      chosen=${each.point && nearest(curve, each.point.limit) === index} onChoose=${() => setAt(nearest(curve, each.point.limit))} />`)}</ul>
    <p class="hint">Send the limit as <code>min_confidence</code> with each text to rank, or the wanted accuracy as <code>min_accuracy</code>; below the limit the answer is “not sure”.
      In brackets: the 90 % interval.</p>`;
}

/** Return the operating points of the service. */
export const operatingPoints = () => get(POINTS);

export function OperatingPoints({ found }) {
  return html`${found.newest.curve.length
      ? html`<${Points} found=${found} />`
      : html`<p class="nothing">There is no confidence yet: label 100 messages first.</p>`}
    <${CallText} call=${{ method: "GET", path: POINTS }} />`;
}
