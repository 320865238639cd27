// Events as a table of CSV for a spreadsheet.

import { GuardedCsv, localDelimiter } from "./csv_text.js";

const JOINTS = ["|", ";", ","]; // the signs by which Import divides a cell of classes
const TEXT = "text"; // the column of a text without fields

const isFields = (text) => text !== null && typeof text === "object";

/** Return the columns of some events: pairs of a name and of a function that returns the cell of an event. */
function columnsOf(events, joint) {
  const texts = events.map((each) => each.text);
  const fields = new Set(texts.filter(isFields).flatMap(Object.keys));
  const hasText = !fields.size || texts.some((each) => typeof each === "string");
  const about = [
    ["source", (each) => each.source],
    ["class", (each) => each.classes.join(joint)],
    ["not", (each) => each.not.join(joint)],
    ["reviewer", (each) => each.reviewer],
    ["import", (each) => each.batch],
    ["time", (each) => (each.time === null ? "" : new Date(1000 * each.time).toISOString())],
  ].filter(([name]) => name !== "not" || events.some((each) => each.not.length));
  const own = new Set(["id", "features", ...(hasText ? [TEXT] : []), ...about.map(([name]) => name)]);
  const nameOf = (field) => {
    let name = field;
    while (own.has(name) || (name !== field && fields.has(name))) name = `${TEXT}.${name}`;
    return name;
  };
  return [
    ["id", (each) => each.id ?? each.key],
    ...(hasText ? [[TEXT, ({ text }) => (isFields(text) ? "" : text)]] : []),
    ...Array.from(fields, (field) => [nameOf(field), ({ text }) => (isFields(text) && Object.hasOwn(text, field) ? text[field] : "")]),
    ...(texts.includes(null) ? [["features", ({ text, features }) => (text === null ? JSON.stringify(features) : "")]] : []),
    ...about,
  ];
}

/** Return { parts, joint }: the parts of a file of CSV, and the sign between the classes of a cell; no class has it, if possible. */
export function eventCsv(events) {
  const names = new Set(events.flatMap((each) => [...each.classes, ...each.not]));
  const joint = JOINTS.find((sign) => ![...names].some((each) => each.includes(sign))) ?? JOINTS[0];
  const columns = columnsOf(events, joint);
  const csv = new GuardedCsv(columns.map(([name]) => name), localDelimiter());
  for (const event of events) csv.add(columns.map(([, cellOf]) => cellOf(event)));
  return { parts: csv.file(), joint };
}
