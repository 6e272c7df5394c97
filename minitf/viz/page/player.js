// The slider that plays one step, event by event. At its end everything has run.
"use strict";

const LONGEST_PLAY = 12000; // milliseconds for a whole step
const SLOWEST = 400; // milliseconds for one event

class Player {
  constructor(app) {
    this.app = app;
    this.slider = byId("slider");
    this.button = byId("play");
    this.told = byId("told");
    this.last = app.model.events.length;
    this.slider.max = this.last;
    this.slider.addEventListener("input", () => {
      this.stop();
      this.go(Number(this.slider.value));
    });
    this.button.addEventListener("click", () => (this.timer ? this.stop() : this.play()));
    byId("back").addEventListener("click", () => this.step(-1));
    byId("forward").addEventListener("click", () => this.step(1));
    this.go(this.last);
  }

  get position() {
    return Number(this.slider.value);
  }

  step(by) {
    this.stop();
    this.go(clamp(this.position + by, 0, this.last));
  }

  play() {
    if (!this.last) return;
    if (this.position === this.last) this.go(0);
    const each = Math.min(SLOWEST, LONGEST_PLAY / this.last);
    const [start, from] = [performance.now(), this.position];
    this.timer = setInterval(
      () => {
        const next = from + 1 + Math.floor((performance.now() - start) / each);
        this.go(Math.min(next, this.last));
        if (this.position === this.last) this.stop();
      },
      Math.max(each, 30),
    );
    this.label("Pause", true);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.label("Play", false);
  }

  label(text, playing) {
    this.button.setAttribute("aria-label", `${text} the step`);
    this.button.classList.toggle("playing", playing);
  }

  go(position) {
    const { model } = this.app;
    this.slider.value = position;
    const event = position && position < this.last ? model.events[position - 1] : null;
    const end = position ? "the step is done" : "nothing has run yet";
    const said = event ? model.told(event) : end;
    this.told.textContent = `${position} / ${this.last} · ${said}`;
    this.slider.setAttribute("aria-valuetext", `${position} of ${this.last}: ${said}`);
    this.slider.style.setProperty("--done", `${this.last ? (100 * position) / this.last : 100}%`);
    this.app.at(position, event);
  }
}
