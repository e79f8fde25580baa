import assert from "node:assert/strict";
import test from "node:test";

import {duration, percent, prefixed, scientific, thousands} from "../../analysis/web/numbers.js";

test("numbers carry four digits and a unit that fits", () => {
  assert.equal(scientific(2.19812e28), "2.198\u00b710\u00b2\u2078");
  assert.equal(scientific(1e26), "10\u00b2\u2076");
  assert.equal(scientific(1024), "1024");
  assert.equal(prefixed(80e9, "B"), "80 GB");
  assert.equal(prefixed(0, "B"), "0 B");
  assert.equal(duration(29.6814), "29.68 s");
  assert.equal(duration(8.5e-7), "850 ns");
  assert.equal(duration(7.884e6), "91.25 d");
  assert.equal(percent(0.4514), "45.1 %");
  assert.equal(thousands(16384), "16,384");
});
