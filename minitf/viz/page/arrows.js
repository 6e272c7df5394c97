// The transfers as arrows: where each starts and ends among the boxes that are seen.
"use strict";

const MOST_SINGLE = 48; // transfers of a step that are drawn one by one; more go in bundles
const TRIES = [0.5, 0.42, 0.58, 0.35, 0.65, 0.28, 0.72, 0.2, 0.8, 0.14, 0.86];
const LANE = 16; // pixels between curves that join the same boxes

/** An arrow for each transfer, or one for all between the same two boxes when there are many. */
function arrowsOf(tree, transfers) {
  const bundles = new Map();
  for (const transfer of transfers) {
    const [from, to] = [seenOf(tree.source(transfer)), seenOf(tree.target(transfer))];
    const single = transfers.length <= MOST_SINGLE ? transfer.number : "";
    const key = `${from.key}\n${to.key}\n${transfer.kind}\n${single}`;
    if (!bundles.has(key)) bundles.set(key, { from, to, transfers: [] });
    bundles.get(key).transfers.push(transfer);
  }
  const arrows = [...bundles.values()].map(({ from, to, transfers: carried }) => ({
    from,
    to,
    transfers: carried,
    control: carried[0].kind === "control",
    label: arrowLabel(carried),
  }));
  spread(arrows);
  return arrows;
}

function arrowLabel(transfers) {
  const [first] = transfers;
  if (first.kind === "control")
    return transfers.length > 1 ? `${transfers.length} × control` : "control";
  return transfers.length > 1
    ? `${transfers.length} × · ${totalSize(transfers)}`
    : size(first.bytes);
}

/** Gives each arrow its curve; those between the same two tasks are kept apart. */
function spread(arrows) {
  const lanes = new Map();
  for (const arrow of arrows) {
    const ends = [taskOf(arrow.from).key, taskOf(arrow.to).key].sort().join("\n");
    lanes.set(ends, [...(lanes.get(ends) ?? []), arrow]);
  }
  for (const lane of lanes.values()) {
    lane.forEach((arrow, i) => {
      const same = lane.filter(({ from, to }) => from === arrow.from && to === arrow.to);
      arrow.curve = curve(arrow.from, arrow.to, same.indexOf(arrow) - (same.length - 1) / 2);
      arrow.at = lane.length > 1 ? 0.3 + (0.4 * i) / (lane.length - 1) : 0.5;
    });
  }
  keepApart(arrows);
}

function taskOf(box) {
  while (box.kind !== "task" && box.parent?.kind !== "root") box = box.parent;
  return box;
}

/** Slides labels along their curves: off each other, and between the tasks rather than in them. */
function keepApart(arrows) {
  const placed = [];
  for (const arrow of arrows) {
    const tasks = [taskOf(arrow.from), taskOf(arrow.to)];
    const places = [arrow.at, ...TRIES].map((at) => pointOn(arrow.curve, at));
    const free = places.filter((p) => isFree(p, placed));
    const between = free.find((p) => !tasks.some((task) => covers(task, p)));
    arrow.tag = between ?? free[0] ?? places[0];
    placed.push(arrow.tag);
  }
}

function covers({ ax, ay, w, h }, { x, y }) {
  return x > ax - 20 && x < ax + w + 20 && y > ay - 8 && y < ay + h + 8;
}

function isFree(point, placed) {
  return placed.every((p) => Math.abs(p.x - point.x) > 64 || Math.abs(p.y - point.y) > 20);
}

/**
 * A Bezier curve from the edge of one box to the edge of another, by the sides that face. `lane`:
 * how far beside the middle, for several between the same boxes.
 */
function curve(from, to, lane = 0) {
  const [source, target] = [taskOf(from), taskOf(to)];
  const aside = target.ax >= source.ax + source.w || source.ax >= target.ax + target.w;
  const [a, b] = [middle(from), middle(to)];
  const sign = (aside ? b.x >= a.x : b.y >= a.y) ? 1 : -1;
  const [start, end] = [port(from, aside, sign, lane), port(to, aside, -sign, lane)];
  const far = aside ? Math.abs(end.x - start.x) : Math.abs(end.y - start.y);
  const bend = sign * Math.max(18, far / 2);
  const side = lane * LANE;
  const bent = ({ x, y }, by) => (aside ? { x: x + by, y: y + side } : { x: x + side, y: y + by });
  return [start, bent(start, bend), bent(end, -bend), end];
}

function middle(box) {
  return { x: box.ax + box.w / 2, y: box.ay + box.h / 2 };
}

/** Where a curve meets a box: on its left or right side if `aside`, else on its top or bottom. */
function port(box, aside, sign, lane) {
  const { x, y } = middle(box);
  const within = (extent) => clamp(lane * 7, -extent / 2 + 4, extent / 2 - 4);
  if (aside) return { x: x + (sign * box.w) / 2, y: y + within(box.h) };
  return { x: x + within(box.w), y: y + (sign * box.h) / 2 };
}

function pointOn([a, b, c, d], t) {
  const s = 1 - t;
  const [u, v, w, z] = [s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t];
  return { x: u * a.x + v * b.x + w * c.x + z * d.x, y: u * a.y + v * b.y + w * c.y + z * d.y };
}
