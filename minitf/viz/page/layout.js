// Places the children of each open box with dagre, box by box from the inside out.
"use strict";

const HEAD = 28; // the label of an open box
const PAD = 12;
const OP_HEIGHT = 26;
const CLOSED_HEIGHT = 40;
const CLOSED_ROOM = 58; // beside the words of a closed box
const BOLDER = 1.1; // the width of bold words beside plain ones
const WIDEST = 240;
const INNER_ASPECT = 1.2; // width / height that is aimed at
const TOLERANCE = 0.7;
const CROWD = 8; // tasks side by side
const GAPS = {
  root: { nodesep: 80, ranksep: 130 },
  crowded: { nodesep: 24, ranksep: 200 }, // a root with many tasks
  task: { nodesep: 40, ranksep: 50 },
  inner: { nodesep: 14, ranksep: 24 },
};

/** Lays out what is stale. Yields after each box, so that a big graph need not freeze the page. */
function* arrange(box, measure, aspect) {
  if (!box.stale) return;
  if (!box.open) {
    [box.w, box.h] = closedSize(box, measure);
  } else {
    for (const child of box.children) yield* arrange(child, measure, aspect);
    arrangeChildren(box, measure, aspect);
    yield;
  }
  box.stale = false;
}

function closedSize(box, measure) {
  if (box.op) return [clamp(measure(box.label) + 26, 56, WIDEST), OP_HEIGHT];
  const label = measure(box.label) * BOLDER + measure(count(box.ops.length, "op"));
  return [clamp(label + CLOSED_ROOM, 110, WIDEST + 80), CLOSED_HEIGHT];
}

function clamp(value, least, most) {
  return Math.min(Math.max(value, least), most);
}

function arrangeChildren(box, measure, aspect) {
  const wanted = box.kind === "root" ? aspect : INNER_ASPECT;
  const farOff = (graph) => Math.abs(Math.log(graph.graph().width / graph.graph().height / wanted));
  const down = laidOut(box, "TB", wanted);
  const across = farOff(down) > TOLERANCE ? laidOut(box, "LR", wanted) : null;
  take(box, across && farOff(across) < farOff(down) ? across : down, measure);
}

/** The children placed by dagre, rank by rank downwards (TB) or to the right (LR). */
function laidOut(box, rankdir, wanted) {
  const graph = new dagre.graphlib.Graph();
  const crowded = box.kind === "root" && box.children.length > CROWD;
  graph.setGraph({ rankdir, ...(GAPS[crowded ? "crowded" : box.kind] ?? GAPS.inner) });
  for (const child of box.children) graph.setNode(child.key, { width: child.w, height: child.h });
  for (const { a, b } of box.links.values()) graph.setEdge(a.key, b.key, { weight: 2 });
  for (const [a, b] of stacked(box, rankdir === "TB" ? wanted : 1 / wanted)) {
    graph.setEdge(a.key, b.key, { weight: 0 });
  }
  dagre.layout(graph);
  return graph;
}

/**
 * Unseen edges between parts that nothing joins, so that dagre puts them in rows below each other
 * and not all in one.
 */
function stacked(box, wanted) {
  const parts = partsOf(box);
  const columns = Math.max(2, Math.ceil(Math.sqrt(parts.length * Math.min(wanted, 1.5))));
  return parts.slice(columns).map((part, i) => [parts[i][parts[i].length - 1], part[0]]);
}

/** The connected parts of the children, each in the order in which they run. */
function partsOf(box) {
  const near = new Map(box.children.map((child) => [child, []]));
  for (const { a, b } of box.links.values()) {
    near.get(a).push(b);
    near.get(b).push(a);
  }
  const parts = [];
  const seen = new Set();
  for (const first of box.children) {
    if (seen.has(first)) continue;
    const part = new Set([first]);
    for (const child of part) near.get(child).forEach((other) => part.add(other));
    part.forEach((child) => seen.add(child));
    parts.push(box.children.filter((child) => part.has(child)));
  }
  return parts;
}

/** The places that dagre found, with (x, y) a corner and room for the head. */
function take(box, graph, measure) {
  const root = box.kind === "root";
  const [top, side] = root ? [0, 0] : [HEAD, PAD];
  const routes = [...box.links.values()].map((link) => ({
    link,
    ...graph.edge(link.a.key, link.b.key),
  }));
  const bounds = extent(box, graph, routes);
  const inner = Math.max(bounds.right - bounds.left, measure(box.label) + 70);
  const dx = side - bounds.left + (inner - (bounds.right - bounds.left)) / 2;
  const dy = top - bounds.top;
  for (const child of box.children) {
    const { x, y } = graph.node(child.key);
    [child.x, child.y] = [x - child.w / 2 + dx, y - child.h / 2 + dy];
  }
  box.w = inner + 2 * side;
  box.h = bounds.bottom - bounds.top + top + side;
  box.routes = routes.map(({ link, points }) => ({
    control: link.control,
    points: points.map(({ x, y }) => ({ x: x + dx, y: y + dy })),
  }));
}

/** What the children and the edges among them take up; dagre's own figure leaves out the edges. */
function extent(box, graph, routes) {
  const xs = routes.flatMap(({ points }) => points.map(({ x }) => x));
  const ys = routes.flatMap(({ points }) => points.map(({ y }) => y));
  for (const child of box.children) {
    const { x, y } = graph.node(child.key);
    xs.push(x - child.w / 2, x + child.w / 2);
    ys.push(y - child.h / 2, y + child.h / 2);
  }
  if (!xs.length) return { left: 0, right: 80, top: 0, bottom: 16 };
  const [least, most] = [(all) => Math.min(...all), (all) => Math.max(...all)];
  return { left: least(xs), right: most(xs), top: least(ys), bottom: most(ys) };
}

/** Where every seen box is on the sheet. */
function fix(box, x = 0, y = 0) {
  [box.ax, box.ay] = [x, y];
  if (!box.open) return;
  for (const child of box.children) fix(child, x + child.x, y + child.y);
}
