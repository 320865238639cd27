// A sample while it is taught: progress, accuracy, and texts to try after it.

import { html, useEffect, useRef, useState } from "./html.js";
import { Accuracy } from "./chart.js";
import { count, percent } from "./format.js";
import { Problem, useTask } from "./parts.js";
import { beat } from "./pulse.js";
import { teachSample } from "./samples.js";

/** The sentence being read, with the word that was asked for. */
function Reading({ last }) {
  if (!last?.sentence) return null;
  const { sentence, position } = last;
  const around = [sentence.slice(Math.max(0, position - 12), position), sentence.slice(position + 1, position + 13)];
  return html`<p class="reading">${around[0].join(" ")} <mark class="for" style=${{ "--share": 0.8 }}>${sentence[position]}</mark> ${around[1].join(" ")}</p>`;
}

export function SamplePanel({ sample, onTry, onDone }) {
  const [points, setPoints] = useState([]);
  const [last, setLast] = useState(null);
  const [finished, setFinished] = useState(false);
  const abort = useRef(null);
  const task = useTask();
  useEffect(() => {
    abort.current = new AbortController();
    const began = performance.now();
    task.run(async () => {
      try {
        await teachSample(sample, (report) => {
          setLast({ ...report, seconds: (performance.now() - began) / 1000 });
          if (report.r1 !== null) setPoints((before) => [...before, { at: report.done, r1: report.r1, r5: report.r5 }]);
        }, abort.current.signal);
      } finally {
        setFinished(true);
        beat();
        onDone();
      }
    });
    return () => abort.current.abort();
  }, []);
  const rate = last && last.done / last.seconds;
  return html`<section class="card" aria-label=${sample.title}>
    <h3>${sample.title}</h3>
    <progress value=${last?.done ?? 0} max=${last?.total ?? 1} aria-label="Progress"></progress>
    <p role="status">${last
      ? html`${count(last.done)} of ${count(last.total)} messages${last.r1 === null ? "" : `, the right class first in ${percent(last.r1)} of the last ${count(last.accepted)}`}, ${count(Math.round(rate))} per second`
      : "Unpacking …"}</p>
    <${Reading} last=${finished ? null : last?.last} />
    <${Problem} error=${task.error} />
    <${Accuracy} points=${points} />
    ${finished
      ? html`<p>Now try: ${sample.tries.map((text) => html`<button type="button" class="chip" key=${text} onClick=${() => {
          onTry(text);
          scrollTo({ top: 0 });
        }}>${text}</button>`)}</p>`
      : html`<button type="button" onClick=${() => abort.current.abort()}>Stop</button>`}
  </section>`;
}
