// What the Limits view says in words: limits, the layout of a point, tables. Takes the program's answers as they are.

import {facts, table} from "./dom.js";
import {duration, percent, prefixed, scientific, significant} from "./numbers.js";

const kDegrees = [["dp", "Data parallel"], ["pp", "Pipeline stages"], ["ep", "Expert parallel"], ["tf", "Tensor, over ff"], ["tm", "Tensor, over d"]];

/** "2.198·10²⁸", or the program's word for a limit that is none. */
export function limitText(limit) {
  return limit.flop === null ? limit.state : scientific(limit.flop);
}

export function summaryTable(answers) {
  return table(["FLOP", "below 80 %", "for good", "latency wall"],
    answers.map((answer) => [answer.name, limitText(answer.linear_scaling_limit.first), limitText(answer.linear_scaling_limit.last), limitText(answer.latency_wall)]));
}

/** A degree "8x64" as its product beside its levels. */
export function degreeText(degrees) {
  const levels = degrees.split("x").map(Number);
  const product = levels.reduce((a, b) => a * b, 1);
  return levels.length > 1 && product > 1 ? `${scientific(product)}  (${levels.map((l) => scientific(l)).join(" \u00d7 ")}, inner to outer level)` : scientific(product);
}

export function pointText(row) {
  if (!row.feasible) return `${scientific(row.compute_flop)} FLOP: no number of GPUs finishes in time`;
  return `${scientific(row.compute_flop)} FLOP: utilization ${percent(row.utilization)}, ${scientific(row.gpus)} GPUs, held up by ${row.binds}`;
}

export function pointFacts(row) {
  if (!row.feasible) return facts([["Training compute", `${scientific(row.compute_flop)} FLOP`], ["", "no number of GPUs finishes in time"]]);
  return facts([
    ["Training compute", `${scientific(row.compute_flop)} FLOP`], ["GPUs", scientific(row.gpus)],
    ["Utilization", `${percent(row.utilization)} of the sustained rate, MFU ${percent(row.mfu)}`], ["Held up by", row.binds],
    ...kDegrees.map(([key, name]) => [name, degreeText(row.layout[key])]), ["Microbatches", scientific(row.layout.microbatches)],
    ["Step time", duration(row.step_time_s)], ["Training time", duration(row.training_time_s)], ["Memory of a GPU", prefixed(row.memory_bytes, "B")],
  ]);
}

export function curveTable(rows) {
  return table(["compute, FLOP", "utilization", "MFU", "GPUs", "DP", "PP", "EP", "TF", "TM", "microbatches", "step", "memory", "held up by"],
    rows.map((row) => (row.feasible
      ? [scientific(row.compute_flop, 3), percent(row.utilization), percent(row.mfu), scientific(row.gpus), row.layout.dp, row.layout.pp, row.layout.ep, row.layout.tf,
        row.layout.tm, significant(row.layout.microbatches), duration(row.step_time_s), prefixed(row.memory_bytes, "B"), row.binds]
      : [scientific(row.compute_flop, 3), "not in time", ...Array(11).fill("")])), [12]);
}

/** The shares of a step as series: names and values by point. */
export function shareSeries(rows) {
  const shares = rows.map((row) => (row.feasible ? row.step_shares : null));
  const levels = shares.find((s) => s !== null)?.network.length ?? 0;
  const series = [["arithmetic", (s) => s.arithmetic], ["kernels beyond it", (s) => s.kernels]];
  for (let l = 0; l < levels; ++l) series.push([`network level ${l}`, (s) => s.network[l]]);
  series.push(["latency", (s) => s.latency], ["pipeline bubble", (s) => s.bubble], ["last gradients", (s) => s.tail]);
  return series.map(([name, of]) => ({name, values: shares.map((s) => (s === null ? null : of(s)))}));
}

/** A layout degree as one number, for the curves. */
export function degreeOf(row, keys) {
  return row.feasible ? keys.flatMap((key) => row.layout[key].split("x").map(Number)).reduce((a, b) => a * b, 1) : null;
}
