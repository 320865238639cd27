// Numbers, times and names as texts.

const WHOLE = new Intl.NumberFormat("en");

export const count = (value) => (value == null ? "–" : WHOLE.format(value));

export const plural = (value, noun, many = `${noun}s`) =>
  `${count(value)} ${value === 1 ? noun : many}`;

const TURNING = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/; // of scripts from right to left

/** Return a name so that it does not turn the direction of the sentence around it. */
export const isolated = (name) => (TURNING.test(name) ? `\u2068${name}\u2069` : name);

/** Return names as a list in a sentence. */
export const listed = (names) => names.map(isolated).join(", ");

export const fixed = (value, digits = 3) => (value == null ? "–" : value.toFixed(digits));

export const percent = (share, digits = 0) =>
  share == null ? "–" : `${(100 * share).toFixed(digits)} %`;

export function bytes(value) {
  if (value == null) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toFixed(unit && value < 100 ? 1 : 0)} ${units[unit]}`;
}

export function seconds(value) {
  if (value == null) return "–";
  if (value === 0) return "0 s";
  if (value < 1e-3) return `${(1e6 * value).toFixed(0)} µs`;
  if (value < 1) return `${(1e3 * value).toFixed(value < 0.01 ? 1 : 0)} ms`;
  if (value < 120) return `${value.toFixed(value < 10 ? 1 : 0)} s`;
  if (value < 7200) return `${(value / 60).toFixed(0)} min`;
  return `${(value / 3600).toFixed(0)} h`;
}

export function time(unix) {
  if (unix == null) return "–";
  const date = new Date(1000 * unix);
  return date.toLocaleString("sv").slice(0, 16);
}
