// Pipeline schedules: the order in which one stage runs its passes.
//
// A pass is the forward or backward of one micro-batch through one chunk of the stage's layers (pipeline_map.h says which
// layers). Zero-bubble schedules split a backward into the pass that makes the input gradient, which the stage before waits
// for, and the pass that makes the weight gradients, which nobody waits for. P stages, M micro-batches, v chunks; F, B, W of
// a whole stage: forward, input gradient, weight gradient. Bubbles are those of free communication.
//
//   gpipe     all forwards, then all backwards in reverse order of chunks, micro-batches ascending (Huang et al. 2019).
//             Bubble (P-1)(F+B+W).
//   1f1b      w forwards, then one forward and one backward in turn, then the w backwards that are left (Narayanan et al.
//             2019); w = min(M, P - 1 - s). Interleaved (Narayanan et al. 2021): w = min(Mv, 2(P - 1 - s) + (v-1)P), or all
//             when M = P; micro-batches go through the chunks in groups of P, so P must divide M. Bubble
//             (P-1)(F+B+W)/v.
//   zb_h1     1f1b whose weight gradients lag s micro-batches behind on stage s (Qi et al. 2023, "Zero Bubble Pipeline
//             Parallelism"). Bubble (P-1)(F+B-W); as many micro-batches in flight as 1f1b.
//   zb_v      two chunks in a V (ibid., section 6). Bubble 0 for F = B = W and M >= 2P-1, each stage's time taken from its
//             own first pass to its own last; the activations of P whole stages on every stage.
//   dualpipe  two chunks, micro-batches fed from both ends (DeepSeek-V3 technical report 2024, and its published code). P
//   and
//             M even, M >= 2P. A forward and a backward of opposite directions run as one pair and are handed on together.
//             Bubble (P/2-1)(F&B + (B+W) - 3W), F&B the time of a pair; the activations of P+1 chunks.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/workload_spec.h"

namespace traingraph::workloads {

enum class PassKind : std::uint8_t {
  forward,
  backward,         ///< input and weight gradients
  input_gradient,   ///< the first half of a split backward
  weight_gradient,  ///< the second half
};

struct Pass {
  PassKind kind = PassKind::forward;
  std::uint32_t microbatch = 0;
  std::uint32_t chunk = 0;
  bool paired = false;  ///< a forward that runs together with the backward after it in the list

  bool operator==(const Pass&) const = default;
};

struct PipelineShape {
  std::uint32_t stages = 1;
  std::uint32_t microbatches = 1;
  std::uint32_t chunks = 1;  ///< virtual stages of 1f1b and gpipe; zb_v and dualpipe always have two
};

/// Whether the schedule ever splits a backward.
[[nodiscard]] bool splits_backward(ScheduleKind kind);

/// Throws sim::InputError when the schedule does not exist for this shape: virtual stages of zb_h1, zb_v, dualpipe;
/// zero-bubble schedules and dualpipe on one stage; interleaving when P does not divide M; dualpipe as said above.
void check_schedule(ScheduleKind kind, const PipelineShape& shape);

/// Checks first. Micro-batches of dualpipe are numbered over both directions: the first M/2 enter at stage 0.
[[nodiscard]] std::vector<Pass> passes_of_stage(ScheduleKind kind, const PipelineShape& shape, std::uint32_t stage);

/// Passes of one chunk that a stage holds at one time: those that have gone forward and not back, and those whose weight
/// gradient is all that is missing.
struct InFlight {
  std::uint32_t forward = 0;
  std::uint32_t weight_gradient = 0;

  bool operator==(const InFlight&) const = default;
};

/// By chunk, the state of the stage in which the sum of forward_cost[c]·forward + weight_cost[c]·weight_gradient over its
/// chunks c is largest, the first of equals.
[[nodiscard]] std::vector<InFlight> most_in_flight(const std::vector<Pass>& passes, const std::vector<double>& forward_cost,
                                                   const std::vector<double>& weight_cost);

}  // namespace traingraph::workloads
