// Sums of a running cluster, asked for again and again, as rates over the last seconds.
"use strict";

const WINDOW = 5; // seconds that a rate looks back

class Rates {
  constructor() {
    this.sums = new Map(); // key -> [[seconds, sum]], the oldest first
  }

  /** Takes down a sum at a time; one that went down belongs to something new. */
  add(key, at, sum) {
    const seen = this.sums.get(key) ?? [];
    const last = seen[seen.length - 1];
    if (last && (last[1] > sum || last[0] >= at)) seen.length = 0;
    seen.push([at, sum]);
    while (seen.length > 2 && seen[1][0] <= at - WINDOW) seen.shift();
    this.sums.set(key, seen);
  }

  /** How much the sum grows in a second; null as long as that is not known. */
  of(key) {
    const seen = this.sums.get(key) ?? [];
    if (seen.length < 2) return null;
    const [[from, before], [to, after]] = [seen[0], seen[seen.length - 1]];
    return (after - before) / (to - from);
  }

  /** How much one sum grows while another grows by 1; null where that does not grow. */
  share(key, other) {
    const [part, whole] = [this.of(key), this.of(other)];
    return part === null || !whole ? null : part / whole;
  }

  clear() {
    this.sums.clear();
  }
}

/** 0.52, 35.2, 1,204; a dash for what is not known. */
function rateText(value) {
  if (value === null) return "–";
  const digits = !value || value >= 1000 ? 0 : value >= 10 ? 1 : 2;
  const fixed = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return value.toLocaleString("en-US", fixed);
}

/** 1.2 kB/s */
function flowText(value) {
  return value === null ? "–" : `${size(value)}/s`;
}

/** 0.0042 -> "4.2 ms" */
function timeText(seconds) {
  if (seconds === null) return "–";
  if (seconds >= 60) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
  if (seconds >= 1) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  return seconds >= 0.001 ? `${rateText(seconds * 1e3)} ms` : `${Math.round(seconds * 1e6)} µs`;
}
