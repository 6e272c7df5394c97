// Elements and numbers as text. Names from a graph reach the page through here alone, as text.
"use strict";

/** An element. Of `props`, functions are listeners, the rest attributes; children may be text. */
function el(tag, props = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value !== null && value !== false)
      made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** A long name that may break after a slash. */
function named(text) {
  const parts = text.split(/(?<=\/)/);
  return el(
    "span",
    { class: "name" },
    ...parts.flatMap((part, i) => (i ? [el("wbr"), part] : [part])),
  );
}

function byId(id) {
  return document.getElementById(id);
}

/** 25600000 -> "25.6 MB"; "?" where the feeds decide. */
function size(bytes) {
  if (bytes === null) return "? B";
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (bytes >= 1000 && unit < units.length - 1) {
    bytes /= 1000;
    unit += 1;
  }
  return `${unit && bytes < 100 ? bytes.toFixed(1) : Math.round(bytes)} ${units[unit]}`;
}

/** The order of people: worker:2 before worker:10. */
function byNumber(a, b) {
  return a.localeCompare(b, "en", { numeric: true });
}

/** 1 op, 2 ops, 10,149 ops. */
function count(number, word) {
  return `${number.toLocaleString("en-US")} ${word}${number === 1 ? "" : "s"}`;
}

/** The bytes of several transfers; "+ ?" when some are not known. */
function totalSize(transfers) {
  const known = transfers.filter((t) => t.bytes !== null);
  const sum = known.reduce((bytes, t) => bytes + t.bytes, 0);
  if (known.length === transfers.length) return size(sum);
  return known.length ? `${size(sum)} + ?` : "? B";
}

/** The text, cut in its middle to what fits. `width(text)` measures. */
function fitted(text, most, width) {
  if (width(text) <= most) return text;
  let keep = Math.floor((text.length * most) / width(text));
  while (keep > 4) {
    const head = Math.ceil(keep * 0.4);
    const short = `${text.slice(0, head)}…${text.slice(text.length - keep + head + 1)}`;
    if (width(short) <= most) return short;
    keep -= 1;
  }
  return "…";
}
