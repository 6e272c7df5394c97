// The numbers of a running cluster: asked of the page's own server, shown in a strip and a tab.
"use strict";

const EVERY = 1000; // milliseconds between two questions
const PATIENCE = 8000; // milliseconds that the page's server gets
const LONG = 2; // seconds from which on a wait is told of

// What the strip says of a cluster whose numbers are not those of this page.
const STATES = {
  up: ["Live", false],
  gone: ["The cluster does not answer", false],
  off: ["The server of this page does not answer", false],
  ended: ["The session of this page has ended", true],
  changed: ["The graph has changed", true],
  old: ["The cluster was read again since", true],
};

class Live {
  constructor(app) {
    this.app = app;
    this.page = app.model.live;
    this.rates = new Rates();
    this.state = null;
    this.rows = new Map(); // key -> cells of a row in the tab
    if (!this.page) return;
    byId("live").hidden = byId("tab-live").hidden = false;
    byId("reload").addEventListener("click", () => location.reload());
    this.ask();
  }

  async ask() {
    const token = new URLSearchParams(location.search).get("token") ?? "";
    const address = `/live?${new URLSearchParams({ token, page: this.page })}`;
    const options = { cache: "no-store", signal: AbortSignal.timeout(PATIENCE) };
    let found = { state: "off" };
    try {
      const answer = await fetch(address, options);
      if (answer.ok) found = await answer.json();
    } catch {
      // it has ended, or is stopped: `found` says so
    }
    setTimeout(() => this.ask(), EVERY);
    this.take(found);
  }

  take(found) {
    this.found = found;
    const running = Boolean(found.tasks) && found.state !== "gone";
    if (running) this.add(found);
    else this.rates.clear();
    this.tell(found.state);
    this.strip(running);
    if (running) this.tab();
    byId("view-live").classList.toggle("stale", !running);
    this.app.table.refresh();
  }

  /** The state in words; only a change of it is said aloud. */
  tell(state) {
    if (state === this.state) return;
    const [text, stale] = STATES[state];
    const since = state === "gone" || state === "off" ? `, since ${clock()}` : "";
    byId("live").dataset.state = state;
    byId("state").textContent = text + since;
    byId("reload").hidden = !stale;
    this.state = state;
  }

  // ---- sums

  add({ tasks, sessions, bytes, waited }) {
    const now = new Map();
    for (const task of tasks.filter(({ up }) => up)) {
      now.set(task.name, task.now);
      for (const sum of ["steps", "seconds", "waited"])
        this.rates.add(`${task.name} ${sum}`, task.now, task[sum]);
    }
    for (const session of sessions) {
      this.rates.add(`session ${session.id}`, now.get(session.task), session.steps);
      if (session.shown) this.mine = session;
    }
    const here = performance.now() / 1000;
    bytes.forEach((sum, i) => {
      const transfer = this.app.model.transfers[i];
      transfer.live = { bytes: sum, waited: waited[i] };
      this.rates.add(`bytes ${i}`, here, sum);
    });
    const all = bytes.reduce((sum, n) => sum + n, 0);
    if (bytes.length) this.rates.add("bytes", here, all);
  }

  /** Bytes a second of a transfer; null if not known. */
  flow(transfer) {
    return this.rates.of(`bytes ${transfer.number}`);
  }

  // ---- the strip

  strip(running) {
    const { rates } = this;
    const mine = running ? this.mine : null;
    byId("rate").textContent = mine ? rateText(rates.of(`session ${mine.id}`)) : "–";
    byId("steps").textContent = mine ? count(mine.steps, "step") : "–";
    byId("flow").textContent = running ? flowText(rates.of("bytes")) : "–";
    byId("most").textContent = running ? this.most() : "–";
  }

  /** The task that waits most, and how much of the time of its steps. */
  most() {
    const shares = this.found.tasks
      .map(({ name }) => [name, this.waiting(name)])
      .filter(([, share]) => share !== null);
    const [name, share] = shares.sort(([, a], [, b]) => b - a)[0] ?? [];
    return name ? `${name}, ${percent(share)}` : "–";
  }

  /** The share of waiting in the time of a task's steps; several threads may wait at once. */
  waiting(name) {
    const share = this.rates.share(`${name} waited`, `${name} seconds`);
    return share === null ? null : Math.min(share, 1);
  }

  // ---- the tab

  tab() {
    this.fill("sessions", this.found.sessions, "id", (session) => [
      session.task + (session.shown ? " (this page)" : ""),
      rateText(this.rates.of(`session ${session.id}`)),
      session.steps.toLocaleString("en-US"),
      session.failed.toLocaleString("en-US"),
      session.running.toLocaleString("en-US"),
    ]);
    const tasks = [...this.found.tasks].sort((a, b) => byNumber(a.name, b.name));
    this.fill("tasks", tasks, "name", (task) => this.taskTexts(task));
    for (const task of tasks) this.bar(task);
    const long = tasks.some(({ longest }) => longest && longest.seconds >= LONG);
    byId("why-stuck").hidden = !long;
  }

  taskTexts(task) {
    if (!task.up) return [task.name, "–", "–", "–", "–", "It does not answer."];
    const { rates } = this;
    const [steps, seconds] = [rates.of(`${task.name} steps`), rates.of(`${task.name} seconds`)];
    const each = rates.share(`${task.name} waited`, `${task.name} steps`);
    const share = this.waiting(task.name);
    return [
      task.name,
      share === null ? "–" : percent(share),
      timeText(each),
      steps ? timeText(seconds / steps) : "–",
      rateText(steps),
      this.waitText(task.longest),
    ];
  }

  /** What a wait that goes on is for, once it is long. */
  waitText(wait) {
    if (!wait || wait.seconds < LONG) return "";
    const { transfers } = this.app.model;
    const what = {
      blocked: "an op that waits for another step",
      other: "a tensor of another session",
    }[wait.for];
    return `${timeText(wait.seconds)} for ${what ?? transfers[wait.for].tensor}`;
  }

  bar({ name }) {
    const cell = this.rows.get(`tasks ${name}`).cells[1];
    cell.classList.add("share");
    cell.style.setProperty("--share", String(this.waiting(name) ?? 0));
  }

  /** Sets the texts of a table's rows; only what has changed is touched. */
  fill(id, items, key, texts) {
    const body = byId(id);
    const rows = items.map((item) => {
      const name = `${id} ${item[key]}`;
      const cells = texts(item);
      if (!this.rows.has(name)) this.rows.set(name, this.row(cells));
      const row = this.rows.get(name);
      cells.forEach((text, i) => {
        if (row.cells[i].textContent !== text) row.cells[i].textContent = text;
      });
      return row;
    });
    const same = rows.length === body.rows.length && rows.every((row, i) => body.rows[i] === row);
    if (!same) body.replaceChildren(...rows);
  }

  row(texts) {
    const cells = texts.map((_, i) => (i ? el("td") : el("th", { scope: "row" })));
    return el("tr", {}, ...cells);
  }
}

function percent(share) {
  return `${Math.round(share * 100)} %`;
}

function clock() {
  return new Date().toLocaleTimeString("en-GB");
}
