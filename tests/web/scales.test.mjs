import assert from "node:assert/strict";
import test from "node:test";

import {linearScale, linearTicks, logScale, logTicks, nearestIndex} from "../../analysis/web/scales.js";

test("a scale and its inverse undo each other", () => {
  for (const scale of [linearScale([-3, 7], [50, 650]), logScale([1e24, 1e32], [50, 650]), linearScale([0, 1], [240, 16])]) {
    for (const share of [0, 0.25, 0.5, 1]) {
      const [low, high] = scale.range;
      const value = scale.log ? low * (high / low) ** share : low + (high - low) * share;
      assert.ok(Math.abs(scale.back(scale.at(value)) / (value || 1) - (value ? 1 : 0)) < 1e-9);
    }
  }
});

test("a logarithmic scale has no place for what is not positive", () => {
  const scale = logScale([1, 100], [0, 10]);
  assert.ok(Number.isNaN(scale.at(0)));
  assert.ok(Number.isNaN(scale.at(-1)));
  assert.equal(scale.at(10), 5);
});

test("linear ticks are 1, 2 or 5 times a power of ten, inside the range", () => {
  assert.deepEqual(linearTicks([0, 1], 5), [0, 0.2, 0.4, 0.6000000000000001, 0.8, 1]);
  assert.deepEqual(linearTicks([0, 100], 2), [0, 50, 100]);
  assert.deepEqual(linearTicks([3, 3], 4), [3]);
});

test("logarithmic ticks are whole decades, thinned to what has room", () => {
  assert.deepEqual(logTicks([1, 1000], 10), [1, 10, 100, 1000]);
  assert.ok(logTicks([1e24, 1e32], 3).length <= 3);
});

test("the nearest value is found among the ascending", () => {
  assert.equal(nearestIndex([], 1), -1);
  assert.equal(nearestIndex([1, 2, 10], 5), 1);
  assert.equal(nearestIndex([1, 2, 10], 7), 2);
  assert.equal(nearestIndex([1, 2, 10], -5), 0);
  assert.equal(nearestIndex([1, 2, 10], 99), 2);
});
