// HeatMap: utilization of tiers and links over time on a canvas; hovering gives the number.

import {element} from "./dom.js";
import {duration, percent} from "./numbers.js";
import {kLabelWidth, kPicosecond} from "./step_model.js";

const kHeatRow = 12;
const kThousand = 1000;

/** From the page's colour over the accent to the lit one, by utilization in thousandths. */
export function heatColour(thousandths, stops) {
  const at = (Math.min(kThousand, Math.max(0, thousandths)) / kThousand) * (stops.length - 1);
  const i = Math.min(stops.length - 2, Math.floor(at));
  return stops[i].map((from, channel) => Math.round(from + (stops[i + 1][channel] - from) * (at - i)));
}

function channels(colour) {
  const paint = document.createElement("canvas").getContext("2d");
  paint.fillStyle = colour;
  return [1, 3, 5].map((at) => parseInt(paint.fillStyle.slice(at, at + 2), 16));
}

export class HeatMap {
  constructor(heat) {
    this.heat = heat;
    this.canvas = element("canvas", {role: "img", "aria-label": "Utilization of tiers and links over time", mousemove: (event) => this.move(event), mouseleave: () => this.say("")});
    this.readout = element("p", {class: "readout"});
    this.node = element("div", {class: "timeline"}, this.readout, this.canvas);
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  say(text) {
    this.readout.textContent = text || "From the begin of the run; the marked part is the reported step.";
  }

  move(event) {
    const box = this.canvas.getBoundingClientRect();
    const row = this.heat.rows[Math.floor((event.clientY - box.top) / kHeatRow)];
    const bin = Math.floor(((event.clientX - box.left - kLabelWidth) / (box.width - kLabelWidth)) * this.heat.bins);
    if (!row || bin < 0 || bin >= this.heat.bins) return this.say("");
    const time = (this.heat.begin_ps + bin * this.heat.bin_ps) * kPicosecond;
    this.say(`${row.name}${row.kind === "link" ? ` (${row.tier})` : ""}, at ${duration(time)}: ${percent(row.load[bin] / kThousand)}`);
  }

  draw() {
    const width = this.canvas.clientWidth;
    if (width <= kLabelWidth) return;
    const {rows, bins} = this.heat;
    const height = rows.length * kHeatRow;
    this.canvas.width = width;
    this.canvas.height = height + 4;
    this.canvas.style.height = `${height + 4}px`;
    const style = getComputedStyle(document.documentElement);
    const stops = ["--panel", "--c0", "--c4", "--lit"].map((name) => channels(style.getPropertyValue(name).trim()));
    const image = new ImageData(bins, rows.length);
    rows.forEach(({load}, y) => load.forEach((value, x) => image.data.set([...heatColour(value, stops), 255], 4 * (y * bins + x))));
    const small = new OffscreenCanvas(bins, rows.length);
    small.getContext("2d").putImageData(image, 0, 0);
    const paint = this.canvas.getContext("2d");
    paint.imageSmoothingEnabled = false;
    paint.drawImage(small, kLabelWidth, 0, width - kLabelWidth, height);
    paint.font = "11px system-ui, sans-serif";
    paint.textBaseline = "middle";
    paint.fillStyle = style.getPropertyValue("--ink");
    rows.forEach(({name}, y) => paint.fillText(name, 0, (y + 0.5) * kHeatRow, kLabelWidth - 8));
    paint.fillStyle = style.getPropertyValue("--lit");
    const begin = (-this.heat.begin_ps / (bins * this.heat.bin_ps)) * (width - kLabelWidth);
    paint.fillRect(kLabelWidth + begin, height + 1, width - kLabelWidth - begin, 3);
    this.say("");
  }
}
