// The wire as a table: sorted by any column, copied as tab-separated text.
"use strict";

const FIRST_ROWS = 500;
const FEW_NAMES = 3; // of a cell; those copied are all

class WireTable {
  constructor(element, app) {
    this.element = element;
    this.app = app;
    this.order = { column: 0, down: false };
    this.all = false;
    this.shown = new Map(); // transfer -> its row
    const { model } = app;
    const device = (i) => model.device(i).short;
    this.columns = [
      { name: "#", value: (t) => t.number + 1, right: true },
      { name: "From", value: (t) => device(t.src) },
      { name: "To", value: (t) => device(t.dst) },
      { name: "What", value: (t) => model.what(t) },
      { name: "Bytes", value: (t) => t.bytes, right: true },
      { name: "Tensor", value: (t) => t.tensor, wide: true, link: true },
      { name: "Type", value: (t) => (t.kind === "control" ? "" : t.dtype) },
      { name: "Shape", value: (t) => (t.kind === "control" ? "" : t.shape) },
      {
        name: "Used by",
        value: (t) => t.consumers.join(" "),
        names: (t) => t.consumers,
        wide: true,
      },
    ];
    if (model.live) this.columns.splice(5, 0, ...this.liveColumns());
  }

  /** Of a running cluster: `now` gives the text of a cell, each time that the numbers come. */
  liveColumns() {
    const flow = (t) => this.app.live?.flow(t) ?? null;
    const sum = (t) => t.live?.bytes ?? null;
    const told = (t) => (sum(t) === null ? "–" : sum(t).toLocaleString("en-US"));
    return [
      { name: "Bytes/s", value: flow, right: true, now: (t) => flowText(flow(t)) },
      { name: "So far", value: sum, right: true, now: told },
    ];
  }

  /** Sets the texts of the cells that change while the cluster runs. */
  refresh() {
    this.columns.forEach((column, i) => {
      if (!column.now) return;
      for (const [transfer, row] of this.shown) row.cells[i].textContent = column.now(transfer);
    });
  }

  /** The transfers that the filter leaves, in the order chosen. */
  rows() {
    const { value } = this.columns[this.order.column];
    const sign = this.order.down ? -1 : 1;
    return [...this.app.transfers()].sort((a, b) => sign * compare(value(a), value(b)));
  }

  show() {
    const rows = this.rows();
    this.shown.clear();
    const shown = this.all ? rows : rows.slice(0, FIRST_ROWS);
    if (!rows.length) {
      const none = this.app.model.transfers.length
        ? "No transfer has to do with what minimize() made."
        : "No transfers: one device runs the whole step.";
      this.element.replaceChildren(el("p", { class: "empty" }, none));
      return;
    }
    this.element.replaceChildren(
      this.bar(rows),
      el(
        "div",
        { class: "scroll", tabindex: "0", role: "region", "aria-label": "Transfers of one step" },
        el("table", {}, this.head(), el("tbody", {}, ...shown.map((t) => this.row(t)))),
      ),
      ...this.more(rows.length - shown.length),
    );
    this.mark();
  }

  bar(rows) {
    const copy = el("button", { id: "copy", click: () => this.copy(rows) }, "Copy as TSV");
    const said = `${count(rows.length, "message")}, ${totalSize(rows)} a step`;
    return el("div", { class: "bar" }, el("p", {}, said), copy);
  }

  more(left) {
    const all = () => {
      this.all = true;
      this.show();
    };
    return left > 0
      ? [el("p", { class: "bar" }, el("button", { click: all }, `Show ${left} more`))]
      : [];
  }

  head() {
    const cells = this.columns.map((column, i) => {
      const mine = i === this.order.column;
      const sorted = mine ? (this.order.down ? "descending" : "ascending") : null;
      const sort = el("button", { click: () => this.sort(i) }, column.name);
      return el("th", { scope: "col", "aria-sort": sorted, class: column.right && "right" }, sort);
    });
    return el("thead", {}, el("tr", {}, ...cells));
  }

  row(transfer) {
    const cells = this.columns.map((column) => {
      if (column.now) return el("td", { class: "right" }, column.now(transfer));
      const value = column.value(transfer);
      const text =
        value === null ? "?" : typeof value === "number" ? value.toLocaleString("en-US") : value;
      const pick = () => this.app.showTransfer(transfer);
      const inner = column.link ? el("button", { class: "link", click: pick }, named(text)) : text;
      const kind = column.wide ? "wide" : column.right && "right";
      const content = column.names ? this.few(column.names(transfer)) : [inner];
      return el("td", { class: kind }, ...content);
    });
    const row = el("tr", { class: transfer.kind === "control" && "control" }, ...cells);
    this.shown.set(transfer, row);
    return row;
  }

  few(names) {
    const lines = names.slice(0, FEW_NAMES).map((name) => el("div", {}, named(name)));
    const left = names.length - lines.length;
    return left ? [...lines, el("div", { class: "quiet" }, `and ${left} more`)] : lines;
  }

  /** Marks the rows of the transfers that are selected. */
  mark() {
    const chosen = this.app.scene.selected?.transfers ?? [];
    for (const [transfer, row] of this.shown)
      row.classList.toggle("chosen", chosen.includes(transfer));
  }

  /** Sorts by a column; the other way round when it was that one already. */
  sort(column) {
    this.order = { column, down: this.order.column === column && !this.order.down };
    this.show();
    this.element.querySelectorAll("th button")[column].focus();
    const way = this.order.down ? "descending" : "ascending";
    this.app.say(`sorted by ${this.columns[column].name}, ${way}`);
  }

  text(rows) {
    const clean = (value) => String(value ?? "?").replace(/[\t\r\n]+/g, " ");
    const lines = rows.map((t) => this.columns.map((column) => clean(column.value(t))));
    return [this.columns.map((column) => column.name), ...lines]
      .map((line) => `${line.join("\t")}\n`)
      .join("");
  }

  async copy(rows) {
    try {
      await navigator.clipboard.writeText(this.text(rows));
      this.app.say(`${count(rows.length, "row")} copied`, true);
    } catch {
      getSelection().selectAllChildren(this.element.querySelector("table"));
      this.app.say("The browser refused; the table is selected, copy it with Ctrl+C", true);
    }
  }
}

/** Numbers by value, texts as people sort them; what is unknown comes last. */
function compare(a, b) {
  if (a === null || b === null) return (a === null) - (b === null);
  if (typeof a === "number") return a - b;
  return byNumber(a, b);
}
