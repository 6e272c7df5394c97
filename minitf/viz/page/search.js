// The search field and its list of names: a combobox.
"use strict";

const MOST_FOUND = 40;

class Search {
  constructor(app) {
    this.app = app;
    this.input = byId("search");
    this.list = byId("found");
    this.found = [];
    this.active = -1;
    this.input.addEventListener("input", () => this.look());
    this.input.addEventListener("focus", () => this.look());
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.input.addEventListener("blur", () => this.close());
    document.addEventListener("keydown", (event) => this.jump(event));
  }

  /** "/" goes to the search field from wherever no text is typed. */
  jump(event) {
    if (event.key !== "/" || event.target.matches?.("input[type=search]")) return;
    event.preventDefault();
    this.input.select();
  }

  look() {
    const words = this.input.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return this.close();
    const fits = ({ name, type }) => {
      const text = `${name} ${type}`.toLowerCase();
      return words.every((word) => text.includes(word));
    };
    const all = [...this.app.scene.tree.leaves.keys()].filter(fits);
    all.sort((a, b) => a.name.length - b.name.length);
    this.found = all.slice(0, MOST_FOUND);
    this.active = this.found.length ? 0 : -1;
    this.show(all.length);
  }

  show(number) {
    const options = this.found.map((op, i) => this.option(op, i));
    if (number > this.found.length) options.push(this.note(`${number - this.found.length} more`));
    if (!number) options.push(this.note("no op has such a name"));
    this.list.replaceChildren(...options);
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    this.mark();
    this.app.say(count(number, "op") + " found");
  }

  option(op, i) {
    const device = this.app.model.device(op.device).short;
    // pointerdown, not click: it comes before the field loses the focus
    const take = (event) => {
      event.preventDefault();
      this.choose(i);
    };
    return el(
      "li",
      { role: "option", id: `found-${i}`, "aria-selected": "false", pointerdown: take },
      el("span", { class: `dot ${op.role}` }),
      el("span", { class: "name" }, op.name),
      el("span", { class: "quiet" }, `${op.type} · ${device}`),
    );
  }

  note(text) {
    return el("li", { class: "quiet note", role: "option", "aria-disabled": "true" }, text);
  }

  mark() {
    this.list.querySelectorAll("[id]").forEach((option, i) => {
      option.setAttribute("aria-selected", String(i === this.active));
      if (i === this.active) option.scrollIntoView({ block: "nearest" });
    });
    if (this.active < 0) this.input.removeAttribute("aria-activedescendant");
    else this.input.setAttribute("aria-activedescendant", `found-${this.active}`);
  }

  key(event) {
    const last = this.found.length - 1;
    const act = {
      ArrowDown: () => (this.active = Math.min(this.active + 1, last)),
      ArrowUp: () => (this.active = Math.max(this.active - 1, Math.min(0, last))),
      Enter: () => this.choose(this.active),
      Escape: () => this.close(),
    }[event.key];
    if (!act || this.list.hidden) return;
    event.preventDefault();
    act();
    if (!this.list.hidden) this.mark();
  }

  choose(i) {
    const op = this.found[i];
    if (!op) return;
    this.close();
    this.app.reveal(op);
    byId("graph").focus({ preventScroll: true });
  }

  close() {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }
}
