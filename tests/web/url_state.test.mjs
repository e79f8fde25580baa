import assert from "node:assert/strict";
import test from "node:test";

import {decode, encode, restore} from "../../analysis/web/url_state.js";

const defaults = {gpus: ["h100"], flop_rate: 1, custom: "", word_bits: "native"};

test("a state comes back from its address", () => {
  const state = {gpus: ["a100", "gtx580"], flop_rate: 0.125, custom: "a.b=c & d\n# 100 %=?", word_bits: "8"};
  const {view, values} = decode(encode("limits", state, defaults));
  assert.equal(view, "limits");
  assert.deepEqual(restore(values, defaults), state);
});

test("what equals its default is not in the address", () => {
  assert.equal(encode("limits", defaults, defaults), "#limits");
});

test("what cannot be read keeps its default", () => {
  const {values} = decode("#limits?flop_rate=fast&word_bits=%E0%A4%A&unknown=1");
  assert.deepEqual(restore(values, defaults), defaults);
});
