// Charts as SVG: lines, columns, and the reliability diagram.

import { html, useLayoutEffect, useRef, useState } from "./html.js";
import { count, percent, plural } from "./format.js";

const WIDTH = 640; // pixels, until it is known
const HEIGHT = 220;
const LEFT = 64;
const BOTTOM = 24;
const TOP = 10;
const RIGHT = 12;
const COLUMNS = 40;

const Nothing = ({ label, text = "Nothing to draw yet." }) => html`<figure class="chart"><figcaption>${label}</figcaption><p class="hint">${text}</p></figure>`;

/** Return up to about five round numbers from 0 to `most`, which are round after division by a power of `base`. */
function ticks(most, base) {
  if (base !== 10) {
    const unit = base ** Math.floor(Math.log(most) / Math.log(base));
    return ticks(most / unit, 10).map((each) => each * unit);
  }
  const rough = most / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
  const found = [];
  for (let at = 0; at <= most * 1.0001; at += step) found.push(at);
  return found;
}

/** Return [ref, width] of an element: a chart has its size in pixels, so that its texts have the size of others. */
function useWidth() {
  const box = useRef();
  const [width, setWidth] = useState(WIDTH);
  useLayoutEffect(() => {
    const sizes = new ResizeObserver(([{ contentRect }]) => contentRect.width && setWidth(Math.round(contentRect.width)));
    sizes.observe(box.current);
    return () => sizes.disconnect();
  }, []);
  return [box, width];
}

/** Return where a share of the axis of x lies in a chart of this width. */
const across = (share, width) => LEFT + share * (width - LEFT - RIGHT);

/** The axes of a chart, in which `draw` draws, of a width. */
function Frame({ label, xFrom, xTo, yTo, yText, yBase = 10, xText, draw, legend }) {
  const [box, width] = useWidth();
  const y = (value) => HEIGHT - BOTTOM - (value / yTo) * (HEIGHT - BOTTOM - TOP);
  return html`<figure class="chart" ref=${box}><figcaption>${label}
      ${legend && html`<span class="legend">${legend.map((name, index) => html`<span key=${name} class=${`series s${index}`}>${name}</span>`)}</span>`}
    </figcaption>
    <svg width=${width} height=${HEIGHT} role="img" aria-label=${label}>
    ${ticks(yTo, yBase).map((at) => html`<g key=${at}>
      <line class="grid" x1=${LEFT} x2=${width - RIGHT} y1=${y(at)} y2=${y(at)} />
      <text x=${LEFT - 6} y=${y(at) + 4} text-anchor="end">${yText(at)}</text></g>`)}
    <text x=${LEFT} y=${HEIGHT - 6}>${xText(xFrom)}</text>
    <text x=${width - RIGHT} y=${HEIGHT - 6} text-anchor="end">${xText(xTo)}</text>
    ${draw(width)}
  </svg></figure>`;
}

/** Divide points where one has no value, and where two are farther apart than `gap`. */
function stretches(points, gap) {
  const found = [[]];
  for (const [x, y] of points) {
    const last = found.at(-1).at(-1);
    if (last && (y == null || x - last[0] > gap)) found.push([]);
    if (y != null) found.at(-1).push([x, y]);
  }
  return found.filter((each) => each.length);
}

/** Lines over one axis: series of { name, points: [[x, y], …] }, with breaks where no value is. `mark` is an x to point out. */
export function Lines({ label, series, yTo, yText = count, yBase, xText = count, gap = Infinity, mark = null }) {
  const drawn = series
    .map(({ name, points }) => ({ name, points: points.filter(([, y]) => y != null), stretches: stretches(points, gap) }))
    .filter((each) => each.points.length > 1);
  const points = drawn.flatMap((each) => each.points);
  if (points.length < 2)
    return html`<${Nothing} label=${label} />`;
  const xs = points.map(([x]) => x);
  const xFrom = Math.min(...xs);
  const xTo = Math.max(...xs);
  const top = yTo ?? (Math.max(...points.map(([, y]) => y)) * 1.1 || 1);
  const x = (value, width) => across((value - xFrom) / (xTo - xFrom || 1), width);
  const y = (value) => HEIGHT - BOTTOM - (Math.min(value, top) / top) * (HEIGHT - BOTTOM - TOP);
  return html`<${Frame} label=${label} xFrom=${xFrom} xTo=${xTo} yTo=${top} yText=${yText} yBase=${yBase} xText=${xText}
    legend=${series.length > 1 && drawn.map((each) => each.name)} draw=${(width) => html`
    ${mark !== null && html`<line class="mark" x1=${x(mark, width)} x2=${x(mark, width)} y1=${TOP} y2=${HEIGHT - BOTTOM} />`}
    ${drawn.map((each, index) => each.stretches.map((points) => html`<polyline key=${`${each.name} ${points[0][0]}`} class=${`line s${index}`}
      points=${(points.length > 1 ? points : [points[0], points[0]]).map(([at, value]) => `${x(at, width).toFixed(1)},${y(value).toFixed(1)}`).join(" ")} />`))}`} />`;
}

/** The accuracy while events are taught: points of { at, r1, r5 }. */
export function Accuracy({ points }) {
  const series = [["first suggestion right", "r1"], ["among the first five", "r5"]].map(([name, key]) => ({ name, points: points.map((each) => [each.at, each[key]]) }));
  return points.length > 1 && html`<${Lines} label="Accuracy of the suggestions, before each message was taught" yTo=${1} series=${series} yText=${percent} xText=${(at) => plural(at, "message")} />`;
}

/** Columns: values of 0, 1, 2, … of which the last stands for all beyond it. */
export function Columns({ label, values }) {
  if (!values.length) return html`<${Nothing} label=${label} />`;
  const each = Math.ceil(values.length / COLUMNS);
  const sums = [];
  values.forEach((value, index) => {
    const at = Math.floor(index / each);
    sums[at] = (sums[at] ?? 0) + value;
  });
  const top = Math.max(...sums, 1);
  return html`<${Frame} label=${label} xFrom=${0} xTo=${values.length - 1} yTo=${top} yText=${compact} xText=${count}
    draw=${(width) => sums.map((value, index) => {
      const height = (value / top) * (HEIGHT - BOTTOM - TOP);
      const [left, right] = [index, index + 1].map((at) => across(at / sums.length, width));
      return html`<rect key=${index} class="column" x=${left + 1} width=${Math.max(1, right - left - 2)}
        y=${HEIGHT - BOTTOM - height} height=${height}><title>${index * each}: ${count(value)}</title></rect>`;
    })} />`;
}

/** Points of [x, share, title] over a logarithmic axis. */
export function Points({ label, points, xText = count }) {
  if (points.length < 2) return html`<${Nothing} label=${label} />`;
  const xs = points.map(([x]) => x);
  const least = Math.min(...xs);
  const most = Math.max(...xs, least + 1);
  const at = (x, width) => across(Math.log(x / least) / Math.log(most / least), width);
  return html`<${Frame} label=${label} xFrom=${least} xTo=${most} yTo=${1} yText=${percent} xText=${xText}
    draw=${(width) => points.map(([x, share, title]) => html`<circle key=${title} class="point" cx=${at(x, width).toFixed(1)} cy=${(HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)).toFixed(1)} r="4"><title>${title}</title></circle>`)} />`;
}

const COMPACT = new Intl.NumberFormat("en", { notation: "compact" });
export const compact = (value) => COMPACT.format(value);

/** Confidence against the share that was right, of ten bins; on the diagonal it is calibrated. */
export function Reliability({ label, bins }) {
  const side = 300;
  const at = (value) => 50 + value * (side - 75);
  const down = (value) => side - 35 - value * (side - 50);
  const filled = bins.filter((each) => each.outcomes);
  const most = Math.max(1, ...filled.map((each) => each.outcomes));
  if (!filled.length)
    return html`<${Nothing} label=${label} text="There is no confidence before 100 labelled messages." />`;
  return html`<figure class="chart"><figcaption>${label}</figcaption>
    <svg class="square" viewBox=${`0 0 ${side} ${side}`} role="img"
      aria-label=${`${label}: ${filled.map((each) => `${percent(each.confidence)} sure, ${percent(each.right)} right`).join("; ")}`}>
      ${[0, 0.5, 1].map((tick) => html`<g key=${tick}>
        <line class="grid" x1=${at(0)} x2=${at(1)} y1=${down(tick)} y2=${down(tick)} />
        <text x="42" y=${down(tick) + 4} text-anchor="end">${percent(tick)}</text>
        <text x=${at(tick)} y=${side - 12} text-anchor="middle">${percent(tick)}</text></g>`)}
      <line class="diagonal" x1=${at(0)} y1=${down(0)} x2=${at(1)} y2=${down(1)} />
      ${filled.map((each) => html`<circle key=${each.confidence} class="point" cx=${at(each.confidence)} cy=${down(each.right)}
        r=${3 + 5 * Math.sqrt(each.outcomes / most)}><title>${count(each.outcomes)} messages</title></circle>`)}
    </svg></figure>`;
}
