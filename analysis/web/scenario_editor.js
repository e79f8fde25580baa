// The editor of a scenario: its text with line numbers, checked by the program while one types; a fault is marked beside its
// line and listed below, a click goes there.

import {post} from "./api.js";
import {element} from "./dom.js";
import {faultsOf, offsetOf} from "./faults.js";
import {prefixed, thousands} from "./numbers.js";

const kTyping = 400;  // milliseconds without a key before the text is checked

export class ScenarioEditor {
  constructor(changed) {
    this.changed = changed;
    this.gutter = element("pre", {class: "gutter", "aria-hidden": "true"});
    this.area = element("textarea", {rows: 24, spellcheck: "false", wrap: "off", "aria-label": "Scenario, YAML", "aria-describedby": "faults",
      input: () => this.typed(), scroll: () => { this.gutter.scrollTop = this.area.scrollTop; }});
    this.faults = element("ul", {class: "faults", id: "faults", "aria-live": "polite"});
    this.node = element("div", {}, element("div", {class: "editor"}, this.gutter, this.area), this.faults);
  }

  get text() {
    return this.area.value;
  }

  set text(value) {
    this.area.value = value;
    this.typed();
  }

  typed() {
    this.number([]);
    this.changed();
    clearTimeout(this.later);
    this.later = setTimeout(() => this.check(), kTyping);
  }

  async check() {
    const text = this.text;
    let faults = [];
    let said = null;
    try {
      const size = await post("/api/check", {yaml: text});
      said = `${thousands(size.gpus)} GPUs, ${prefixed(size.operations, "")} operations, about ${prefixed(size.memory_bytes, "B", 2)} of memory`;
    } catch (error) {
      faults = faultsOf(error.message);
    }
    if (text === this.text) this.show(faults, said);
  }

  show(faults, said = null) {
    this.number(faults.map(({line}) => line));
    this.faults.replaceChildren(...faults.map(({line, column, text}) => element("li", {class: "error"},
      line > 0 ? element("button", {type: "button", click: () => this.go(line, column)}, `line ${line}`) : null, " ", text)), said === null ? "" : element("li", {class: "quiet"}, said));
  }

  number(bad) {
    const lines = this.text.split("\n").length;
    this.gutter.replaceChildren(...Array.from({length: lines}, (_, i) => element("span", {class: bad.includes(i + 1) ? "bad" : null}, `${i + 1}\n`)));
    this.gutter.scrollTop = this.area.scrollTop;
  }

  go(line, column) {
    const at = offsetOf(this.text, line, column);
    this.area.focus();
    this.area.setSelectionRange(at, at);
  }
}
