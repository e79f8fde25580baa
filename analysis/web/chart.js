// Chart: curves or stacked areas over one x, as SVG, with a cursor that the mouse and the keyboard move.
//
// A spec: {x: axis, y: axis, series: [{name, values}], xs, stacked, vertical: [{value, label}], horizontal: [...]}, an axis
// being {label, range, log, format}. `values` are in the order of `xs`; null: nothing there. The chart tells `onPoint(index)`
// where the cursor is (-1: nowhere) and `onPick(index)` what was clicked or entered.

import {svgElement} from "./dom.js";
import {linearScale, linearTicks, logScale, logTicks, nearestIndex} from "./scales.js";

const kMargin = {left: 58, right: 14, top: 24, bottom: 36};
const kClasses = 8;

function scaleOf(axis, pixels) {
  return (axis.log ? logScale : linearScale)(axis.range, pixels);
}

function ticksOf(axis, pixels) {
  return axis.log ? logTicks(axis.range, pixels / 45) : linearTicks(axis.range, pixels / 45);
}

/** "M x y L x y ...", interrupted where a value is missing or has no place. */
export function linePath(xs, values, x, y) {
  let path = "";
  let pen = "M";
  xs.forEach((at, i) => {
    const height = values[i] === null ? NaN : y.at(values[i]);
    if (!Number.isFinite(height)) {
      pen = "M";
      return;
    }
    path += `${pen}${x.at(at).toFixed(1)} ${height.toFixed(1)}`;
    pen = "L";
  });
  return path;
}

/** The area between two lines that have values at the same places. */
export function areaPath(xs, lower, upper, x, y) {
  const there = xs.map((_, i) => i).filter((i) => upper[i] !== null);
  if (there.length === 0) return "";
  const point = (i, values) => `${x.at(xs[i]).toFixed(1)} ${y.at(values[i]).toFixed(1)}`;
  return "M" + there.map((i) => point(i, upper)).join("L") + "L" + there.reverse().map((i) => point(i, lower)).join("L") + "Z";
}

/** Running sums over the series: the borders of stacked areas, series.length + 1 of them. */
export function stack(series) {
  const sums = [series[0].values.map((value) => (value === null ? null : 0))];
  for (const {values} of series) sums.push(sums[sums.length - 1].map((sum, i) => (sum === null || values[i] === null ? null : sum + values[i])));
  return sums;
}

export class Chart {
  constructor(name, {onPoint, onPick}) {
    this.onPoint = onPoint;
    this.onPick = onPick;
    this.svg = svgElement("svg", {
      class: "chart", role: "img", tabindex: "0", "aria-label": `${name}. Arrow keys move the cursor, Enter picks.`,
      mousemove: (event) => onPoint(this.indexAt(event)), mouseleave: () => onPoint(-1),
      click: (event) => onPick(this.indexAt(event)), keydown: (event) => this.key(event),
    });
    new ResizeObserver(() => this.draw()).observe(this.svg);
  }

  show(spec) {
    this.spec = spec;
    this.draw();
  }

  /** Moves the cursor, and the mark of what is picked (-1: none). */
  point(cursor, picked) {
    this.cursor = cursor;
    this.picked = picked;
    this.drawCursor();
  }

  indexAt(event) {
    const pixel = event.clientX - this.svg.getBoundingClientRect().left;
    if (!this.spec || pixel < kMargin.left - 8 || pixel > this.width - kMargin.right + 8) return -1;
    return nearestIndex(this.spec.xs, this.x.back(pixel));
  }

  key(event) {
    const last = (this.spec?.xs.length ?? 0) - 1;
    const from = this.cursor >= 0 ? this.cursor : Math.max(this.picked, 0);
    const moves = {ArrowLeft: from - 1, ArrowRight: from + 1, PageUp: from - 10, PageDown: from + 10, Home: 0, End: last};
    if (event.key in moves) this.onPoint(Math.min(last, Math.max(0, moves[event.key])));
    else if (event.key === "Enter") this.onPick(from);
    else if (event.key === "Escape") this.onPick(-1);
    else return;
    event.preventDefault();
  }

  draw() {
    const width = this.svg.clientWidth;
    if (!this.spec || width < 100) return;
    const height = this.spec.height ?? 240;
    this.width = width;
    this.height = height;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("height", height);
    const {x, y} = this.spec;
    this.x = scaleOf(x, [kMargin.left, width - kMargin.right]);
    this.y = scaleOf(y, [height - kMargin.bottom, kMargin.top]);
    this.marks = svgElement("g");
    this.svg.replaceChildren(...this.frame(), ...this.curves(), ...this.guides(), this.marks);
    this.drawCursor();
  }

  frame() {
    const right = this.width - kMargin.right;
    const bottom = this.height - kMargin.bottom;
    const nodes = [];
    for (const tick of ticksOf(this.spec.x, right - kMargin.left)) {
      const at = this.x.at(tick);
      nodes.push(svgElement("line", {class: "grid", x1: at, x2: at, y1: kMargin.top, y2: bottom}));
      nodes.push(svgElement("text", {class: "tick", x: at, y: bottom + 15, "text-anchor": "middle"}, this.spec.x.format(tick)));
    }
    for (const tick of ticksOf(this.spec.y, (bottom - kMargin.top) * 1.3)) {
      const at = this.y.at(tick);
      nodes.push(svgElement("line", {class: "grid", x1: kMargin.left, x2: right, y1: at, y2: at}));
      nodes.push(svgElement("text", {class: "tick", x: kMargin.left - 6, y: at + 4, "text-anchor": "end"}, this.spec.y.format(tick)));
    }
    nodes.push(svgElement("path", {class: "axis", fill: "none", d: `M${kMargin.left} ${kMargin.top}V${bottom}H${right}`}));
    nodes.push(svgElement("text", {class: "label", x: right, y: this.height - 4, "text-anchor": "end"}, this.spec.x.label));
    nodes.push(svgElement("text", {class: "label", x: 4, y: 11}, this.spec.y.label));
    return nodes;
  }

  curves() {
    const {series, xs, stacked} = this.spec;
    if (series.length === 0) return [];
    if (!stacked) return series.map(({values}, i) => svgElement("path", {class: `curve s${i % kClasses}`, d: linePath(xs, values, this.x, this.y)}));
    const borders = stack(series);
    return series.map((_, i) => svgElement("path", {class: `area f${i % kClasses}`, d: areaPath(xs, borders[i], borders[i + 1], this.x, this.y)}));
  }

  guides() {
    const bottom = this.height - kMargin.bottom;
    const right = this.width - kMargin.right;
    const nodes = [];
    (this.spec.vertical ?? []).forEach(({value, label}, i) => {
      const at = this.x.at(value);
      if (!(at >= kMargin.left && at <= right)) return;
      nodes.push(svgElement("line", {class: "guide", x1: at, x2: at, y1: kMargin.top, y2: bottom}));
      const end = at > (kMargin.left + right) / 2;
      nodes.push(svgElement("text", {x: at + (end ? -5 : 5), y: bottom - 8 - 16 * i, "text-anchor": end ? "end" : "start"}, label));
    });
    for (const {value, label} of this.spec.horizontal ?? []) {
      const at = this.y.at(value);
      nodes.push(svgElement("line", {class: "guide", x1: kMargin.left, x2: right, y1: at, y2: at}));
      nodes.push(svgElement("text", {x: kMargin.left + 5, y: at + 13}, label));
    }
    return nodes;
  }

  drawCursor() {
    if (!this.marks) return;
    const nodes = [];
    const line = (index, kind) => {
      const at = this.x.at(this.spec.xs[index]);
      nodes.push(svgElement("line", {class: kind, x1: at, x2: at, y1: kMargin.top, y2: this.height - kMargin.bottom}));
    };
    if (this.picked >= 0 && this.picked < this.spec.xs.length) line(this.picked, "pinned");
    if (this.cursor >= 0 && this.cursor < this.spec.xs.length) {
      line(this.cursor, "cursor");
      const {series, xs, stacked} = this.spec;
      if (!stacked) {
        series.forEach(({values}, i) => {
          const at = values[this.cursor] === null ? NaN : this.y.at(values[this.cursor]);
          if (Number.isFinite(at)) nodes.push(svgElement("circle", {class: `dot f${i % kClasses}`, r: 4, cx: this.x.at(xs[this.cursor]), cy: at}));
        });
      }
    }
    this.marks.replaceChildren(...nodes);
  }
}
