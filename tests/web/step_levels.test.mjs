import assert from "node:assert/strict";
import test from "node:test";

import {firstEndingAfter, levels, shifted, zoomed} from "../../analysis/web/step_levels.js";
import {rowsOf, spansOf} from "../../analysis/web/step_model.js";

/** Back-to-back spans with gaps, from a generator of our own so that every run is the same. */
function randomTrack(count) {
  let seed = 12345;
  const random = () => (seed = (1103515245 * seed + 12345) % 2147483648) / 2147483648;
  const starts = [];
  const ends = [];
  let at = 0;
  for (let i = 0; i < count; ++i) {
    at += random() < 0.3 ? random() * 20 : 0;
    starts.push(at);
    at += random() ** 4 * 100;
    ends.push(at);
  }
  return {starts, ends};
}

test("a column has one rectangle at most, and rectangles cover what spans cover", () => {
  const track = randomTrack(100000);
  const whole = track.ends[track.ends.length - 1];
  for (const [from, to] of [[0, whole], [whole * 0.3, whole * 0.31], [whole * 0.5, whole * 0.5001]]) {
    const rectangles = levels(track, from, to, 1000);
    let column = 0;
    for (const r of rectangles) {
      assert.ok(r.from >= column && r.to > r.from && r.to <= 1000);
      column = r.to;
    }
    const drawn = rectangles.reduce((sum, r) => sum + (r.to - r.from) * r.cover, 0);
    let covered = 0;
    track.starts.forEach((start, i) => { covered += Math.max(0, Math.min(to, track.ends[i]) - Math.max(from, start)); });
    assert.ok(Math.abs(drawn - (covered / (to - from)) * 1000) < 1e-3, `${drawn}`);
  }
});

test("a span that fills columns keeps them to itself", () => {
  assert.deepEqual(levels({starts: [0, 25], ends: [25, 100]}, 0, 100, 10),
    [{from: 0, to: 2, index: 0, cover: 1}, {from: 2, to: 3, index: 0, cover: 1}, {from: 3, to: 10, index: 1, cover: 1}]);
});

test("a hundred thousand spans are few rectangles soon", () => {
  const track = randomTrack(100000);
  const begin = performance.now();
  levels(track, 0, track.ends[track.ends.length - 1], 1500);
  assert.ok(performance.now() - begin < 500);  // a few milliseconds where nothing else runs
});

test("the first span that ends after a time is found", () => {
  assert.equal(firstEndingAfter([1, 2, 3], 2), 2);
  assert.equal(firstEndingAfter([1, 2, 3], 0), 0);
  assert.equal(firstEndingAfter([1, 2, 3], 9), 3);
});

test("zooming and moving stay inside the whole", () => {
  assert.deepEqual(zoomed([0, 100], 0.5, 50, [0, 100]), [25, 75]);
  assert.deepEqual(zoomed([25, 75], 10, 50, [0, 100]), [0, 100]);
  assert.deepEqual(shifted([0, 10], -5, [0, 100]), [0, 10]);
  assert.deepEqual(shifted([0, 10], 500, [0, 100]), [90, 100]);
});

test("a track without any time has no row", () => {
  const {rows} = rowsOf({names: ["mark"], tracks: [{rank: 0, stage: 0, stream: 1, spans: [5, 0, 0, -1, -1]}], critical_path: {}});
  assert.deepEqual(rows, []);
});

test("flat lists become spans with their gaps", () => {
  const spans = spansOf([5, 10, 0, 1, -1, 2, 3, 1, -1, 4]);
  assert.deepEqual([...spans.starts], [5, 17]);
  assert.deepEqual([...spans.ends], [15, 20]);
  assert.deepEqual([...spans.layers], [-1, 4]);
});

test("the critical path is the first row, and names that take longest come first", () => {
  const {rows, order} = rowsOf({names: ["short", "long"], tracks: [{rank: 3, stage: 1, stream: 0, spans: [0, 1, 0, -1, -1, 0, 9, 1, -1, -1]}],
    critical_path: {names: ["long"], elements: [0, 9, 3, 0, -1]}});
  assert.deepEqual(rows.map(({label}) => label), ["critical path", "stage 1, GPU 3, compute"]);
  assert.deepEqual(order, [1, 0]);
  assert.equal(rows[0].text(0), "long, GPU 3");
});
