// The controls of the Limits view: sliders, words and lists bound to a state.

import {element} from "./dom.js";
import {kGroups, sliderStep, sliderValue} from "./limits_question.js";
import {significant} from "./numbers.js";

/** `changed(key, dragging)` is told of every change. */
export class LimitsControls {
  constructor(presets, state, defaults, changed) {
    this.state = state;
    this.defaults = defaults;
    this.changed = changed;
    this.refreshers = [];
    this.node = element("form", {class: "panel controls", "aria-label": "Assumptions", submit: (event) => event.preventDefault()},
      this.presets(presets), kGroups.map((group) => this.group(group)), this.more());
    this.refresh();
  }

  /** Shows the state again, after it was changed from elsewhere. */
  refresh() {
    for (const refresh of this.refreshers) refresh();
  }

  set(key, value, dragging) {
    this.state[key] = value;
    this.refresh();
    this.changed(key, dragging);
  }

  presets(presets) {
    const boxes = presets.map(({name, title}) => {
      const box = element("input", {type: "checkbox", value: name, change: () => this.toggle(name, box.checked)});
      this.refreshers.push(() => { box.checked = this.state.gpus.includes(name); });
      return element("label", {}, box, " ", title);
    });
    const first = element("select", {"aria-label": "In detail", change: () => this.set("gpus", [first.value, ...this.state.gpus.filter((g) => g !== first.value)], false)});
    this.refreshers.push(() => {
      first.replaceChildren(...presets.filter(({name}) => this.state.gpus.includes(name)).map(({name, title}) => element("option", {value: name}, title)));
      first.value = this.state.gpus[0];
    });
    return element("fieldset", {}, element("legend", {}, "GPUs and networks"), element("div", {class: "choices"}, boxes),
      element("label", {class: "control"}, "In detail", first));
  }

  toggle(name, on) {
    const others = this.state.gpus.filter((gpu) => gpu !== name);
    const gpus = on ? [...others, name] : others;
    this.set("gpus", gpus.length > 0 ? gpus : [name], false);
  }

  group({title, controls}) {
    return element("fieldset", {}, element("legend", {}, title), controls.map((control) => (control.words ? this.words(control) : this.slider(control))));
  }

  words({key, label, words}) {
    const select = element("select", {change: () => this.set(key, select.value, false)},
      words.map(([value, text]) => element("option", {value}, text)));
    const node = element("label", {class: "control"}, label, select);
    this.refreshers.push(() => { select.value = this.state[key]; });
    return node;
  }

  slider(control) {
    const {key, label, steps, unit} = control;
    const output = element("output");
    const input = element("input", {type: "range", min: 0, max: steps, step: 1,
      input: () => this.set(key, sliderValue(control, Number(input.value), this.defaults[key]), true),
      change: () => this.changed(key, false)});
    const node = element("label", {class: "control"}, element("span", {}, label), output, input);
    this.refreshers.push(() => {
      input.value = Math.round(sliderStep(control, this.state[key]));
      output.textContent = unit === "\u00d7" ? `${unit} ${significant(this.state[key])}` : `${significant(this.state[key])}${unit}`;
      input.setAttribute("aria-valuetext", output.textContent);
      node.classList.toggle("changed", this.state[key] !== this.defaults[key]);
    });
    return node;
  }

  more() {
    const number = (key, label) => {
      const input = element("input", {type: "text", inputmode: "decimal", size: 8,
        change: () => this.set(key, Number(input.value) > 0 ? Number(input.value) : this.defaults[key], false)});
      this.refreshers.push(() => { input.value = this.state[key].toExponential(); });
      return element("label", {class: "control"}, label, input);
    };
    const custom = element("textarea", {rows: 4, spellcheck: "false", "aria-label": "Custom numbers, one key=value a line",
      placeholder: "gpu.network[1].bandwidth=100 GB/s\ngpu.matmul.memory_size=192 GB", input: () => { this.state.custom = custom.value; this.changed("custom", true); }});
    this.refreshers.push(() => { if (custom.value !== this.state.custom) custom.value = this.state.custom; });
    return element("fieldset", {}, element("legend", {}, "Training computes and custom numbers"), number("from", "From, FLOP"), number("to", "To, FLOP"), custom,
      element("p", {class: "quiet"}, "One key=value a line; keys: traingraph limits --help."));
  }
}
