// Right automatically: above which limit of confidence are suggestions right often enough to be taken without a look?

import { html, useState } from "./html.js";
import { get, withParameters } from "./api.js";
import { CallText } from "./call_text.js";
import { Lines } from "./chart.js";
import { count, fixed, percent, plural } from "./format.js";
import { Field, Problem, Status, useTask } from "./parts.js";
import { ClassName } from "./titles.js";
import { classAddress } from "./weight_list.js";

const POINTS = "/operating-points?by=class&window=newest&limit=1";
const MOST = 10_000; // newest outcomes that the points are of
const MOST_GROUPS = 1000; // classes with a limit of their own that are listed
const SEVERAL = 1.02; // classes a message, from which on they are shown

const share = (value, low, high) => `${percent(value, 1)} (${percent(low, 1)} to ${percent(high, 1)})`;

/** The share of the messages that a point answers, in numbers too. */
const answered = (point, outcomes) =>
  `answers ${percent(point.coverage, 1)} of the messages, ${count(point.answers)} of ${count(outcomes)} (${percent(point.coverage_low, 1)} to ${percent(point.coverage_high, 1)})`;

function Sentence({ point, classes, outcomes }) {
  return html`Limit <strong>${fixed(point.limit)}</strong>: ${answered(point, outcomes)};
    ${" "}<strong>${percent(point.accuracy, 1)}</strong> of these are right, ${count(point.right)} of ${count(point.answers)} (${percent(point.accuracy_low, 1)} to ${percent(point.accuracy_high, 1)});
    ${" "}${count(point.classes)} of ${plural(classes, "class", "classes")}.`;
}

/** The drawn points and those of the targets, the lowest limit first. */
function steps({ curve, targets }) {
  const points = [...curve, ...targets.map((each) => each.point).filter(Boolean)];
  const byLimit = new Map(points.map((each) => [each.limit, each]));
  return [...byLimit.values()].sort((a, b) => a.limit - b.limit);
}

/** The classes that reach a target at a limit of their own, listed when they are asked for. */
function Reached({ target, groups }) {
  const [found, setFound] = useState(null);
  const task = useTask();
  const load = () => task.run(async () => {
    const page = await get(withParameters("/operating-points", { by: "class", window: "newest", target, limit: MOST_GROUPS }));
    setFound(page.groups.groups.filter((each) => each.targets[0].point));
  });
  return html`<details onToggle=${(event) => event.currentTarget.open && load()}>
    <summary>${plural(groups, "class reaches", "classes reach")} it at a limit of their own</summary>
    <${Problem} error=${task.error} />
    ${found && html`<ul class="plain" aria-label="Limits of classes">${found.map(({ name, targets: [{ point }] }) => html`<li key=${name}><a href=${classAddress(name)}><${ClassName} name=${name} /></a>: limit
      ${" "}${fixed(point.limit)}, ${count(point.right)} of ${plural(point.answers, "answer")} right</li>`)}</ul>`}
    ${found && found.length < groups && html`<p class="hint">Of the ${count(MOST_GROUPS)} classes with most messages.</p>`}
  </details>`;
}

const Z = 1.6449; // of an interval at 90 %
const MOST_MISSING = 10_000; // messages; beyond, an estimate says little

/** Return about how many more messages are needed until the lower end of the interval reaches the target, if answers go on to be
 * right as often; null if they are not right often enough, or far too many are needed. */
export function missing({ answers, right, coverage }, target) {
  const share = right / answers;
  const low = (number) => (share + Z ** 2 / (2 * number) - Z * Math.sqrt((share * (1 - share)) / number + Z ** 2 / (4 * number ** 2))) / (1 + Z ** 2 / number);
  if (share <= target) return null;
  let number = answers;
  while (low(number) < target && (number - answers) / coverage <= MOST_MISSING) number = Math.ceil(number * 1.02);
  const messages = (number - answers) / coverage;
  return messages <= MOST_MISSING ? Math.max(10, Math.ceil(messages / 10) * 10) : null;
}

function Target({ each, best, reached, outcomes, chosen, onChoose }) {
  const name = percent(each.target);
  const more = !each.point && best && missing(best, each.target);
  if (!each.point)
    return html`<li>${name} right: not reachable yet${best && html`. At best, ${percent(best.coverage, 1)} of the messages are answered: ${count(best.right)} of ${count(best.answers)} were
      right, which shows that at least <strong>${percent(best.accuracy_low, 1)}</strong> are${more && html`. If answers go on to be right as often, about ${count(more)} more labelled messages are enough`}`}</li>`;
  return html`<li><button type="button" class="quiet" aria-pressed=${chosen} onClick=${onChoose}>${name} right</button>
    ${" "}limit <strong>${fixed(each.point.limit)}</strong>, ${answered(each.point, outcomes)}
    ${reached?.groups > 0 && html`<${Reached} target=${each.target} groups=${reached.groups} />`}</li>`;
}

/** The messages that are counted, of those with a known outcome, and why others are not. `events` is null if it is not known
 * for the same moment. */
function Counted({ outcomes, events }) {
  const first = events === null ? "The first ones do" : events > outcomes && `The first ${count(events - outcomes)} do`;
  const older = outcomes >= MOST
    ? " Older ones do not count."
    : first ? ` ${first} not count: a suggestion has a confidence only after 100 messages with a suggestion.` : "";
  return html`Of the newest ${plural(outcomes, "message")}, each suggested before it was learned.${older}`;
}

function Points({ found, events }) {
  const { targets, best, outcomes, classes } = found.newest;
  const curve = steps(found.newest);
  const [{ limit, target }, setChosen] = useState(() => ({ limit: (targets.findLast((each) => each.point)?.point ?? curve[0]).limit, target: null }));
  const index = Math.max(0, curve.findLastIndex((each) => each.limit <= limit)); // the points may have changed since
  const point = curve[index];
  const here = targets.filter((each) => each.point?.limit === point.limit);
  const pressed = here.find((each) => each.target === target) ?? here.at(-1); // one of those with the same limit
  const reachedOf = (target) => found.groups?.reached.find((each) => each.target === target);
  return html`<p><${Counted} outcomes=${outcomes} events=${events} /> Move the handle to see how many messages could be answered
      without a person, and how often that would be right.</p>
    <${Lines} label="Share of right answers, by the share of messages that are answered" yTo=${1} yText=${percent} xText=${percent} mark=${point.coverage}
      series=${[{ name: "right", points: curve.toReversed().map((each) => [each.coverage, each.accuracy]) }]} />
    <${Field} label="Limit of confidence"><input type="range" min="0" max=${curve.length - 1} step="1" value=${index}
      aria-valuetext=${`limit ${fixed(point.limit)}, answers ${percent(point.coverage, 1)}, right ${percent(point.accuracy, 1)}`}
      onInput=${(event) => setChosen({ limit: curve[Number(event.currentTarget.value)].limit, target: null })} /><//>
    <${Status}><p><${Sentence} point=${point} classes=${classes} outcomes=${outcomes} /></p><//>
    <ul aria-label="Wanted accuracies">${targets.map((each) => html`<${Target} key=${each.target} each=${each} best=${best} reached=${reachedOf(each.target)} outcomes=${outcomes}
      chosen=${each === pressed} onChoose=${() => setChosen({ limit: each.point.limit, target: each.target })} />`)}</ul>
    <p class="hint">For a file, choose the wanted accuracy on <a href="#/import">Import</a>. A program sends the limit as <code>min_confidence</code>, or the wanted accuracy as <code>min_accuracy</code>; below the limit the answer is “not sure”.
      In brackets: the 90 % interval. A wanted accuracy is reached where the lower end of the interval reaches it, so that it holds for later messages too.</p>`;
}

/** Messages with several classes: from which probability on a class is right often enough, of all that are suggested. */
function SeveralClasses({ probabilities: { rankings, true_classes: labels, targets, best } }) {
  if (labels < SEVERAL * rankings) return null; // nearly each message has one class
  const row = ({ target, point }) => html`<tr key=${target}><th scope="row">${percent(target)}</th>${point
    ? html`<td>${fixed(point.limit)}</td><td>${share(point.precision, point.precision_low, point.precision_high)}</td>
        <td>${percent(point.recall, 1)}</td><td>${fixed(point.classes / rankings, 2)}</td>`
    : html`<td colspan="4">not reachable yet${best && html`; at best, at least ${percent(best.precision_low, 1)} are right`}</td>`}</tr>`;
  return html`<h3>Messages with several classes</h3>
    <p>A message has ${fixed(labels / rankings, 2)} classes on average. Each suggestion has a probability of its own; from a limit on, all of them can be taken.</p>
    <div class="scroll" role="region" aria-label="Messages with several classes" tabindex="0"><table class="dense"><thead><tr><th scope="col">wanted</th><th scope="col">limit</th><th scope="col">right of the suggested</th>
      <th scope="col">found of all</th><th scope="col">classes a message</th></tr></thead><tbody>${targets.map(row)}</tbody></table></div>
    <p class="hint">A program sends the limit as <code>min_probability</code>, or the wanted share as <code>min_precision</code>.</p>`;
}

/** Return the operating points of the service. */
export const operatingPoints = () => get(POINTS);

/** `events`: how many messages of the page have a known outcome, null if it is not known for the moment of the points. */
export function OperatingPoints({ found, events }) {
  return html`${found.newest.curve.length
      ? html`<${Points} found=${found} events=${events} /><${SeveralClasses} probabilities=${found.probabilities} />`
      : html`<p class="nothing">There is no confidence yet: label 100 messages first.</p>`}
    <${CallText} call=${{ method: "GET", path: POINTS }} />`;
}
