// Draws the boxes and arrows on a canvas: only what is in sight, and small things without detail.
"use strict";

const FAMILY = 'ui-sans-serif, system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
const VISIBLE_LINES = 0.08; // the scale below which edges inside the devices are left out
const LEGIBLE = 0.5; // the scale of words below which they are left out
const COLOURS = ["sheet", "task", "device", "scope", "closed", "line", "ink", "quiet", "accent"];
COLOURS.push("wire", "control", "label", "edge");

class Painter {
  constructor(canvas, model) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.model = model;
    this.widths = new Map(); // text -> its width
    this.cuts = new Map(); // text and room -> what fits
    this.takeColours();
  }

  /** The colours of the theme, from the style sheet. */
  takeColours() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(`--${name}`).trim();
    this.colour = Object.fromEntries(COLOURS.map((name) => [name, of(name)]));
    this.fill = Object.fromEntries(this.model.roles.map((role) => [role, of(`${role}-fill`)]));
    this.strong = Object.fromEntries(this.model.roles.map((role) => [role, of(role)]));
  }

  width(text) {
    if (!this.widths.has(text)) {
      this.context.font = `12px ${FAMILY}`;
      this.widths.set(text, this.context.measureText(text).width);
    }
    return this.widths.get(text);
  }

  /** Everything, as `camera` sees it. scene: tree, arrows, selected, near, position. */
  draw(scene, camera) {
    const { context: c, canvas } = this;
    const ratio = canvas.width / canvas.clientWidth;
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.fillStyle = this.colour.sheet;
    c.fillRect(0, 0, canvas.width, canvas.height);
    const k = camera.scale * ratio;
    c.setTransform(k, 0, 0, k, camera.x * ratio, camera.y * ratio);
    this.scale = camera.scale;
    this.sight = camera.sight(canvas);
    this.scene = scene;
    c.textBaseline = "middle";
    for (const child of scene.tree.root.children) this.box(child);
    for (const arrow of scene.arrows) this.arrow(arrow);
    this.nearby();
    for (const arrow of scene.arrows) this.tag(arrow);
    if (scene.selected?.box) this.ring(seenOf(scene.selected.box));
  }

  seen(box) {
    const s = this.sight;
    return (
      box.ax < s.right && box.ay < s.bottom && box.ax + box.w > s.left && box.ay + box.h > s.top
    );
  }

  box(box) {
    if (!this.seen(box)) return;
    if (box.op) this.op(box);
    else if (box.open && box.h * this.scale > 10) this.openBox(box);
    else this.closedBox(box);
  }

  rect(box, radius) {
    const c = this.context;
    c.beginPath();
    if (box.h * this.scale < 8) c.rect(box.ax, box.ay, box.w, box.h);
    else c.roundRect(box.ax, box.ay, box.w, box.h, radius);
  }

  op(box) {
    const c = this.context;
    c.globalAlpha = box.op.runs > this.scene.position ? 0.28 : 1;
    const small = box.h * this.scale < 8;
    c.fillStyle = (small ? this.strong : this.fill)[box.op.role];
    if (small) {
      c.fillRect(box.ax, box.ay, box.w, box.h);
    } else {
      this.rect(box, 5);
      c.fill();
      c.fillStyle = this.strong[box.op.role];
      c.fillRect(box.ax, box.ay + 4, 4, box.h - 8);
      this.text(box.label, box.ax + 13, box.ay + box.h / 2, box.w - 20);
    }
    c.globalAlpha = 1;
    if (this.scene.event && box.op.runs === this.scene.position) this.current(box);
  }

  closedBox(box) {
    const c = this.context;
    const ran = box.ranAt(this.scene.position) / (box.ops.length || 1);
    this.rect(box, 7);
    c.fillStyle = this.colour.closed;
    c.fill();
    c.strokeStyle = this.colour.line;
    c.lineWidth = 1;
    c.stroke();
    if (box.h * this.scale < 10) return;
    const middle = box.ay + box.h / 2 - 3;
    this.chevron(box.ax + 14, middle, false);
    const number = this.grown(2) > 1.2 ? "" : count(box.ops.length, "op");
    const room = box.w - (number ? this.width(number) + CLOSED_ROOM - 10 : 36);
    this.text(box.label, box.ax + 26, middle, room, { bold: true, most: 2 });
    const right = box.ax + box.w - 12 - this.width(number) * this.grown(1.2);
    this.text(number, right, middle, 200, { colour: this.colour.quiet, most: 1.2 });
    this.shares(box, 0.3, 1);
    this.shares(box, 1, ran);
    if (this.scene.event && box.times.includes(this.scene.position)) this.current(box);
  }

  /** The roles of the ops inside, as parts of a bar: the share of it that has run is strong. */
  shares(box, alpha, share) {
    const c = this.context;
    const [width, y] = [box.w - 16, box.ay + box.h - 9];
    let x = box.ax + 8;
    c.save();
    c.beginPath();
    c.rect(x, y, width * share, 4);
    c.clip();
    c.globalAlpha = alpha;
    for (const [role, number] of box.roles(this.model.roles)) {
      const part = (width * number) / box.ops.length;
      c.fillStyle = this.strong[role];
      c.fillRect(x, y, Math.max(part - 1, 1), 4);
      x += part;
    }
    c.restore();
  }

  openBox(box) {
    const c = this.context;
    this.rect(box, box.kind === "task" ? 12 : 8);
    c.fillStyle = this.colour[box.kind] ?? this.colour.scope;
    c.fill();
    c.strokeStyle = this.colour.line;
    c.lineWidth = box.kind === "task" ? 1.5 : 1;
    c.stroke();
    if (this.scale > 0.15) {
      const bold = box.kind === "task" || box.kind === "device";
      const colour = box.kind === "device" ? this.colour.quiet : this.colour.ink;
      this.chevron(box.ax + 14, box.ay + HEAD / 2, true);
      const style = { colour, bold, most: 1.9 };
      this.text(box.label, box.ax + 26, box.ay + HEAD / 2, box.w - 36, style);
    }
    this.routes(box);
    for (const child of box.children) this.box(child);
  }

  chevron(x, y, open) {
    const c = this.context;
    c.strokeStyle = this.colour.quiet;
    c.lineWidth = 1.6;
    c.beginPath();
    if (open)
      [
        [-4, -2],
        [0, 2],
        [4, -2],
      ].forEach(([dx, dy]) => c.lineTo(x + dx, y + dy));
    else
      [
        [-2, -4],
        [2, 0],
        [-2, 4],
      ].forEach(([dx, dy]) => c.lineTo(x + dx, y + dy));
    c.stroke();
  }

  /** The edges among the children; not those between tasks or devices, which are transfers. */
  routes(box) {
    if (box.kind === "task" || this.scale < VISIBLE_LINES) return;
    for (const control of [false, true]) {
      const routes = box.routes.filter((route) => route.control === control);
      if (routes.length) this.lines(box, routes, control);
    }
  }

  lines(box, routes, control) {
    const c = this.context;
    c.strokeStyle = c.fillStyle = this.colour.edge;
    c.lineWidth = 1.1;
    c.setLineDash(control ? [3, 3] : []);
    c.beginPath();
    for (const { points } of routes) {
      c.moveTo(box.ax + points[0].x, box.ay + points[0].y);
      for (let i = 1; i < points.length - 1; i += 1) {
        const [p, q] = [points[i], points[i + 1]];
        const last = i === points.length - 2;
        const to = last ? q : { x: (p.x + q.x) / 2, y: (p.y + q.y) / 2 };
        c.quadraticCurveTo(box.ax + p.x, box.ay + p.y, box.ax + to.x, box.ay + to.y);
      }
    }
    c.stroke();
    c.setLineDash([]);
    if (this.scale < 0.4) return;
    for (const { points } of routes) {
      const [p, q] = points.slice(-2);
      this.head(box.ax + q.x, box.ay + q.y, Math.atan2(q.y - p.y, q.x - p.x), 5);
    }
  }

  head(x, y, angle, length) {
    const c = this.context;
    c.beginPath();
    for (const turn of [0, 2.65, -2.65]) {
      const reach = turn ? length * 1.15 : 0;
      c.lineTo(x + reach * Math.cos(angle + turn), y + reach * Math.sin(angle + turn));
    }
    c.fill();
  }

  arrow(arrow) {
    const c = this.context;
    const { lit, alpha, colour } = this.look(arrow);
    c.globalAlpha = alpha;
    c.strokeStyle = c.fillStyle = colour;
    const grown = Math.max(1, 0.6 / this.scale); // so that it is seen from afar
    c.lineWidth = (lit ? 3 : 1.6) * grown;
    c.setLineDash(arrow.control ? [6 * grown, 4 * grown] : []);
    this.bezier(arrow.curve);
    c.setLineDash([]);
    const [, , p, q] = arrow.curve;
    this.head(q.x, q.y, Math.atan2(q.y - p.y, q.x - p.x), (lit ? 10 : 8) * grown);
    c.globalAlpha = 1;
  }

  /** How an arrow is drawn: lit while it is selected or under way, pale before it is sent. */
  look(arrow) {
    const { position, selected } = this.scene;
    const chosen =
      selected?.transfers && arrow.transfers.some((t) => selected.transfers.includes(t));
    const flies = arrow.transfers.some((t) => t.sent <= position && position < t.taken);
    const waits = arrow.transfers.every((t) => t.sent > position);
    const lit = chosen || flies;
    const colour = this.colour[lit ? "accent" : arrow.control ? "control" : "wire"];
    return { lit, colour, alpha: waits && !chosen ? 0.25 : 1 };
  }

  bezier([a, b, d, e]) {
    const c = this.context;
    c.beginPath();
    c.moveTo(a.x, a.y);
    c.bezierCurveTo(b.x, b.y, d.x, d.y, e.x, e.y);
    c.stroke();
  }

  /** The bytes of an arrow, with the sheet's colour behind. */
  tag({ label: text, tag: { x, y }, ...arrow }) {
    const c = this.context;
    const times = this.grown(1.5);
    if (times * this.scale < LEGIBLE) return;
    const { alpha, colour } = this.look(arrow);
    c.globalAlpha = alpha;
    const [width, height] = [(this.width(text) + 10) * times, 18 * times];
    c.fillStyle = this.colour.label;
    c.beginPath();
    c.roundRect(x - width / 2, y - height / 2, width, height, height / 2);
    c.fill();
    this.text(text, x - width / 2 + 5 * times, y + 0.5, width, { colour });
    c.globalAlpha = 1;
  }

  /** How much larger than usual words are drawn, so that they can be read from afar. */
  grown(most) {
    return clamp(0.62 / this.scale, 1, most);
  }

  /** Words in so much room, cut if need be. style: colour, bold, and how much they may grow. */
  text(text, x, y, room, { colour = this.colour.ink, bold = false, most = 1.5 } = {}) {
    const bolder = bold ? BOLDER : 1;
    const fits = Math.max(1, room / (this.width(text) * bolder));
    const times = Math.floor(this.grown(Math.min(most, fits)) * 20) / 20;
    if (times * this.scale < LEGIBLE * 0.9) return;
    const wider = times * bolder;
    const key = `${room.toFixed(0)} ${wider} ${text}`;
    if (!this.cuts.has(key)) {
      this.cuts.set(
        key,
        fitted(text, room, (part) => this.width(part) * wider),
      );
    }
    const c = this.context;
    c.font = `${bold ? "600 " : ""}${times * 12}px ${FAMILY}`;
    c.fillStyle = colour;
    c.fillText(this.cuts.get(key), x, y);
  }

  /** The inputs and outputs of the op that is selected, wherever they are. */
  nearby() {
    const c = this.context;
    c.strokeStyle = c.fillStyle = this.colour.accent;
    c.lineWidth = 2;
    for (const { from, to, control } of this.scene.near) {
      c.setLineDash(control ? [4, 3] : []);
      const line = curve(from, to);
      this.bezier(line);
      c.setLineDash([]);
      const [, , p, q] = line;
      this.head(q.x, q.y, Math.atan2(q.y - p.y, q.x - p.x), 8);
    }
  }

  ring(box) {
    const c = this.context;
    const gap = 3;
    c.beginPath();
    c.roundRect(box.ax - gap, box.ay - gap, box.w + 2 * gap, box.h + 2 * gap, 8);
    c.strokeStyle = this.colour.accent;
    c.lineWidth = Math.max(2.5, 2 / this.scale);
    c.stroke();
  }

  /** The op that runs now. */
  current(box) {
    const c = this.context;
    this.rect(box, 6);
    c.strokeStyle = this.colour.ink;
    c.lineWidth = Math.max(2, 1.5 / this.scale);
    c.stroke();
  }
}
