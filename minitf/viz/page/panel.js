// The panel at the side: all that is known of what is selected.
"use strict";

const MOST_ROWS = 60; // of a list in the panel
const FEW_ROWS = 6;

class Panel {
  constructor(element, app) {
    this.element = element;
    this.app = app;
  }

  show(selected) {
    this.element.replaceChildren(...this.parts(selected));
    this.element.scrollTop = 0;
  }

  parts(selected) {
    if (!selected) return this.step();
    if (selected.transfers) return this.transfers(selected.transfers);
    return selected.box.op ? this.op(selected.box.op) : this.box(selected.box);
  }

  // ---- nothing selected: the whole step

  step() {
    const { model } = this.app;
    const landed = model.minimize.landed.map((row) => this.landing(row));
    return [
      el("h2", {}, "One step"),
      model.transfers.length
        ? el("p", {}, `${count(model.transfers.length, "message")}, ${totalSize(model.transfers)}`)
        : el("p", { class: "quiet" }, "No transfers: one device runs the whole step."),
      this.section("Where minimize() landed", landed.length ? el("ul", {}, ...landed) : null) ??
        el("p", { class: "quiet" }, "No optimizer in this step."),
      this.section("On each device", this.deviceList()),
      el("p", { class: "quiet" }, "Select an op, a group or an arrow to see more of it."),
    ];
  }

  /** What one optimizer call put on one device. */
  landing({ optimizer, device, part, ops, variables }) {
    const { model } = this.app;
    const here = this.link(model.device(device).short, this.app.scene.tree.devices.get(device));
    if (part === "computes") {
      return el("li", {}, here, ` computes the gradients of ${optimizer}, in ${count(ops, "op")}`);
    }
    const changed = variables.map((index) => el("li", {}, this.opLink(model.ops[index])));
    return el("li", {}, here, ` applies them: it updates`, this.list(changed, "nothing", FEW_ROWS));
  }

  deviceList() {
    const boxes = [...this.app.scene.tree.devices].map(([i, box]) => [
      this.app.model.device(i).short,
      box,
    ]);
    boxes.sort(([a], [b]) => byNumber(a, b));
    const line = ([name, box]) =>
      el("li", {}, this.link(name, box), ` ${count(box.ops.length, "op")}`);
    return this.list(boxes.map(line));
  }

  // ---- an op

  op(op) {
    const { model } = this.app;
    return [
      this.title(op.name),
      el("p", { class: "tags" }, this.role(op.role), el("code", {}, op.type), this.runs(op)),
      this.facts([
        ["Device", model.device(op.device).name],
        ["Made at", op.source || "an unknown line"],
      ]),
      model.lines.has(op.source) ? el("pre", { class: "line" }, model.lines.get(op.source)) : null,
      this.section("Why it is there", this.reasons(op.why, "Nothing constrains it.")),
      this.section("Inputs", this.inputs(op)),
      this.section("Outputs", this.outputs(op)),
      this.section("Attributes", op.attrs.length ? this.codes(op.attrs) : null),
    ].filter(Boolean);
  }

  runs(op) {
    return el("span", { class: "quiet" }, `event ${op.runs} of ${this.app.model.events.length}`);
  }

  reasons(why, none) {
    if (!why.length) return el("p", { class: "quiet" }, none);
    return el("ol", { class: "why" }, ...why.map((reason) => el("li", {}, reason)));
  }

  inputs(op) {
    const { ops } = this.app.model;
    const rows = op.inputs.map((input) => {
      if (typeof input === "string") return el("li", {}, el("code", {}, input), " (fed)");
      const [maker, slot] = [ops[input[0]], input[1]];
      return this.end(maker, maker.outputs[slot], this.carrier(op, maker, slot));
    });
    for (const maker of op.control) {
      if (typeof maker === "string") rows.push(el("li", {}, `waits for ${maker}`));
      else rows.push(this.end(ops[maker], "control", this.carrier(op, ops[maker], -1)));
    }
    return this.list(rows, "It takes nothing.");
  }

  outputs(op) {
    const types = op.outputs.length ? this.codes(op.outputs) : null;
    const rows = op.users.map(({ op: user, slot }) =>
      this.end(user, slot < 0 ? "waits" : "takes it", this.carrier(user, op, slot)),
    );
    return el("div", {}, types, this.list(rows, "No op of this step takes it."));
  }

  /** The transfer that brings an op what another made, if they are on two devices. */
  carrier(user, maker, slot) {
    const kind = slot < 0 ? "control" : "data";
    const name = slot > 0 ? `${maker.name}:${slot}` : maker.name;
    return maker.sends.find((t) => t.kind === kind && t.tensor === name && t.dst === user.device);
  }

  /** A line for an op at the other end of an edge. */
  end(op, note, transfer) {
    const parts = [this.opLink(op), el("span", { class: "quiet" }, ` ${note}`)];
    if (transfer) parts.push(" ", this.transferLink(transfer, size(transfer.bytes)));
    return el("li", {}, ...parts);
  }

  // ---- a group of ops

  box(box) {
    const { model } = this.app;
    const inside = new Set(box.ops);
    const kind = { task: "Task", device: "Device", scope: "Name scope", lot: "Name scopes" }[
      box.kind
    ];
    const leaving = box.ops.flatMap((op) => op.sends);
    const coming = [...new Set(box.ops.flatMap((op) => op.takes))];
    const roles = box.roles(model.roles);
    return [
      this.title(box.label),
      el("p", { class: "quiet" }, `${kind} with ${count(inside.size, "op")}`),
      el("p", {}, el("button", { click: () => this.app.toggle(box) }, box.open ? "Close" : "Open")),
      roles.length
        ? this.section("What they are for", ...roles.map((row) => this.roleLine(row)))
        : el("p", { class: "quiet" }, "No op of this step is here."),
      this.section("Sends", this.transferList(leaving, "Nothing.")),
      this.section("Receives", this.transferList(coming, "Nothing.")),
    ];
  }

  roleLine([role, number]) {
    return el("p", { class: "tags" }, this.role(role), count(number, "op"));
  }

  transferList(transfers, none) {
    const rows = transfers.map((t) =>
      el("li", {}, this.transferLink(t, t.tensor), el("span", { class: "quiet" }, this.brief(t))),
    );
    return this.list(rows, none);
  }

  brief(t) {
    return ` ${this.app.model.direction(t)}, ${t.kind === "control" ? "control" : size(t.bytes)}`;
  }

  // ---- transfers

  transfers(transfers) {
    if (transfers.length === 1) return this.transfer(transfers[0]);
    return [
      this.title(count(transfers.length, "transfer")),
      el("p", {}, `${this.app.model.direction(transfers[0])}, ${totalSize(transfers)}`),
      this.transferList(transfers, ""),
    ];
  }

  transfer(t) {
    const { model } = this.app;
    return [
      this.title(t.tensor),
      el("p", { class: "quiet" }, `Transfer ${t.number + 1} of ${model.transfers.length}`),
      this.facts([
        ["From", model.device(t.src).short],
        ["To", model.device(t.dst).short],
        ["What", model.what(t)],
        ["Bytes", t.bytes === null ? "? (the feeds decide)" : t.bytes.toLocaleString("en-US")],
        ...this.liveFacts(t),
        [
          "Type",
          t.kind === "control" ? "control, nothing inside" : model.tensor(t).split(" ").pop(),
        ],
      ]),
      this.section("Why it crosses", this.reasons(t.why, "No reason was recorded.")),
      this.section("Made by", t.maker ? this.list([el("li", {}, this.opLink(t.maker))]) : null),
      this.section(
        "Used by",
        this.list(
          t.users.map((op) => el("li", {}, this.opLink(op))),
          "The runtime itself.",
        ),
      ),
    ].filter(Boolean);
  }

  /** What a running cluster had counted of a transfer when it was selected. */
  liveFacts(t) {
    if (!t.live) return [];
    return [
      ["So far", t.live.bytes.toLocaleString("en-US")],
      ["Waited", `${timeText(t.live.waited)} in all`],
    ];
  }

  // ---- parts

  title(text) {
    return el("h2", {}, named(text));
  }

  section(title, ...content) {
    if (!content.some(Boolean)) return null;
    return el("section", {}, el("h3", {}, title), ...content);
  }

  facts(rows) {
    return el(
      "dl",
      {},
      ...rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, named(value))]),
    );
  }

  role(role) {
    return el("span", { class: `role ${role}` }, role);
  }

  codes(texts) {
    return el("ul", { class: "codes" }, ...texts.map((text) => el("li", {}, el("code", {}, text))));
  }

  list(rows, none, most = MOST_ROWS) {
    if (!rows.length) return el("p", { class: "quiet" }, none);
    const shown = el("ul", { class: "ends" }, ...rows.slice(0, most));
    const rest = rows.slice(most);
    if (!rest.length) return shown;
    const more = el("button", { click: () => more.replaceWith(...rest) }, `${rest.length} more`);
    shown.append(more);
    return shown;
  }

  opLink(op) {
    return el("button", { class: "link", click: () => this.app.reveal(op) }, named(op.name));
  }

  transferLink(transfer, text) {
    const pick = () => this.app.select({ transfers: [transfer] });
    return el("button", { class: "link wire", click: pick }, named(text));
  }

  link(text, box) {
    return el("button", { class: "link", click: () => this.app.revealBox(box) }, text);
  }
}
