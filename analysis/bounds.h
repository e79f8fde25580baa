// Rigorous lower bounds of a step: no schedule of the simulated program can be faster.
//
//  1 arithmetic   FLOP of the busiest GPU / peak rate of its precision, no efficiency
//  2 memory       bytes of its memory-bound kernels / HBM bandwidth, no efficiency
//  3 link         bytes routed over a link / its capacity               (the chosen algorithms and routes)
//    switch       bytes into (out of) a switch / summed capacity        (the chosen algorithms and routes)
//    cut          bytes that must leave (enter) a known set of GPUs / capacity of its boundary: every node, rack, pod and
//                 bisection that the builder knows; once for the chosen algorithms (any routing), once for any algorithm
//  4 chain        longest chain of dependent kernels and transfers, each alone: the end of the same program in the `ideal`
//                 network, where every transfer has its links for itself and every dependency stays (max-plus: no operation
//                 of the real run ends before its ideal end)
//  5 pipeline     the longest path through the passes of the schedule when messages take no time (pipeline_bound.h). Only
//  for
//                 1f1b and gpipe.
//
// What an algorithm-independent cut needs, for a group of N members of which m are inside, buffer S (nccl-tests' count):
// all-reduce S out and S in (inside is reduced first: holds for reduction in switches too); reduce-scatter (N-m)/N S out,
// m/N S in; all-gather m/N S out, (N-m)/N S in; all-to-all m(N-m)/N S each way; a message its bytes; other collectives are
// not counted.
//
// Windows: bounds 1-3 hold for the work of each step, so n steps need n times as much: they are compared with E_n/n, and no
// run can beat that. In a run that has settled E_n - E_{n-1} obeys them too. Bounds 4 and 5 of a whole cold step are
// compared with E_1; for n > 1 the ideal run's last window, the longest chain from step to step once it repeats itself, is
// compared with the reported one. With link changes, the largest capacity that a link ever has counts.
//
// Cost: that of traffic.h, plus O(endpoints of the cuts) and O(flows x cuts that hold an endpoint).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/result.h"
#include "sim/options.h"
#include "sim/record.h"
#include "sim/router.h"
#include "topology/fabric.h"
#include "workloads/workload.h"

namespace traingraph::analysis {

struct BoundInputs {
  const topology::Fabric& fabric;
  const sim::Router& router;
  const workloads::Workload& workload;
  std::span<const sim::Time> step_ends;  ///< of the simulation; empty: bounds only, nothing to compare with
  const sim::Record* ideal = nullptr;    ///< from longest_chain(); null: bound 4 is left out
};

/// Every bound whose value is known; of the links, switches and cuts of one kind the one that binds. In order of number.
/// `binds` marks the largest of those that speak of the reported step.
[[nodiscard]] std::vector<Bound> lower_bounds(const BoundInputs& inputs);

/// The program in the `ideal` network: in steps when `options` ask for steps, else in bulk where that is exact by
/// construction and in steps elsewhere. Nothing when that would be more than `step_limit` transfers: bulk that is not exact
/// bounds nothing.
[[nodiscard]] std::optional<sim::Record> longest_chain(const sim::LinkTable& links, const sim::Router& router,
                                                       const sim::Program& program, const sim::RunOptions& options);

/// The bound that marks `binds`; null when there is none above zero.
[[nodiscard]] const Bound* binding(std::span<const Bound> bounds);

}  // namespace traingraph::analysis
