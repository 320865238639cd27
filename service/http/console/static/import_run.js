// Teach a file, or rank it to CSV, piece by piece.

import { ask, learnLines, pause } from "./api.js";
import { eventOf, hasInstance, instanceOf } from "./mapping.js";
import { isPaused } from "./pulse.js";
import { csvLine, rowsOf } from "./rows.js";
import { KnownClasses } from "./unknown_classes.js";

const LEARNED = 100; // rows of one request, whose answer names up to 100 faults
const RANKED = 200;
const CLASSES = 5; // of a ranked row
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

const isBlank = (row) => Object.values(row).every((each) => String(each ?? "").trim() === "");

/** Teach the rows of a file, but for blank ones. Each event gets an id, so that a request sent twice teaches it once.
 *
 * `report` takes { lines, accepted, duplicates, r1, r5, rejected: [{ line, last, detail, row }], created: [class] }
 * of each piece; a row of CSV is in the lines from `line` to `last`.
 */
export async function teachFile(file, roles, options, report, signal) {
  const named = (...wanted) => Object.keys(roles).filter((name) => wanted.includes(roles[name])).join(", ");
  const run = crypto.getRandomValues(new Uint32Array(2)).join("-");
  const known = await KnownClasses.now();
  const absent = new Set(); // unknown classes that no learned event has
  for await (const some of inPieces(rowsOf(file), LEARNED)) {
    signal.throwIfAborted();
    const rejected = some.filter((each) => !each.row).map(({ line, last, detail, text }) => ({ line, last, detail, row: text }));
    const rows = [];
    const events = [];
    for (const { line, last, row } of some) {
      if (!row || isBlank(row)) continue;
      const event = eventOf(row, roles, options);
      const empty = hasInstance(row, roles) ? !event.classes.length && `no class: ${named("class")} is empty` : `no text: ${named("text", "feature")} is empty`;
      if (empty) {
        rejected.push({ line, last, detail: empty, row });
        continue;
      }
      rows.push({ line, last, row });
      events.push(event.event_id ? event : { ...event, event_id: `import-${run}-${line}` });
    }
    for (const each of await known.unknown(events.flatMap((event) => event.classes))) absent.add(each);
    const answer = events.length ? await learnLines(events, signal, isPaused) : { accepted: 0, duplicates: 0, r1: null, r5: null, faults: [] };
    const refused = new Set(answer.faults.map((each) => each.line));
    const learned = new Set(events.filter((_, index) => !refused.has(index + 1)).flatMap((each) => each.classes));
    for (const { line, detail } of answer.faults) {
      rejected.push({ ...rows[line - 1], detail });
    }
    report({ lines: some.length, accepted: answer.accepted, duplicates: answer.duplicates, r1: answer.r1, r5: answer.r5, rejected, created: [...learned].filter((each) => absent.delete(each)) });
  }
}

async function ranked(instances, signal) {
  for (let times = 0; ; times += 1) {
    try {
      return (await ask("POST", "/rank", { body: { instances, k: CLASSES }, signal })).results;
    } catch (error) {
      if (![429, 503].includes(error.status) || times === PATIENCE) throw error;
      await pause(error.retryAfter || 1);
    }
  }
}

/** Rank the rows of a file; return the parts of a CSV file with their columns and classes.
 *
 * All rows have one id, of which only the newest instance waits for a label: the last, without features, which Review
 * leaves out.
 */
export async function rankFile(file, roles, report, signal) {
  const id = `console-file-${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;
  const columns = Object.keys(roles);
  const numbers = Array.from({ length: CLASSES }, (_, index) => index + 1);
  const parts = [csvLine([...columns, "confidence", ...numbers.flatMap((each) => [`class_${each}`, `score_${each}`])])];
  for await (const some of inPieces(rowsOf(file), RANKED)) {
    signal.throwIfAborted();
    const rows = some.filter((each) => each.row).map((each) => each.row);
    const results = rows.length ? await ranked(rows.map((row) => ({ ...instanceOf(row, roles), id })), signal) : [];
    results.forEach(({ ranked: classes, confidence }, index) => {
      const cells = numbers.flatMap((each) => [classes[each - 1]?.class, classes[each - 1]?.score.toFixed(6)]);
      parts.push(csvLine([...columns.map((name) => rows[index][name]), confidence, ...cells]));
    });
    const rejected = some.filter((each) => !each.row).map(({ line, last, detail, text }) => ({ line, last, detail, row: text }));
    report({ lines: some.length, accepted: rows.length, duplicates: 0, r1: null, r5: null, rejected, created: [] });
  }
  await ranked([{ text: "", id }], signal);
  return parts;
}
