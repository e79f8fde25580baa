// Pipeline schedules: the order in which one stage runs its passes.
//
// A pass is the forward or backward of one micro-batch through one chunk of the stage's layers. Without interleaving a stage
// is one chunk. P stages, M micro-batches, v chunks (virtual stages); chunk c of stage s is virtual stage c·P + s.
//   gpipe  all forwards, then all backwards in reverse order of chunks, micro-batches ascending.
//   1f1b   w forwards, then one forward and one backward in turn, then the w backwards that are left (Narayanan et al.
//   2019);
//          w = min(M, P - 1 - s). Interleaved (Narayanan et al. 2021): w = min(Mv, 2(P - 1 - s) + (v-1)P), or all when M =
//          P; micro-batches go through the chunks in groups of P, so P must divide M.
// When communication is free the bubble is (P-1)(F+B) for both, ÷ v when interleaved (F, B of a whole stage).
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/workload_spec.h"

namespace traingraph::workloads {

struct Pass {
  bool forward = true;
  std::uint32_t microbatch = 0;
  std::uint32_t chunk = 0;

  bool operator==(const Pass&) const = default;
};

struct PipelineShape {
  std::uint32_t stages = 1;
  std::uint32_t microbatches = 1;
  std::uint32_t chunks = 1;
};

/// Throws sim::InputError when chunks > 1 and the micro-batches are not a multiple of the stages.
[[nodiscard]] std::vector<Pass> passes_of_stage(ScheduleKind kind, const PipelineShape& shape, std::uint32_t stage);

/// The most passes of a stage whose activations are held at the same time.
[[nodiscard]] std::uint32_t passes_in_flight(ScheduleKind kind, const PipelineShape& shape, std::uint32_t stage);

}  // namespace traingraph::workloads
