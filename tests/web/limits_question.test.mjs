import assert from "node:assert/strict";
import test from "node:test";

import {commandOf, customLines, defaultState, kGroups, questionOf, sliderStep, sliderValue} from "../../analysis/web/limits_question.js";

const defaults = defaultState({batch_exponent: 1 / 6, depth_exponent: 1 / 6, duration_days: 91.25, all_reduce_words: 3});

test("the defaults ask for nothing but the range", () => {
  assert.deepEqual(questionOf(defaults, defaults, "h100", 41), {gpu: "h100", set: ["scan.from=1e+24", "scan.to=1e+32"], scale: {}, points: 41});
});

test("every control changes the question", () => {
  for (const {key, range, words} of kGroups.flatMap((group) => group.controls)) {
    const value = range ? range[1] : words.find(([word]) => word !== defaults[key])[0];
    const question = questionOf({...defaults, [key]: value}, defaults, "h100", 41);
    assert.notDeepEqual(question, questionOf(defaults, defaults, "h100", 41), key);
  }
});

test("a slider reaches its ends and stops at its default", () => {
  for (const control of kGroups.flatMap((group) => group.controls).filter((c) => c.range)) {
    const snap = defaults[control.key];
    assert.equal(sliderValue(control, Math.round(sliderStep(control, snap)), snap), snap, control.key);
    for (const [step, end] of [[0, control.range[0]], [control.steps, control.range[1]]]) {
      assert.ok(Math.abs(sliderValue(control, step, snap) - end) <= 1e-3 * Math.abs(end), control.key);
    }
  }
});

test("comments and empty lines are no overrides", () => {
  assert.deepEqual(customLines(" a=1 \n\n# b=2\nc=3"), ["a=1", "c=3"]);
});

test("a command quotes what it is given", () => {
  assert.ok(commandOf("h100", ["name=it's"]).includes("--set 'name=it'\\''s'"));
});
