// The Limits view: controls on the left; plots, the layout of a point and tables on the right. The program computes; a draft
// with few points follows a slider, a finer answer comes when it rests.

import {get, post, postRaw} from "./api.js";
import {Chart} from "./chart.js";
import {element, legend} from "./dom.js";
import {save, savePng} from "./download.js";
import {LimitsControls} from "./limits_controls.js";
import {kGuide} from "./limits_guide.js";
import {commandOf, defaultState, questionOf} from "./limits_question.js";
import {curveTable, degreeOf, limitText, pointFacts, pointText, shareSeries, summaryTable} from "./limits_text.js";
import {percent, scientific} from "./numbers.js";
import {nearestIndex} from "./scales.js";
import {encode, restore} from "./url_state.js";

const kDraftPoints = 33;
const kFinePoints = 129;
const kRest = 250;  // milliseconds without a change before the finer answer is asked for
const kLeast = 0.01;  // the least utilization that is drawn

export class LimitsView {
  static async open(values) {
    const {presets, assumptions} = await get("/api/presets");
    return new LimitsView(presets, defaultState(assumptions), values);
  }

  constructor(presets, defaults, values) {
    this.defaults = defaults;
    this.state = restore(values, defaults);
    const known = presets.map(({name}) => name);
    this.state.gpus = this.state.gpus.filter((gpu) => known.includes(gpu));
    if (this.state.gpus.length === 0) this.state.gpus = defaults.gpus;
    this.answers = new Map();
    this.asking = new Map();
    this.cursor = -1;
    this.controls = new LimitsControls(presets, this.state, defaults, (key, dragging) => this.changed(dragging));
    const watch = {onPoint: (index) => this.point(index), onPick: (index) => this.pick(index)};
    this.charts = {utilization: new Chart("Utilization against training compute", watch), layout: new Chart("GPUs and degrees of parallelism", watch), shares: new Chart("Where the time of a step goes", watch)};
    this.build();
    this.ask();
  }

  build() {
    const figure = (title, key, note) => {
      this[`${key}Legend`] = element("div");
      return element("figure", {}, element("figcaption", {}, title), note ? element("p", {class: "quiet"}, note) : null, this[`${key}Legend`], this.charts[key].svg);
    };
    this.error = element("p", {class: "error", role: "alert"});
    this.readout = element("p", {class: "readout", "aria-live": "polite"});
    this.guide = element("div");
    this.summary = element("div");
    this.picked = element("div");
    this.rows = element("div");
    this.command = element("pre");
    this.plots = element("div", {}, this.readout, figure("Utilization against training compute", "utilization"),
      element("div", {class: "two"}, figure("GPUs and degrees of parallelism of the best layout", "layout"), figure("Where the time of a step goes", "shares")));
    const tools = element("p", {class: "row tools"}, "Save", ...["csv", "svg", "json", "yaml"].map((format) =>
      element("button", {type: "button", click: () => this.download(format)}, format.toUpperCase())),
    element("button", {type: "button", click: () => this.download("png")}, "PNG"),
    element("button", {type: "button", click: () => this.reset()}, "Start over"));
    this.node = element("div", {class: "columns"}, this.controls.node, element("div", {},
      element("p", {}, "How far training scales before data movement stops it: the closed-form model of arXiv 2411.01137. Click a point for its layout; arrow keys move the cursor."),
      this.guide, this.error, this.plots, element("div", {class: "two"}, element("section", {class: "panel"}, element("h2", {}, "Limits"), this.summary, tools),
        element("section", {class: "panel"}, element("h2", {}, "Layout"), this.picked)),
      element("details", {class: "panel"}, element("summary", {}, "Table of the curve"), this.rows),
      element("details", {class: "panel"}, element("summary", {}, "The same on the command line"), this.command)));
  }

  changed(dragging) {
    this.ask(dragging);
  }

  reset() {
    Object.assign(this.state, structuredClone(this.defaults));
    this.controls.refresh();
    this.ask();
  }

  remember() {
    history.replaceState(null, "", encode("limits", this.state, this.defaults));
  }

  /** A draft of the GPU in detail at once, everything finely when the hand rests. */
  ask(dragging = false) {
    this.remember();
    clearTimeout(this.later);
    if (dragging) {
      if (this.drafting) this.draftAgain = true;
      else this.draft();
      this.later = setTimeout(() => this.ask(), kRest);
      return;
    }
    for (const gpu of this.state.gpus) this.question(gpu, kFinePoints);
  }

  async draft() {
    this.drafting = true;
    do {
      this.draftAgain = false;
      await this.question(this.state.gpus[0], kDraftPoints);
    } while (this.draftAgain);
    this.drafting = false;
  }

  async question(gpu, points) {
    this.asking.get(gpu)?.abort();
    const asking = new AbortController();
    this.asking.set(gpu, asking);
    try {
      const answer = await post("/api/limits", questionOf(this.state, this.defaults, gpu, points), asking.signal);
      this.answers.set(gpu, {...answer.limits[0], set: answer.set});
      this.error.textContent = "";
      this.show();
    } catch (error) {
      if (error.name === "AbortError") return;
      this.error.textContent = error.message;
      this.plots.classList.add("stale");
    }
  }

  shown() {
    return this.state.gpus.map((gpu) => this.answers.get(gpu)).filter((answer) => answer !== undefined);
  }

  show() {
    const answers = this.shown();
    const first = this.answers.get(this.state.gpus[0]);
    if (first === undefined) return;
    this.plots.classList.remove("stale");
    this.xs = first.curve.map((row) => row.compute_flop);
    this.drawUtilization(answers, first);
    this.drawLayout(first);
    this.drawShares(first);
    this.summary.replaceChildren(summaryTable(answers));
    this.rows.replaceChildren(curveTable(first.curve));
    this.command.textContent = commandOf(this.state.gpus[0], first.set);
    this.pointAtPick(first);
    this.showGuide(first);
  }

  xAxis() {
    return {label: "training compute, FLOP", log: true, range: [this.xs[0], this.xs[this.xs.length - 1]], format: (value) => scientific(value)};
  }

  drawUtilization(answers, first) {
    const mark = (limit, name) => (limit.flop === null ? [] : [{value: limit.flop, label: `${name} ${limitText(limit)}`}]);
    // Curves with the computes of the first only: a finer answer may still be on its way for others.
    const alike = answers.filter((answer) => answer.curve.length === first.curve.length && answer.curve[0].compute_flop === this.xs[0]);
    this.utilizationLegend.replaceChildren(legend(alike.map((answer) => answer.name)));
    this.charts.utilization.show({
      xs: this.xs, x: this.xAxis(), height: 270,
      y: {label: "utilization, of the sustained rate", log: true, range: [kLeast, 1], format: (value) => percent(value, 0)},
      series: alike.map((answer) => ({name: answer.name, values: answer.curve.map((row) => (row.feasible && row.utilization >= kLeast ? row.utilization : null))})),
      vertical: [...mark(first.linear_scaling_limit.first, "linear limit"), ...mark(first.latency_wall, "latency wall")],
      horizontal: [{value: 0.8, label: "80 %"}],
    });
  }

  drawLayout(first) {
    const series = [["GPUs", (row) => (row.feasible ? row.gpus : null)], ["data", (row) => degreeOf(row, ["dp"])], ["tensor, 2D", (row) => degreeOf(row, ["tf", "tm"])],
      ["pipeline", (row) => degreeOf(row, ["pp"])], ["expert", (row) => degreeOf(row, ["ep"])]]
      .map(([name, of]) => ({name, values: first.curve.map(of)}))
      .filter(({name, values}) => name !== "expert" || values.some((value) => value > 1));
    const most = Math.max(10, ...series[0].values);
    this.layoutLegend.replaceChildren(legend(series.map(({name}) => name)));
    this.charts.layout.show({xs: this.xs, x: this.xAxis(), y: {label: "GPUs, degree", log: true, range: [1, 10 ** Math.ceil(Math.log10(most))], format: (value) => scientific(value)}, series});
  }

  drawShares(first) {
    const series = shareSeries(first.curve);
    this.sharesLegend.replaceChildren(legend(series.map(({name}) => name)));
    this.charts.shares.show({xs: this.xs, x: this.xAxis(), y: {label: "share of the step", log: false, range: [0, 1], format: (value) => percent(value, 0)}, series, stacked: true});
  }

  /** The picked compute as an index into the curve; "limit" stands for the last point before utilization falls. */
  pickedIndex(first) {
    if (this.state.picked === "") return -1;
    const limit = first.linear_scaling_limit.first.flop;
    if (this.state.picked !== "limit") return nearestIndex(this.xs, Number(this.state.picked));
    return limit === null ? -1 : Math.max(0, this.xs.filter((x) => x <= limit).length - 1);
  }

  point(index) {
    this.cursor = index;
    this.drawPoint();
  }

  pick(index) {
    this.state.picked = index < 0 ? "" : this.xs[index].toPrecision(6);
    this.remember();
    this.show();
  }

  pointAtPick(first) {
    this.pickIndex = this.pickedIndex(first);
    const row = first.curve[this.pickIndex];
    this.picked.replaceChildren(row ? pointFacts(row) : element("p", {class: "quiet"}, "Click a point of a plot, or press Enter at the cursor."));
    this.drawPoint();
  }

  drawPoint() {
    for (const chart of Object.values(this.charts)) chart.point(this.cursor, this.pickIndex);
    const at = this.cursor >= 0 ? this.cursor : this.pickIndex;
    const answers = this.shown().filter((answer) => answer.curve[at] && answer.curve.length === this.xs?.length);
    this.readout.textContent = answers.map((answer, i) => (answers.length > 1 ? `${answer.name}: ` : "") + (i === 0 ? pointText(answer.curve[at]) : percent(answer.curve[at].utilization ?? 0))).join(" \u00b7 ");
  }

  showGuide(first) {
    const at = Number(this.state.example);
    if (this.state.example === "" || !kGuide[at]) {
      this.guide.replaceChildren(element("p", {class: "tools"}, element("button", {type: "button", click: () => this.walk(0)}, "Example: the largest run on the GTX 580 of 2012")));
      return;
    }
    const step = kGuide[at];
    const button = (text, to, primary) => element("button", {type: "button", class: primary ? "primary" : null, click: () => this.walk(to)}, text);
    const buttons = [at > 0 ? button("Back", at - 1) : null, at + 1 < kGuide.length ? button("Next", at + 1, true) : null, element("button", {type: "button", click: () => this.walk(-1)}, "Close")];
    this.guide.replaceChildren(element("section", {class: "panel"}, element("h2", {}, `${at + 1} of ${kGuide.length}. ${step.title}`),
      element("p", {}, step.text(first, first.curve[this.pickIndex])), element("p", {class: "row tools"}, buttons.filter((b) => b !== null))));
  }

  /** Goes to a step of the guided example; -1 ends it. */
  walk(at) {
    if (at === 0) Object.assign(this.state, structuredClone(this.defaults));
    this.state.example = at < 0 ? "" : String(at);
    if (at >= 0) Object.assign(this.state, structuredClone(kGuide[at].set));
    this.controls.refresh();
    this.ask();
  }

  async download(format) {
    const gpu = this.state.gpus[0];
    const question = {...questionOf(this.state, this.defaults, gpu, kFinePoints), format: format === "png" ? "svg" : format};
    try {
      const text = await (await postRaw("/api/limits", question)).text();
      if (format === "png") await savePng(text, `limits-${gpu}.png`);
      else save(text, `limits-${gpu}.${format}`);
    } catch (error) {
      this.error.textContent = error.message;
    }
  }
}
