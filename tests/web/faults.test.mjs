import assert from "node:assert/strict";
import test from "node:test";

import {faultsOf, offsetOf} from "../../analysis/web/faults.js";

test("a fault knows its place in the text", () => {
  assert.deepEqual(faultsOf("scenario:3:5: cluster.nodes: expected a number\nscenario: no such thing\n"), [
    {line: 3, column: 5, text: "cluster.nodes: expected a number"}, {line: 0, column: 0, text: "scenario: no such thing"}]);
});

test("a place is an offset", () => {
  assert.equal(offsetOf("ab\ncd\n", 2, 2), 4);
  assert.equal(offsetOf("ab", 9, 1), 2);
  assert.equal(offsetOf("ab\ncd", 2, 99), 5);
});
