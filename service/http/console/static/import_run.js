// Teach a file, or rank it to CSV, piece by piece.

import { ask, faultText, get, learnLines, pause } from "./api.js";
import { RowFault } from "./class_cells.js";
import { UNLABELLED, eventOf, instanceOf, isBlank, unlabelledOf, waitingOf } from "./mapping.js";
import { isPaused } from "./pulse.js";
import { csvLike, rowsOf } from "./rows.js";
import { KnownClasses } from "./unknown_classes.js";

const LEARNED = 50; // rows of one request: its answer names up to 100 faults and 100 warnings, and a row may have two
const RANKED = 200;
const CLASSES = 5; // of a ranked row
const DIGITS = 6; // of a number of a ranked row
const [AUTOMATIC, UNSURE] = ["automatic", "let a person decide"]; // the decisions
const LONGEST_FILE = 50; // characters of the name of a file in the id of a row
const UNFIT = [400, 413, 422]; // the answers to a request of which an instance cannot be ranked
const PATIENCE = 60; // times that a full service is asked again, a second apart or more

async function* inPieces(rows, size) {
  let some = [];
  for await (const each of rows) {
    some.push(each);
    if (some.length === size) {
      yield some;
      some = [];
    }
  }
  if (some.length) yield some;
}

/** Return what a function makes of each row: { made, rejected, left, unlabelled }; a row that is none is not in `made`. */
function sorted(some, make) {
  const made = [];
  const rejected = [];
  const left = [];
  const unlabelled = [];
  for (const { line, last, row, ...none } of some) {
    if (none.left) left.push(none.left);
    else if (!row) rejected.push({ line, last, detail: none.detail, row: none.text });
    else {
      try {
        made.push({ line, last, row, its: make(row) });
      } catch (fault) {
        if (!(fault instanceof RowFault)) throw fault;
        if (fault.left === UNLABELLED) unlabelled.push({ line, last, row });
        else if (fault.left) left.push(fault.left);
        else rejected.push({ line, last, detail: fault.message, row });
      }
    }
  }
  return { made, rejected, left, unlabelled };
}

/** Teach the rows of a table, but for blank ones. Each event gets an id, so that a request sent twice teaches it once.
 *
 * `report` takes { lines, accepted, duplicates, r1, r5, rejected: [{ line, last, detail, row }], left: [reason], unlabelled: [{ line, last, row }],
 * created: [class], warned: [{ line, detail }] } of each piece; a row of CSV is in the lines from `line` to `last`.
 */
export async function teachFile(table, columns, options, report, signal) {
  const run = crypto.getRandomValues(new Uint32Array(2)).join("-");
  const known = await KnownClasses.now();
  const absent = new Set(); // unknown classes that no learned event has
  let number = 0;
  for await (const some of inPieces(rowsOf(table), LEARNED)) {
    signal.throwIfAborted();
    const { made, rejected, left, unlabelled } = sorted(some.filter(({ row }) => !row || !isBlank(row)), (row) => eventOf(row, columns, options));
    const events = made.map(({ its }) => ({ event_id: `import-${run}-${(number += 1)}`, ...its }));
    for (const each of await known.unknown(events.flatMap((event) => event.classes))) absent.add(each);
    const answer = events.length ? await learnLines(events, signal, isPaused) : { accepted: 0, duplicates: 0, r1: null, r5: null, faults: [], warnings: [] };
    const refused = new Set(answer.faults.map((each) => each.line));
    const learned = new Set(events.filter((_, index) => !refused.has(index + 1)).flatMap((each) => each.classes));
    for (const { line, detail, errors } of answer.faults) rejected.push({ ...made[line - 1], detail: faultText(detail, errors) });
    const warned = answer.warnings.map(({ line, detail }) => ({ line: made[line - 1].line, detail }));
    report({ lines: some.length, accepted: answer.accepted, duplicates: answer.duplicates, r1: answer.r1, r5: answer.r5, rejected, left, unlabelled, warned, created: [...learned].filter((each) => absent.delete(each)) });
  }
}

/** Return a number of a text, by the function FNV-1a. */
function hashOf(text) {
  let hash = 0x811c9dc5;
  for (const each of new TextEncoder().encode(text)) hash = Math.imul(hash ^ each, 0x01000193) >>> 0;
  return hash.toString(36);
}

/** Put the rows without a class into Review, where they wait for people to label them; or those of some lines alone. A row
 * without an id gets one of its line and its contents: a file put there twice waits once, and another one of this name too. `report` is as for teachFile. */
export async function reviewFile(table, columns, options, report, signal, lines = null) {
  const isWanted = ({ line, row }) => (lines ? lines.has(line) : !row || !isBlank(row));
  const make = lines ? waitingOf : unlabelledOf;
  for await (const some of inPieces(rowsOf(table), RANKED)) {
    signal.throwIfAborted();
    const { made, rejected, left } = sorted(some.filter(isWanted), (row) => make(row, columns, options));
    const named = ({ line, its }) => ({ id: `${(options.batch || table.file.name).slice(0, LONGEST_FILE)}:${line}-${hashOf(JSON.stringify(its))}`, ...its });
    const body = { instances: made.map(named), batch: options.batch || undefined };
    const { labelled } = made.length ? await ask("POST", "/review", { body, signal }) : { labelled: [] };
    report({ lines: some.length, accepted: made.length - labelled.length, duplicates: labelled.length, r1: null, r5: null, rejected, left, unlabelled: [], warned: [], created: [] });
  }
}

/** Return the body of a call that ranks instances, which do not wait in Review, and abstains where the first class is not right
 * often enough. */
export const rankBody = (instances, target) => ({ instances, k: CLASSES, probabilities: true, keep: false, min_accuracy: target ?? undefined });

async function answerTo(instances, target, signal) {
  for (let times = 0; ; times += 1) {
    try {
      return await ask("POST", "/rank", { body: rankBody(instances, target), signal });
    } catch (error) {
      if (![429, 503].includes(error.status) || times === PATIENCE) throw error;
      await pause(error.retryAfter || 1);
    }
  }
}

/** Return rows, each with the answer to its instance or with the `detail` of a refusal: those that the service refuses
 * together are sent again by halves. */
async function ranked(rows, target, signal) {
  if (!rows.length) return [];
  try {
    const { results, warnings = [] } = await answerTo(rows.map(({ its }) => its), target, signal);
    return rows.map((row, at) => ({ ...row, ...results[at], warnings: warnings.filter(({ pointer }) => pointer.startsWith(`#/instances/${at}/`)) }));
  } catch (error) {
    if (!UNFIT.includes(error.status)) throw error;
    if (rows.length === 1) return [{ ...rows[0], detail: faultText(error.message, error.faults) }];
    const half = rows.length >> 1;
    return [...(await ranked(rows.slice(0, half), target, signal)), ...(await ranked(rows.slice(half), target, signal))];
  }
}

/** Return the names of the columns of a result; those of a table that was ranked before keep theirs. */
function resultNames(names, target, hasTitles) {
  const numbers = Array.from({ length: CLASSES }, (_, index) => index + 1);
  const own = [...(target === null ? [] : ["decision"]), "confidence", ...numbers.flatMap((each) => [`class_${each}`, ...(hasTitles ? [`title_${each}`] : []), `probability_${each}`, `score_${each}`])];
  let prefix = "";
  while (own.some((each) => names.includes(prefix + each))) prefix += "new_";
  return own.map((each) => prefix + each);
}

/** Rank the rows of a table; return the parts of a CSV file with their columns and classes. `target` is the share of right
 * answers that is wanted, or null for all suggestions; what `report` takes has the lines that are `unsure`, and the `limits` that
 * were applied.
 */
export async function rankFile(table, columns, target, report, signal) {
  const names = columns.map((each) => each.name);
  const hasTitles = (await get("/stats")).described > 0;
  const csv = csvLike(table, [...names, ...resultNames(names, target, hasTitles)]);
  for await (const some of inPieces(rowsOf(table), RANKED)) {
    signal.throwIfAborted();
    const { made, rejected, left } = sorted(some, (row) => instanceOf(row, columns));
    const all = await ranked(made, target, signal);
    const results = all.filter((each) => each.ranked);
    for (const { row, ranked: classes, confidence, abstained } of results) {
      const cells = Array.from({ length: CLASSES }, (_, place) => classes[place]).flatMap((each) => [each?.class, ...(hasTitles ? [each?.title] : []), csv.number(each?.probability, DIGITS), csv.number(each?.score, DIGITS)]);
      csv.add([...row, ...(target === null ? [] : [abstained ? UNSURE : AUTOMATIC]), csv.number(confidence, DIGITS), ...cells]);
    }
    rejected.push(...all.filter((each) => each.detail));
    const warned = results.flatMap(({ line, warnings }) => warnings.map(({ detail }) => ({ line, detail })));
    report({ lines: some.length, accepted: results.length, duplicates: 0, r1: null, r5: null, rejected, left, unlabelled: [], warned, created: [], unsure: results.flatMap(({ line, abstained }) => (abstained ? [line] : [])), limits: results.flatMap(({ limit }) => (limit === undefined ? [] : [limit])) });
  }
  return csv.file();
}
