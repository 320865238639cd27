// The notes on the rows of a table before they are taught, and the questions that they raise.

import { html, useEffect } from "./html.js";
import { count, plural } from "./format.js";
import { keyOf, sameAs } from "./label_clusters.js";
import { NOTHING, ROWS, survey } from "./label_survey.js";
import { Problem, useFirst, useLater } from "./parts.js";

const SHOWN = 5;
const CLUSTERS = 20;
const WAIT = 300; // milliseconds after a change of the roles

/** Read the rows again after a change; `onSurvey` takes null first, then what they say. */
export function useSurvey(table, columns, separator, onSurvey) {
  const changes = [table, JSON.stringify(columns), separator];
  useEffect(() => onSurvey(null), changes);
  useLater(async (signal) => {
    if (!table) return;
    const found = await survey(table, columns, { separator }, signal).catch((error) => ({ ...NOTHING, error }));
    if (!signal.aborted) onSurvey(found);
  }, WAIT, changes);
}

const counted = (some) => some.slice(0, SHOWN).map(([name, number], at) => html`${at ? ", " : ""}<bdi>${name}</bdi> (${count(number)})`);

const andMore = (some) => some.length > SHOWN && ` and ${count(some.length - SHOWN)} more`;

const nearDuplicates = (clusters) => clusters.reduce((sum, { names }) => sum + names.length - 1, 0);

/** "402 classes, 47 cells with “;”, 41 rows without a class, 52 near-duplicates", with what the answers change. */
function Counts({ said: { good, emptied, classes, empty, joined, unlabelled, clusters }, answers }) {
  const isSame = (each) => answers.same.has(keyOf(each));
  const near = nearDuplicates(clusters.filter((each) => !isSame(each)));
  const rows = good - (answers.without ? emptied : 0);
  const parts = [
    plural(classes - sameAs(clusters.filter(isSame)).size - (answers.without ? empty.length : 0), "class", "classes"),
    ...joined.map(({ separator, cells }) => `${plural(cells, "cell")} with “${separator}”`),
    unlabelled > 0 && `${plural(unlabelled, "row")} without a class`,
    near > 0 && plural(near, "near-duplicate"),
  ].filter(Boolean);
  return html`<p><strong>${plural(rows, "row")} to teach: ${parts.join(", ")}.</strong></p>`;
}

/** Ask what the cells with a sign between names are. */
function Joined({ separator, cells, example, answer, onAnswer }) {
  const parts = example.split(separator).map((each) => each.trim());
  const radio = (value, title) => html`<label class="check"><input type="radio" name=${`joined-${separator}`} checked=${answer === value}
    onChange=${() => onAnswer(value)} /> <span>${title}</span></label>`;
  return html`<fieldset class="question"><legend>${plural(cells, "cell")} with “${separator}”, such as <bdi>${example}</bdi>. What ${cells === 1 ? "is it" : "are they"}?</legend>
    ${radio(separator, html`several classes: ${parts.map((each, at) => html`${at ? ", " : ""}<bdi>${each}</bdi>`)}`)}
    ${radio("", html`one class of this name`)}
  </fieldset>`;
}

function Cluster({ cluster, isSame, onSame }) {
  const [[main], ...others] = cluster.names;
  return html`<li><label class="check"><input type="checkbox" checked=${isSame} onChange=${(event) => onSame(cluster, event.currentTarget.checked)} />
    <span>Teach as <bdi>${main}</bdi>: ${others.map(([name, number], at) => html`${at ? ", " : ""}<bdi>${name}</bdi> (${count(number)})`)}</span></label></li>`;
}

/** Offer to teach the spellings of a label as one class. `same` has the keys of those that are. */
function Clusters({ title, clusters, same, onSame }) {
  const { shown, more, showAll } = useFirst(clusters, CLUSTERS);
  if (!clusters.length) return null;
  const all = (isSame) => {
    showAll(); // what is ticked is in view
    onSame(clusters, isSame);
  };
  const isAll = clusters.every((each) => same.has(keyOf(each)));
  return html`<fieldset class="question"><legend>${title}</legend>
    ${clusters.length > 1 && html`<label class="check"><input type="checkbox" checked=${isAll} onChange=${(event) => all(event.currentTarget.checked)} /> All ${count(clusters.length)}</label>`}
    <ul class="plain">${shown.map((each) => html`<${Cluster} key=${keyOf(each)} cluster=${each} isSame=${same.has(keyOf(each))} onSame=${(its, isSame) => onSame([its], isSame)} />`)}</ul>
    ${more}
  </fieldset>`;
}

const rejectedRows = ([first, ...others]) => (first ? `${plural(others.length + 1, "row")} will be rejected, the first in ${first}.` : "no row will be rejected.");

/** Tell what is found in the rows, and ask: what cells with several names are, which spellings are one class, whether
 * labels such as nan are left out. `answers` has { separator, same, without }; `onAnswers` takes a change of them. */
export function LabelNotes({ said, answers, onAnswers }) {
  const { rows, empty, clusters, joined, left, rejected, damaged, error } = said ?? NOTHING;
  const of = rows === ROWS && `Of the first ${count(ROWS)} rows: `;
  const onSame = (some, isSame) => {
    const same = new Set(answers.same);
    for (const each of some) if (isSame) same.add(keyOf(each)); else same.delete(keyOf(each));
    onAnswers({ same });
  };
  return html`<${Problem} error=${error} /><div aria-label="What the rows say" role="group">
    <div role="status">${!said && html`<p class="hint">Reading the rows …</p>`}${said && !error && html`${of}<${Counts} said=${said} answers=${answers} />`}</div>
    ${joined.map((each) => html`<${Joined} key=${each.separator} ...${each} answer=${answers.separator} onAnswer=${(separator) => onAnswers({ separator })} />`)}
    ${empty.length > 0 && html`<p class="hint">${of}Labels that may mean none: ${counted(empty)}${andMore(empty)}. Each is taught as a class.
      ${" "}<label class="check"><input type="checkbox" checked=${answers.without} onChange=${(event) => onAnswers({ without: event.currentTarget.checked })} /> Leave such labels out</label></p>`}
    <${Clusters} title="The same but for case, blanks, accents or signs. Each spelling is a class, unless you check it:" clusters=${clusters.filter((each) => each.isSpelling)} same=${answers.same} onSame=${onSame} />
    <${Clusters} title="Different in one letter, perhaps misspelt. Each is a class, unless you check it:" clusters=${clusters.filter((each) => !each.isSpelling)} same=${answers.same} onSame=${onSame} />
    ${left.length > 0 && html`<p class="hint">${of}Rows that are left out when the file is taught: ${counted(left)}.</p>`}
    ${rejected.flat().length > 0 && ["To teach the file", "To save suggestions"].map((action, at) => html`<p class="hint" key=${at}>${of}${action}: ${rejectedRows(rejected[at])}</p>`)}
    ${damaged > 0 && html`<p class="hint">${of}${plural(damaged, "row")} with the sign \ufffd: another program has lost letters there. Such rows are taught as they are.</p>`}
  </div>`;
}
