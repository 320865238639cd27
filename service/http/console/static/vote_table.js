// The features that voted for a class, heaviest first, and their contributions.

import { html } from "./html.js";
import { isolated, plural } from "./format.js";
import { WeightList, featureAddress } from "./weight_list.js";

const SHOWN = 40;

// The votes for a suggestion, by what was taught and by the title and description of its label.
export function votesOf(suggestion) {
  const sums = new Map();
  for (const { feature, score } of [...(suggestion?.features ?? []), ...(suggestion?.description ?? [])])
    sums.set(feature, (sums.get(feature) ?? 0) + score);
  return Array.from(sums, ([feature, score]) => ({ feature, score }));
}

export function VoteTable({ name, votes }) {
  if (!name || !votes.length) return null;
  const sorted = [...votes].sort((a, b) => b.score - a.score).slice(0, SHOWN);
  return html`<details class="votes"><summary>Why ${isolated(name)}: ${plural(votes.length, "word")}</summary>
    <${WeightList} label=${`Words that speak for ${name}`} addressOf=${featureAddress}
      entries=${sorted.map(({ feature, score }) => ({ name: feature, weight: score }))} />
  </details>`;
}
