// Ties the parts together: what is selected, open, filtered and played.
"use strict";

const SLICE = 12; // milliseconds of layout before the page may breathe
const ALL_BOXES = 40000;

class App {
  constructor(model) {
    this.model = model;
    this.scene = { tree: null, arrows: [], selected: null, near: [], position: 0, event: null };
    this.canvas = byId("graph");
    this.painter = new Painter(this.canvas, model);
    this.view = new View(this.canvas, this);
    this.panel = new Panel(byId("panel"), this);
    this.table = new WireTable(byId("wire"), this);
    this.only = byId("only");
    this.build(null);
    this.player = new Player(this);
    this.search = new Search(this);
    this.bind();
    this.head();
    this.panel.show(null);
    this.live = new Live(this);
  }

  bind() {
    const onClick = (id, act) => byId(id).addEventListener("click", act);
    onClick("open-all", () => this.setAll(true));
    onClick("close-all", () => this.setAll(false));
    onClick("zoom-in", () => this.view.zoom(1.25));
    onClick("zoom-out", () => this.view.zoom(0.8));
    onClick("fit", () => this.view.fit());
    onClick("skip", () => this.showTab("graph"));
    onClick("theme", () => this.flipTheme());
    this.only.addEventListener("change", () => this.filter());
    for (const tab of document.querySelectorAll("[role=tab]")) {
      tab.addEventListener("click", () => this.showTab(tab.dataset.tab));
      tab.addEventListener("keydown", (event) => this.tabKey(event));
    }
    const system = matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", () => this.recolour());
    this.only.disabled = !this.model.minimize.landed.length;
    this.nameTheme();
  }

  head() {
    const { model } = this;
    const numbers = [
      count(model.ops.length, "op"),
      count(model.devices.length, "device"),
      count(model.transfers.length, "message"),
      model.transfers.length ? `${totalSize(model.transfers)} a step` : null,
    ];
    byId("numbers").textContent = numbers.filter(Boolean).join(" · ");
    const roles = this.scene.tree.root.roles(model.roles);
    const keys = roles.map(([role, number]) =>
      el(
        "li",
        {},
        el("span", { class: `dot ${role}` }),
        role,
        el("span", { class: "quiet" }, ` ${number.toLocaleString("en-US")}`),
      ),
    );
    byId("roles").prepend(...keys);
  }

  // ---- the tree and its layout

  /** The boxes of the ops that the filter leaves. */
  build(openKeys) {
    const made = new Set(this.model.minimize.roles);
    const wanted = this.only.checked ? (op) => made.has(op.role) : () => true;
    this.scene.tree = new Tree(this.model, wanted, openKeys);
  }

  /** Transfers that have to do with an op that is shown. */
  transfers() {
    const { leaves } = this.scene.tree;
    if (!this.only.checked) return this.model.transfers;
    return this.model.transfers.filter(
      (t) => leaves.has(t.maker) || t.users.some((op) => leaves.has(op)),
    );
  }

  /** Lays out what is open, a slice at a time, then draws it and calls `then`. */
  arrange(then = () => {}) {
    const { tree } = this.scene;
    const aspect = this.canvas.clientWidth / this.canvas.clientHeight || 1;
    const work = arrange(tree.root, (text) => this.painter.width(text), aspect);
    this.work = work;
    const start = performance.now();
    this.busy = true;
    this.canvas.setAttribute("aria-busy", "true");
    const slice = () => {
      if (this.work !== work) return;
      const end = performance.now() + SLICE;
      while (performance.now() < end) {
        if (!work.next().done) continue;
        this.arranged(tree);
        then();
        return;
      }
      if (performance.now() - start > 400) this.note("Laying out …");
      setTimeout(slice);
    };
    slice();
  }

  arranged(tree) {
    this.busy = false;
    this.canvas.removeAttribute("aria-busy");
    byId("note").hidden = true;
    fix(tree.root);
    this.scene.arrows = arrowsOf(tree, this.transfers());
    this.scene.near = this.nearby();
    this.view.redraw();
  }

  /** The canvas has its size for the first time. */
  shown() {
    this.scene.tree.root.stale = true;
    this.arrange(() => this.view.fit());
  }

  toggle(box) {
    const before = { x: box.ax, y: box.ay };
    box.setOpen(!box.open);
    this.scene.selected = { box };
    this.arrange(() => {
      const { camera } = this.view;
      camera.move((before.x - box.ax) * camera.scale, (before.y - box.ay) * camera.scale);
      this.select(box);
    });
  }

  setAll(open) {
    const { tree } = this.scene;
    if (open && tree.byKey.size > ALL_BOXES) this.say("Too many ops to open all at once", true);
    else tree.setAll(open);
    if (!open) for (const box of tree.root.children) box.setOpen(tree.root.children.length < 9);
    this.arrange(() => this.view.fit());
  }

  filter() {
    const keys = this.scene.tree.openKeys();
    const op = this.scene.selected?.box?.op;
    this.build(keys);
    this.scene.selected = null;
    this.arrange(() => {
      this.view.fit();
      this.select(this.scene.tree.leaves.get(op) ?? null);
      this.table.show();
      this.say(`${count(this.scene.tree.root.ops.length, "op")} shown`);
    });
  }

  // ---- the selection

  /** thing: a box, an arrow or {transfers}, or null. */
  select(thing) {
    this.scene.selected = thing instanceof Box ? { box: thing } : thing;
    this.scene.near = this.nearby();
    this.panel.show(this.scene.selected);
    this.table.mark();
    if (thing instanceof Box) this.view.show(seenOf(thing));
    this.view.redraw();
    this.say(this.describe(thing));
  }

  describe(thing) {
    if (!thing) return "nothing selected";
    if (thing.transfers) {
      const [first] = thing.transfers;
      const rest = thing.transfers.length > 1 ? ` and ${thing.transfers.length - 1} more` : "";
      return `transfer of ${first.tensor}${rest}, ${this.model.direction(first)}`;
    }
    if (thing.op) return `${thing.op.name}, ${thing.op.type}, ${thing.op.role}`;
    return `${thing.label}, ${count(thing.ops.length, "op")}, ${thing.open ? "open" : "closed"}`;
  }

  /** Lines to the inputs and outputs of the op that is selected. */
  nearby() {
    const op = this.scene.selected?.box?.op;
    const { leaves } = this.scene.tree;
    const own = leaves.get(op);
    if (!own || seenOf(own) !== own) return [];
    const lines = new Map();
    const add = (from, to, control) => {
      if (!from || !to) return;
      const [a, b] = [seenOf(from), seenOf(to)];
      if (a !== b) lines.set(`${a.key}\n${b.key}`, { from: a, to: b, control });
    };
    const box = (index) => leaves.get(this.model.ops[index]);
    for (const input of op.inputs) if (Array.isArray(input)) add(box(input[0]), own, false);
    for (const maker of op.control) if (typeof maker === "number") add(box(maker), own, true);
    for (const { op: user, slot } of op.users) add(own, leaves.get(user), slot < 0);
    return [...lines.values()];
  }

  /** Opens all that is around an op, goes there and selects it. */
  reveal(op) {
    if (!this.scene.tree.leaves.has(op)) {
      this.only.checked = false;
      this.filter();
    }
    this.revealBox(this.scene.tree.leaves.get(op));
  }

  revealBox(box) {
    this.showTab("graph");
    for (let outer = box.parent; outer; outer = outer.parent) outer.setOpen(true);
    this.arrange(() => this.select(box));
  }

  showTransfer(transfer) {
    this.select({ transfers: [transfer] });
    byId("panel").scrollIntoView({ block: "nearest" });
  }

  toPanel() {
    byId("panel").focus();
  }

  // ---- the step that is played

  at(position, event) {
    this.scene.position = position;
    this.scene.event = event;
    this.view.redraw();
  }

  // ---- tabs, theme, words

  showTab(name) {
    for (const tab of document.querySelectorAll("[role=tab]")) {
      const mine = tab.dataset.tab === name;
      tab.setAttribute("aria-selected", String(mine));
      tab.tabIndex = mine ? 0 : -1;
      byId(tab.getAttribute("aria-controls")).hidden = !mine;
    }
    if (name === "wire") this.table.show();
  }

  tabKey(event) {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    const tabs = [...document.querySelectorAll("[role=tab]:not([hidden])")];
    const step = event.key === "ArrowRight" ? 1 : tabs.length - 1;
    const other = tabs[(tabs.indexOf(event.currentTarget) + step) % tabs.length];
    this.showTab(other.dataset.tab);
    other.focus();
  }

  dark() {
    const { theme } = document.documentElement.dataset;
    return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }

  flipTheme() {
    document.documentElement.dataset.theme = this.dark() ? "light" : "dark";
    this.recolour();
  }

  recolour() {
    this.nameTheme();
    this.painter.takeColours();
    this.view.redraw();
  }

  nameTheme() {
    byId("theme").setAttribute("aria-label", `Switch to ${this.dark() ? "light" : "dark"} colours`);
  }

  /** Says something to those who hear the page; `aloud` also shows it. */
  say(text, aloud = false) {
    byId("said").textContent = text;
    if (aloud) this.note(text);
  }

  note(text) {
    const note = byId("note");
    note.textContent = text;
    note.hidden = false;
    clearTimeout(this.noteTimer);
    this.noteTimer = setTimeout(() => (note.hidden = true), 4000);
  }

  /** Where an op or group is in the window, for scripts; null while a closed group hides it. */
  where(key) {
    const box = this.scene.tree.byKey.get(key);
    if (!box || seenOf(box) !== box) return null;
    const { x, y, scale } = this.view.camera;
    const { left, top } = this.canvas.getBoundingClientRect();
    return {
      x: left + x + box.ax * scale,
      y: top + y + box.ay * scale,
      w: box.w * scale,
      h: box.h * scale,
    };
  }
}

window.page = new App(new Model(JSON.parse(byId("data").textContent)));
