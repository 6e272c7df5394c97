// What part of the sheet is in sight, and how large.
"use strict";

const SMALLEST = 0.01;
const LARGEST = 3;
const TOOLS = 56; // pixels at the bottom that the buttons take

class Camera {
  constructor() {
    [this.x, this.y, this.scale] = [0, 0, 1];
  }

  /** The part of the sheet that the canvas shows. */
  sight(canvas) {
    return {
      left: -this.x / this.scale,
      top: -this.y / this.scale,
      right: (canvas.clientWidth - this.x) / this.scale,
      bottom: (canvas.clientHeight - this.y) / this.scale,
    };
  }

  /** The place on the sheet under a point of the canvas. */
  onSheet(x, y) {
    return { x: (x - this.x) / this.scale, y: (y - this.y) / this.scale };
  }

  move(dx, dy) {
    this.x += dx;
    this.y += dy;
  }

  /** Larger by `factor`, with what is at (x, y) staying there. */
  zoom(factor, x, y) {
    const scale = clamp(this.scale * factor, SMALLEST, LARGEST);
    this.x = x - ((x - this.x) * scale) / this.scale;
    this.y = y - ((y - this.y) * scale) / this.scale;
    this.scale = scale;
  }

  /** All of a box, with a margin. */
  fit(box, canvas, largest = 1.15) {
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    const margin = Math.min(24, width / 20);
    const wanted = Math.min((width - 2 * margin) / box.w, (height - margin - TOOLS) / box.h);
    this.scale = clamp(wanted, SMALLEST, largest);
    this.center(box, canvas);
    this.move(0, (margin - TOOLS) / 2);
  }

  center(box, canvas) {
    this.x = canvas.clientWidth / 2 - (box.ax + box.w / 2) * this.scale;
    this.y = canvas.clientHeight / 2 - (box.ay + box.h / 2) * this.scale;
  }

  /** Whether a box is wholly in sight and large enough to be read. */
  shows(box, canvas) {
    const s = this.sight(canvas);
    const inside = box.ax >= s.left && box.ay >= s.top;
    return inside && box.ax + box.w <= s.right && box.ay + box.h <= s.bottom && this.scale > 0.5;
  }
}
