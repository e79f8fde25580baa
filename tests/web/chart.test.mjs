import assert from "node:assert/strict";
import test from "node:test";

import {areaPath, linePath, stack} from "../../analysis/web/chart.js";
import {linearScale} from "../../analysis/web/scales.js";

const x = linearScale([0, 10], [0, 10]);
const y = linearScale([0, 1], [100, 0]);

test("a missing value interrupts a line", () => {
  assert.equal(linePath([0, 1, 2, 3], [0, 1, null, 0.5], x, y), "M0.0 100.0L1.0 0.0M3.0 50.0");
});

test("areas are stacked on each other", () => {
  const sums = stack([{values: [0.25, null]}, {values: [0.5, null]}]);
  assert.deepEqual(sums, [[0, null], [0.25, null], [0.75, null]]);
  assert.equal(areaPath([0, 1], sums[1], sums[2], x, y), "M0.0 25.0L0.0 75.0Z");
});
