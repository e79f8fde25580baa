// What one word costs in a collective: the seconds that each network level is busy, and the latency of the call
// (a construction in the terms of arXiv 2411.01137).
//
// With degrees p[0..K-1] (inner to outer), w bytes a word, and bw[l] bytes/s counting both directions:
//   all-reduce of a word held by every member:  busy[l] = a (p[l]-1)/p[l] / (p[0]..p[l-1]) * w/bw[l]
//   all-to-all of a word per member:            busy[l] = 2 (p[l]-1) p[0]..p[l-1]/P * w/bw[l],  P = product of p
//   a word sent and one received between stages: busy[l*] = 2 w/bw[l*] at the outermost level with p > 1
// with a = all_reduce_words (or 2p[l]/(p[l]-1) for a reduction in the switch). Latencies are those of the levels with
// p[l] > 1, summed or the largest; an all-reduce multiplies them by latency_factor (or 2(p[l]-1) for a ring, 2 for direct).
#pragma once

#include "analysis/theory/assumptions.h"
#include "analysis/theory/gpu.h"

namespace traingraph::analysis::theory {

struct WordCost {
  PerLevel busy_s{};      ///< per word, by level
  double busy_sum_s = 0;  ///< over the levels
  double latency_s = 0;   ///< of the call, whatever its size
};

[[nodiscard]] WordCost all_reduce_cost(const Gpu& gpu, const Assumptions& assumptions, const PerLevel& degrees);
[[nodiscard]] WordCost all_to_all_cost(const Gpu& gpu, const Assumptions& assumptions, const PerLevel& degrees);
/// Nothing where the pipeline has one stage, or where pipeline traffic is not counted.
[[nodiscard]] WordCost stage_boundary_cost(const Gpu& gpu, const Assumptions& assumptions, const PerLevel& degrees);

}  // namespace traingraph::analysis::theory
