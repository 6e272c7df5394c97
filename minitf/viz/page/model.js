// What the page shows: ops, transfers and the events of a step, from the JSON block.
"use strict";

class Model {
  constructor(data) {
    this.title = data.title;
    this.roles = data.roles;
    this.minimize = data.minimize;
    this.live = data.live ?? null; // the number of this page at the server that is to be asked
    this.devices = data.devices;
    this.lines = new Map(Object.entries(data.lines));
    this.ops = this.readOps(data.ops, data.strings);
    this.transfers = data.transfers.map((t, number) => ({ ...t, number, sent: 0, taken: 0 }));
    this.events = Array.from(data.events.what, (what, i) => ({
      what,
      which: data.events.which[i],
    }));
    this.connect();
    this.time();
  }

  readOps(columns, strings) {
    const texts = (ids) => ids.map((id) => strings[id]);
    return columns.name.map((name, index) => ({
      index,
      name,
      type: strings[columns.op[index]],
      device: columns.device[index],
      role: this.roles[columns.role[index]],
      source: strings[columns.source[index]],
      why: texts(columns.why[index]),
      inputs: columns.inputs[index],
      control: columns.control[index],
      outputs: texts(columns.outputs[index]),
      attrs: texts(columns.attrs[index]),
      users: [], // {op, slot}; slot -1 for one that only waits
      sends: [], // the transfers it makes
      takes: [], // the transfers it uses
    }));
  }

  /** Who uses what, seen from the maker. */
  connect() {
    for (const op of this.ops) {
      for (const input of op.inputs) {
        if (Array.isArray(input)) this.ops[input[0]].users.push({ op, slot: input[1] });
      }
      for (const maker of op.control) {
        if (typeof maker === "number") this.ops[maker].users.push({ op, slot: -1 });
      }
    }
    for (const transfer of this.transfers) {
      const maker = this.ops[transfer.maker];
      transfer.maker = maker && maker.device === transfer.src ? maker : null;
      transfer.users = transfer.users.map((index) => this.ops[index]);
      if (transfer.maker) transfer.maker.sends.push(transfer);
      for (const user of transfer.users) user.takes.push(transfer);
    }
  }

  /** When each op runs, and when each transfer leaves and is taken in: 1 is the first event. */
  time() {
    this.events.forEach(({ what, which }, i) => {
      if (what === "o") this.ops[which].runs = i + 1;
      else if (what === "s") this.transfers[which].sent = i + 1;
      else this.transfers[which].taken = i + 1;
    });
  }

  device(index) {
    return this.devices[index];
  }

  /** "ps:0 → worker:0" */
  direction(transfer) {
    return `${this.device(transfer.src).short} → ${this.device(transfer.dst).short}`;
  }

  what(transfer) {
    return transfer.meaning + (transfer.of.length ? ` of ${transfer.of.join(", ")}` : "");
  }

  /** W/read float32[4x1] */
  tensor(transfer) {
    if (transfer.kind === "control") return transfer.tensor;
    const shape = transfer.shape === "scalar" ? "" : transfer.shape;
    return `${transfer.tensor} ${transfer.dtype}[${shape}]`;
  }

  /** An event as a sentence. */
  told({ what, which }) {
    if (what === "o") {
      const op = this.ops[which];
      return `${this.device(op.device).short} runs ${op.name}`;
    }
    const t = this.transfers[which];
    const [from, to] = [this.device(t.src).short, this.device(t.dst).short];
    return what === "s" ? `${from} sends ${t.tensor} to ${to}` : `${to} takes in ${t.tensor}`;
  }
}
