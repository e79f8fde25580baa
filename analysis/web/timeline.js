// Timeline: the streams of a step over time on a canvas. The wheel and + - zoom, dragging and the arrow keys move, Home shows
// all; hovering names the span.

import {element} from "./dom.js";
import {duration} from "./numbers.js";
import {linearScale, linearTicks} from "./scales.js";
import {firstEndingAfter, levels, shifted, zoomed} from "./step_levels.js";
import {kColours, kLabelWidth, kPicosecond} from "./step_model.js";

const kRow = 18;
const kGap = 3;
const kTop = 20;

export class Timeline {
  constructor({rows, path}, window) {
    this.rows = rows;
    this.path = path;
    this.whole = rows.reduce(([low, high], {spans}) => [Math.min(low, spans.starts[0] ?? low), Math.max(high, spans.ends[spans.ends.length - 1] ?? high)], [0, window]);
    this.view = this.whole;
    this.canvas = element("canvas", {tabindex: "0", role: "img", "aria-label": "Streams over time. Plus and minus zoom, arrow keys move, Home shows all.",
      wheel: (event) => this.wheel(event), mousemove: (event) => this.move(event), mousedown: (event) => { this.grabbed = event.clientX; },
      mouseup: () => { this.grabbed = null; }, mouseleave: () => { this.grabbed = null; this.say(""); }, keydown: (event) => this.key(event)});
    this.readout = element("p", {class: "readout", "aria-live": "polite"});
    this.node = element("div", {class: "timeline"}, this.readout, this.canvas);
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  show(view) {
    this.view = view;
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  timeAt(event) {
    const at = event.clientX - this.canvas.getBoundingClientRect().left - kLabelWidth;
    return this.view[0] + (at / this.columns) * (this.view[1] - this.view[0]);
  }

  wheel(event) {
    event.preventDefault();
    const width = this.view[1] - this.view[0];
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.show(shifted(this.view, ((event.deltaX || event.deltaY) / this.columns) * width, this.whole));
    else this.show(zoomed(this.view, Math.exp(event.deltaY / 400), this.timeAt(event), this.whole));
  }

  move(event) {
    if (this.grabbed !== null && this.grabbed !== undefined && event.buttons === 1) {
      this.show(shifted(this.view, ((this.grabbed - event.clientX) / this.columns) * (this.view[1] - this.view[0]), this.whole));
      this.grabbed = event.clientX;
      return;
    }
    const row = this.rows[Math.floor((event.clientY - this.canvas.getBoundingClientRect().top - kTop) / (kRow + kGap))];
    const time = this.timeAt(event);
    const index = row ? firstEndingAfter(row.spans.ends, time) : -1;
    this.say(row && row.spans.starts[index] <= time ? this.describe(row, index) : row ? row.label : "");
  }

  describe({label, spans, text}, i) {
    const part = (name, value) => (value >= 0 ? `, ${name} ${value}` : "");
    return `${label}: ${text(i)}${part("microbatch", spans.microbatches[i])}${part("layer", spans.layers?.[i] ?? -1)}, from ${duration(spans.starts[i] * kPicosecond)}, for ${duration((spans.ends[i] - spans.starts[i]) * kPicosecond)}`;
  }

  say(text) {
    this.readout.textContent = text || "Hover a span for its name; wheel or + and - zoom, drag or arrow keys move.";
  }

  key(event) {
    const [from, to] = this.view;
    const middle = (from + to) / 2;
    const step = (to - from) / 8;
    const views = {"+": () => zoomed(this.view, 0.6, middle, this.whole), "-": () => zoomed(this.view, 1 / 0.6, middle, this.whole),
      ArrowLeft: () => shifted(this.view, -step, this.whole), ArrowRight: () => shifted(this.view, step, this.whole), Home: () => this.whole};
    if (!(event.key in views)) return;
    event.preventDefault();
    this.show(views[event.key]());
  }

  draw() {
    const width = this.canvas.clientWidth;
    if (width <= kLabelWidth) return;
    const height = kTop + this.rows.length * (kRow + kGap);
    const dense = window.devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * dense) || this.canvas.height !== Math.round(height * dense)) {
      this.canvas.width = Math.round(width * dense);
      this.canvas.height = Math.round(height * dense);
      this.canvas.style.height = `${height}px`;
    }
    this.columns = width - kLabelWidth;
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    this.palette = Array.from({length: kColours}, (_, i) => colour(`--c${i}`));
    const paint = this.canvas.getContext("2d");
    paint.setTransform(dense, 0, 0, dense, 0, 0);
    paint.clearRect(0, 0, width, height);
    paint.font = "12px system-ui, sans-serif";
    paint.textBaseline = "middle";
    this.drawAxis(paint, height, colour("--grid"), colour("--quiet"));
    this.rows.forEach((row, i) => this.drawRow(paint, row, kTop + i * (kRow + kGap), colour("--ink"), colour("--lit")));
    this.say("");
  }

  drawAxis(paint, height, grid, quiet) {
    const seconds = this.view.map((time) => time * kPicosecond);
    const x = linearScale(seconds, [kLabelWidth, kLabelWidth + this.columns]);
    for (const tick of linearTicks(seconds, this.columns / 110)) {
      paint.fillStyle = grid;
      paint.fillRect(Math.round(x.at(tick)), kTop - 4, 1, height);
      paint.fillStyle = quiet;
      paint.fillText(duration(tick), x.at(tick) + 3, 8);
    }
  }

  drawRow(paint, row, top, ink, lit) {
    paint.globalAlpha = 1;
    paint.fillStyle = ink;
    paint.fillText(row.label, 0, top + kRow / 2, kLabelWidth - 8);
    for (const {from, to, index, cover} of levels(row.spans, this.view[0], this.view[1], this.columns)) {
      paint.globalAlpha = cover;
      paint.fillStyle = this.palette[row.colour(index) % kColours];
      paint.fillRect(kLabelWidth + from, top, to - from, kRow);
    }
    paint.globalAlpha = 1;
    if (row.rank === null || !this.path) return;
    paint.fillStyle = lit;  // where the critical path runs through this GPU
    for (const {from, to, index} of levels(this.path, this.view[0], this.view[1], this.columns)) {
      if (this.path.ranks[index] === row.rank) paint.fillRect(kLabelWidth + from, top + kRow - 3, to - from, 3);
    }
  }
}
