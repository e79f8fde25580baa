// The Step view: pick or edit a scenario, run it, look at the result, ask what if.

import {get, post, remove} from "./api.js";
import {element} from "./dom.js";
import {faultsOf} from "./faults.js";
import {duration, percent, significant} from "./numbers.js";
import {ScenarioEditor} from "./scenario_editor.js";
import {stepResult} from "./step_result.js";
import {encode, restore} from "./url_state.js";

const kDefaults = {example: "llama3_8b_fsdp_32_h100.yaml", text: "", run: 0};
const kLook = 250;  // milliseconds between two looks at a run

export class StepView {
  static async open(values) {
    return new StepView(await get("/api/examples"), values);
  }

  constructor(examples, values) {
    this.examples = new Map(examples.map(({name, text}) => [name, text]));
    this.state = restore(values, kDefaults);
    if (!this.examples.has(this.state.example)) this.state.example = [...this.examples.keys()][0];
    this.build();
    this.editor.text = this.state.text || this.examples.get(this.state.example);
    if (this.state.run === 1) this.run();
  }

  build() {
    this.editor = new ScenarioEditor(() => this.remember());
    this.pick = element("select", {"aria-label": "Example", change: () => this.load()}, [...this.examples.keys()].map((name) => element("option", {value: name}, name.replace(".yaml", ""))));
    this.pick.value = this.state.example;
    this.sensitivity = element("input", {type: "checkbox"});
    this.start = element("button", {type: "button", class: "primary", click: () => this.run()}, "Run");
    this.stop = element("button", {type: "button", disabled: true, click: () => this.cancel()}, "Cancel");
    this.progress = element("progress", {max: 1, value: 0, hidden: true, "aria-label": "Progress"});
    this.status = element("p", {class: "readout", role: "status"});
    this.what = element("div");
    this.result = element("div");
    this.node = element("div", {},
      element("details", {class: "panel controls", open: true}, element("summary", {}, "Scenario"), element("p", {class: "row"}, "Example", this.pick), this.editor.node),
      element("p", {class: "row tools"}, this.start, this.stop, element("label", {}, this.sensitivity, " with sensitivities (runs it again for every resource)"), this.progress),
      this.status, this.what, this.result);
  }

  load() {
    this.state.example = this.pick.value;
    this.editor.text = this.examples.get(this.state.example);
  }

  remember() {
    this.state.text = this.editor.text === this.examples.get(this.state.example) ? "" : this.editor.text;
    history.replaceState(null, "", encode("step", this.state, kDefaults));
  }

  /** Starts a run and waits for its end; null when it was cancelled. */
  async finish(request) {
    const {id} = await post("/api/runs", request);
    this.id = id;
    this.stop.disabled = false;
    this.start.disabled = true;
    this.progress.hidden = false;
    try {
      for (;;) {
        const {state, share, error} = await get(`/api/runs/${id}`);
        this.progress.value = share;
        this.status.textContent = state === "running" ? `running, ${percent(share, 0)} of the operations` : state;
        if (state === "failed") throw new Error(error);
        if (state === "cancelled") return null;
        if (state === "done") return await get(`/api/runs/${id}/step`);
        await new Promise((resolve) => setTimeout(resolve, kLook));
      }
    } finally {
      this.stop.disabled = true;
      this.start.disabled = false;
      this.progress.hidden = true;
    }
  }

  async run() {
    this.state.run = 1;
    this.remember();
    this.asked = this.editor.text;
    try {
      const document = await this.finish({yaml: this.asked, sensitivity: this.sensitivity.checked});
      if (document === null) return;
      this.status.textContent = "";
      this.result.replaceChildren(stepResult(document));
      this.showWhatIf(document);
    } catch (error) {
      this.status.textContent = "";
      this.editor.show(faultsOf(error.message));
    }
  }

  cancel() {
    remove(`/api/runs/${this.id}`).catch(() => {});
  }

  showWhatIf({resources, summary}) {
    const said = element("p", {class: "readout", role: "status"});
    const buttons = resources.map((resource) => element("button", {type: "button", click: () => this.whatIf(resource, summary.step_time_s, said)}, this.question(resource)));
    this.what.replaceChildren(element("section", {class: "panel tools"}, element("h2", {}, "What if"), element("p", {class: "row"}, buttons), said));
  }

  /** Less latency is better, more of everything else. */
  factor(resource) {
    return resource.startsWith("latency") || resource.includes("overhead") ? 0.5 : 2;
  }

  question(resource) {
    const [what, tier] = resource.split(" ");
    return `${this.factor(resource) < 1 ? "half" : "twice"} the ${what.replaceAll("_", " ")}${tier ? ` of ${tier}` : ""}`;
  }

  async whatIf(resource, before, said) {
    try {
      const answer = await this.finish({yaml: this.asked, what_if: {resource, factor: this.factor(resource)}});
      if (answer === null) return;
      this.status.textContent = "";
      said.textContent = `With ${this.question(resource)} the step takes ${duration(answer.step_time_s)} instead of ${duration(before)}: ${significant(before / answer.step_time_s)} times as fast.`;
    } catch (error) {
      said.textContent = error.message;
    }
  }
}
