// The boxes: tasks, devices in them, name scopes in those, ops at the leaves.
"use strict";

const MOST_CHILDREN = 48; // a box with more has them in numbered lots
const LEAST_SERIES = 6; // siblings whose names differ in a number only
// How many boxes may be seen at first, by the kind of what is opened.
const FIRST_BOXES = { task: 64, device: 48, lot: 12, scope: 12 };

class Box {
  constructor(kind, key, label, children, op = null) {
    this.kind = kind; // root, task, device, scope, lot or op
    this.key = key;
    this.label = label;
    this.children = children;
    this.op = op;
    this.ops = op ? [op] : children.flatMap((child) => child.ops);
    this.parent = null;
    this.depth = 0;
    this.open = false;
    this.stale = true; // its layout is not that of what is open
    this.links = new Map(); // edges between its children, for the layout
    this.routes = [];
    for (const child of children) child.parent = this;
  }

  /** When the ops inside run, in order. */
  get times() {
    this.sorted ??= this.ops.map((op) => op.runs).sort((a, b) => a - b);
    return this.sorted;
  }

  /** How many of the ops inside have run after so many events. */
  ranAt(position) {
    let [low, high] = [0, this.times.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle] <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** [[role, number of ops]] */
  roles(order) {
    const found = new Map(order.map((role) => [role, 0]));
    for (const op of this.ops) found.set(op.role, found.get(op.role) + 1);
    return [...found].filter(([, number]) => number);
  }

  setOpen(open) {
    if (this.open === open || this.op) return;
    this.open = open;
    for (let box = this; box; box = box.parent) box.stale = true;
  }
}

/** All boxes of a step, for those ops that `wanted` accepts. */
class Tree {
  constructor(model, wanted, openKeys = null) {
    this.leaves = new Map(); // op -> box
    this.devices = new Map(); // number of a device -> box
    const tasks = new Map();
    model.devices.forEach((device, i) => {
      const ops = model.ops.filter((op) => op.device === i && wanted(op));
      const box = new Box("device", device.name, device.unit, this.scopes(ops, "", device.name));
      this.devices.set(i, box);
      tasks.set(device.task, [...(tasks.get(device.task) ?? []), box]);
    });
    const boxes = [...tasks]
      .sort(([a], [b]) => byNumber(a, b))
      .map(([name, devices]) => new Box("task", `task ${name}`, name, devices));
    this.root = new Box("root", "", "", inLots(boxes, "root"));
    this.root.open = true;
    this.byKey = new Map();
    this.number(this.root, 0);
    this.link(model);
    if (openKeys) this.reopen(openKeys);
    else this.openFirst();
  }

  /** Ops by the next part of their names; a scope with one op in it is that op. */
  scopes(ops, prefix, device) {
    const groups = new Map();
    for (const op of ops) {
      const name = op.name.slice(prefix.length).split("/", 1)[0];
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(op);
    }
    const boxes = [...groups].map(([name, members]) => {
      if (members.length === 1) return this.leaf(members[0], prefix);
      return this.scope(members, prefix + name, name, device);
    });
    return inLots(
      boxes.sort((a, b) => a.times[0] - b.times[0]),
      `${device} ${prefix}`,
    );
  }

  leaf(op, prefix) {
    const box = new Box("op", `op ${op.name}`, op.name.slice(prefix.length), [], op);
    this.leaves.set(op, box);
    return box;
  }

  scope(members, path, label, device) {
    const own = members.filter((op) => op.name === path).map((op) => this.leaf(op, parentOf(path)));
    const inner = this.scopes(
      members.filter((op) => op.name !== path),
      `${path}/`,
      device,
    );
    const [only] = inner;
    if (!own.length && inner.length === 1 && only.kind === "scope") {
      only.label = `${label}/${only.label}`;
      return only;
    }
    return new Box("scope", `${device} ${path}`, label, [...own, ...inner]);
  }

  number(box, depth) {
    box.depth = depth;
    this.byKey.set(box.key, box);
    for (const child of box.children) this.number(child, depth + 1);
  }

  /** Tells the lowest common parent of each edge's ends which of its children the edge joins. */
  link(model) {
    for (const [op, box] of this.leaves) {
      for (const user of op.users) {
        const other = this.leaves.get(user.op);
        if (other && user.op.device === op.device) join(box, other, user.slot < 0);
      }
    }
    for (const t of model.transfers) {
      join(this.source(t), this.target(t), t.kind === "control");
    }
  }

  /** Where a transfer starts: its op, or its device where the op is not shown. */
  source(transfer) {
    return this.leaves.get(transfer.maker) ?? this.devices.get(transfer.src);
  }

  target(transfer) {
    const user = transfer.users.find((op) => this.leaves.has(op));
    return this.leaves.get(user) ?? this.devices.get(transfer.dst);
  }

  /** Opens boxes level by level as long as not too many are seen. */
  openFirst() {
    let seen = this.root.children.length;
    const waiting = [...this.root.children];
    while (waiting.length) {
      const box = waiting.shift();
      const more = box.children.length - 1;
      if (box.op || seen + more > FIRST_BOXES[box.kind]) continue;
      box.setOpen(true);
      seen += more;
      waiting.push(...box.children);
    }
  }

  reopen(keys) {
    for (const key of keys) this.byKey.get(key)?.setOpen(true);
  }

  openKeys() {
    return [...this.byKey.values()].filter((box) => box.open).map((box) => box.key);
  }

  setAll(open) {
    for (const box of this.byKey.values()) {
      if (box !== this.root) box.setOpen(open);
    }
  }
}

function parentOf(path) {
  return path.slice(0, path.lastIndexOf("/") + 1);
}

function join(a, b, control) {
  while (a.parent !== b.parent) {
    const deeper = a.depth - b.depth;
    if (deeper >= 0) a = a.parent;
    if (deeper <= 0) b = b.parent;
  }
  if (a === b) return;
  const key = `${a.key}\n${b.key}`;
  const link = a.parent.links.get(key) ?? { a, b, control: true };
  link.control &&= control;
  a.parent.links.set(key, link);
}

/** The nearest box that is seen: the outermost closed one around it, or itself. */
function seenOf(box) {
  let seen = box;
  for (let outer = box.parent; outer; outer = outer.parent) {
    if (!outer.open) seen = outer;
  }
  return seen;
}

/** The children of a box; long series such as layer0 to layer99, and then all, in lots. */
function inLots(boxes, key) {
  if (boxes.length <= MOST_CHILDREN) return boxes;
  const series = new Map();
  for (const box of boxes) {
    const pattern = box.label.replace(/\d+/g, "#");
    series.set(pattern, [...(series.get(pattern) ?? []), box]);
  }
  const fewer = [...series.values()].flatMap((members) =>
    members.length < LEAST_SERIES ? members : lots(members, key),
  );
  return fewer.length <= MOST_CHILDREN ? fewer : inLots(lots(fewer, key), `${key}+`);
}

function lots(boxes, key) {
  const each = Math.min(MOST_CHILDREN, Math.ceil(Math.sqrt(boxes.length)));
  const made = [];
  for (let i = 0; i < boxes.length; i += each) {
    const members = boxes.slice(i, i + each);
    if (members.length === 1) made.push(members[0]);
    else made.push(new Box("lot", `${key} ${i} ${members[0].label}`, lotLabel(members), members));
  }
  return made;
}

function lotLabel(members) {
  const names = members
    .flatMap((box) => box.label.split(" … "))
    .map((name) => name.split("/", 1)[0]);
  return `${names[0]} … ${names[names.length - 1]}`;
}
