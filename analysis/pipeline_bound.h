// The shortest time in which a pipeline's passes can follow each other: bound 5.
//
// The longest path through the schedule when messages take no time. A pass of stage s starts when the stage's pass before it
// has ended and its input is there: a forward's from the stage before, a backward's from the stage after. F_s, B_s, W_s are
// the kernels of one micro-batch: forward, backward until the gradient is handed on, backward after that (deferred weight
// gradients). Stages may differ. With v chunks per stage each takes 1/v, rounded down, where chunks are known to be equal;
// else only the first chunk F'+B' of each is known, and the bound is the larger of M (F+B+W) and
// sum_{i<s} (F'_i+B'_i) + M (F_s+B_s) + (M-1) W_s, the largest over s.
//
// Equal stages: (M + P-1)(F+B) without deferral. Rigorous because a run has these dependencies and this order, and its
// kernels take no less. O(P M v).
#pragma once

#include <optional>

#include "sim/units.h"
#include "workloads/workload.h"

namespace traingraph::analysis {

struct PipelineBound {
  sim::Duration time;
  std::uint32_t stage = 0;  ///< the busiest
};

/// Nothing for one stage, and for schedules other than 1f1b and gpipe.
[[nodiscard]] std::optional<PipelineBound> pipeline_bound(const workloads::PipelineFacts& pipeline);

}  // namespace traingraph::analysis
