// How a file is read: its encoding, its delimiter, its header, its sheet; each is guessed, and the user can change it.

import { html } from "./html.js";
import { DELIMITERS } from "./csv_rows.js";
import { ENCODINGS } from "./file_text.js";
import { Field } from "./parts.js";

function Choice({ label, hint, value, options, onChange }) {
  return html`<${Field} label=${label} hint=${hint}><select value=${value} onChange=${(event) => onChange(event.currentTarget.value)}>
    ${options.map(([each, title]) => html`<option key=${each} value=${each}>${title}</option>`)}</select><//>`;
}

function encodingHint({ isGuessed, sample }) {
  if (!sample) return "Its letters are the same in all of them.";
  return html`${isGuessed && "Guessed. "}Are these letters right? <bdi>${sample}</bdi>`;
}

/** The choices of a table, or of a file that could not be read with those of before. `onChoice` takes the changed ones. */
export function Notation({ table, chosen, onChoice }) {
  const encoding = table ? table.chosen.encoding : chosen.encoding ?? "";
  const delimiter = table?.chosen.delimiter;
  const known = delimiter in DELIMITERS ? DELIMITERS : { ...DELIMITERS, [delimiter]: delimiter };
  const encodings = Object.entries(encoding ? ENCODINGS : { "": "choose", ...ENCODINGS });
  const set = (change) => onChoice({ ...chosen, ...change });
  return html`<div class="row">
    ${(!table || encoding) && html`<${Choice} label="Encoding of the file" hint=${table && encodingHint(table)} value=${encoding} options=${encodings}
      onChange=${(its) => set({ encoding: its })} />`}
    ${table?.sheets?.length > 1 && html`<${Choice} label="Sheet" value=${table.sheet} options=${table.sheets.map((each) => [each, each])}
      onChange=${(sheet) => onChoice({ sheet })} />`}
    ${delimiter && html`<${Choice} label="Sign between cells" value=${delimiter} options=${Object.entries(known)} onChange=${(its) => set({ delimiter: its })} />`}
    ${table?.hasHeader !== undefined && html`<${Choice} label="Header" value=${String(table.hasHeader)} hint=${chosen.header === undefined && "Guessed."}
      options=${[["true", "the first row has the names of the columns"], ["false", "none: the first row is data"]]} onChange=${(its) => set({ header: its === "true" })} />`}
  </div>`;
}
