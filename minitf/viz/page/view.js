// The graph on its canvas: pointers, wheel and keys; what lies under a point.
"use strict";

const REACH = 7; // pixels beside an arrow that still count as on it
const STEP = 60; // pixels of one key press when the sheet is moved

class View {
  constructor(canvas, app) {
    this.canvas = canvas;
    this.app = app;
    this.camera = new Camera();
    this.pointers = new Map();
    this.waiting = false;
    new ResizeObserver(() => this.resize()).observe(canvas);
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.drag(event));
    canvas.addEventListener("pointerup", (event) => this.lift(event));
    canvas.addEventListener("pointercancel", (event) => this.pointers.delete(event.pointerId));
    canvas.addEventListener("dblclick", (event) => this.toggleAt(event));
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  /** Gives the canvas as many pixels as the screen has there. */
  resize() {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth, clientHeight } = this.canvas;
    if (!clientWidth || !clientHeight) return;
    const first = !this.fitted;
    this.canvas.width = Math.round(clientWidth * ratio);
    this.canvas.height = Math.round(clientHeight * ratio);
    this.fitted = true;
    if (first) this.app.shown();
    this.draw();
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  /** Draws, unless a layout is under way: half of one is not shown. */
  draw() {
    if (this.fitted && !this.app.busy) this.app.painter.draw(this.app.scene, this.camera);
  }

  fit() {
    this.fitted = this.canvas.clientWidth > 0;
    if (!this.fitted) return; // it is fitted when it is shown
    this.camera.fit(this.app.scene.tree.root, this.canvas);
    this.redraw();
  }

  /** Moves as little as needed for a box to be seen and read. */
  show(box) {
    if (this.camera.shows(box, this.canvas)) return;
    this.camera.scale = Math.max(this.camera.scale, 0.8);
    this.camera.center(box, this.canvas);
    this.redraw();
  }

  zoom(factor) {
    this.camera.zoom(factor, this.canvas.clientWidth / 2, this.canvas.clientHeight / 2);
    this.redraw();
  }

  // ---- what is where

  point(event) {
    const { left, top } = this.canvas.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  }

  /** The arrow or the innermost box under a point of the canvas; null for the bare sheet. */
  at({ x, y }) {
    const p = this.camera.onSheet(x, y);
    const arrow = this.arrowAt(p);
    return arrow ?? boxAt(this.app.scene.tree.root, p);
  }

  arrowAt(p) {
    const reach = REACH / this.camera.scale;
    let best = null;
    for (const arrow of this.app.scene.arrows) {
      const { tag } = arrow;
      if (Math.abs(tag.x - p.x) < 34 && Math.abs(tag.y - p.y) < 10) return arrow;
      for (let i = 0; i <= 40 && !best; i += 1) {
        const q = pointOn(arrow.curve, i / 40);
        if (Math.hypot(q.x - p.x, q.y - p.y) < reach) best = arrow;
      }
    }
    const box = boxAt(this.app.scene.tree.root, p);
    return box?.op || (box && !box.open) ? null : best;
  }

  // ---- pointers

  wheel(event) {
    event.preventDefault();
    const { x, y } = this.point(event);
    if (event.ctrlKey || event.metaKey) this.camera.zoom(Math.exp(-event.deltaY / 200), x, y);
    else if (event.shiftKey) this.camera.move(-event.deltaY, 0);
    else this.camera.move(-event.deltaX, -event.deltaY);
    this.redraw();
  }

  press(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, this.point(event));
    this.moved = this.pointers.size > 1;
  }

  drag(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      const thing = this.at(this.point(event));
      this.canvas.style.cursor = thing ? "pointer" : "grab";
      return;
    }
    const now = this.point(event);
    if (!this.moved && Math.hypot(now.x - before.x, now.y - before.y) < 4) return;
    this.moved = true;
    this.canvas.style.cursor = "grabbing";
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const factor = distance(now, other) / (distance(before, other) || 1);
      this.camera.zoom(factor, (now.x + other.x) / 2, (now.y + other.y) / 2);
    }
    const share = other ? 2 : 1;
    this.camera.move((now.x - before.x) / share, (now.y - before.y) / share);
    this.pointers.set(event.pointerId, now);
    this.redraw();
  }

  lift(event) {
    if (!this.pointers.delete(event.pointerId) || this.moved || this.app.busy) return;
    const point = this.point(event);
    const thing = this.at(point);
    if (thing instanceof Box && this.onChevron(thing, point)) this.app.toggle(thing);
    else this.app.select(thing);
  }

  onChevron(box, { x, y }) {
    const p = this.camera.onSheet(x, y);
    const height = box.open ? HEAD : box.h;
    return !box.op && p.x < box.ax + 26 && p.y < box.ay + height;
  }

  toggleAt(event) {
    if (this.app.busy) return;
    const thing = this.at(this.point(event));
    if (thing instanceof Box && !thing.op) this.app.toggle(thing);
  }

  // ---- keys: those of a tree, with the sheet moved by Shift and an arrow

  key(event) {
    const act = event.shiftKey ? this.moves()[event.key] : this.keys()[event.key];
    if (!act || this.app.busy || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    act();
  }

  moves() {
    const move = (dx, dy) => () => {
      this.camera.move(dx * STEP, dy * STEP);
      this.redraw();
    };
    return {
      ArrowUp: move(0, 1),
      ArrowDown: move(0, -1),
      ArrowLeft: move(1, 0),
      ArrowRight: move(-1, 0),
      "+": () => this.zoom(1.25),
    };
  }

  keys() {
    const box = this.app.scene.selected?.box;
    const { root } = this.app.scene.tree;
    const go = (other) => other && this.app.select(other);
    const flip = () => box && (box.op ? this.app.toPanel() : this.app.toggle(box));
    return {
      ArrowDown: () => go(box ? beside(box, 1) : root.children[0]),
      ArrowUp: () => go(box ? beside(box, -1) : root.children[0]),
      ArrowRight: () => (box && !box.op && !box.open ? this.app.toggle(box) : go(box?.children[0])),
      ArrowLeft: () => (box?.open ? this.app.toggle(box) : go(outerOf(box))),
      Enter: flip,
      " ": flip,
      Escape: () => this.app.select(null),
      "+": () => this.zoom(1.25),
      "=": () => this.zoom(1.25),
      "-": () => this.zoom(0.8),
      0: () => this.fit(),
    };
  }
}

function distance(a, b) {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

function boxAt(box, p) {
  const found = box.children.find(
    ({ ax, ay, w, h }) => p.x >= ax && p.y >= ay && p.x <= ax + w && p.y <= ay + h,
  );
  if (!found) return null;
  return (found.open && boxAt(found, p)) || found;
}

function beside(box, step) {
  const { children } = box.parent;
  return children[children.indexOf(box) + step];
}

function outerOf(box) {
  return box && box.parent.kind !== "root" ? box.parent : null;
}
