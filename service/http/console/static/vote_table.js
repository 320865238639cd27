// The features that voted for a class, heaviest first, and their contributions.

import { html } from "./html.js";
import { fixed, plural } from "./format.js";

const SHOWN = 40;

export function VoteTable({ name, votes }) {
  if (!name || !votes.length) return null;
  const most = Math.max(...votes.map((each) => Math.abs(each.score)));
  const sorted = [...votes].sort((a, b) => b.score - a.score);
  return html`<details class="votes"><summary>Why ${name}: ${plural(votes.length, "feature")}</summary>
    <ul class="weights">${sorted.slice(0, SHOWN).map((each) => html`<li key=${each.feature}>
      <a href=${`#/names?feature=${encodeURIComponent(each.feature)}`}>${each.feature}</a>
      <span class=${`weight ${each.score < 0 ? "against" : "for"}`} style=${{ "--share": Math.abs(each.score) / most }} aria-hidden="true"></span>
      <span class="score">${fixed(each.score)}</span></li>`)}</ul>
  </details>`;
}
