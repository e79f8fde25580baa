// PipelineShares: what the stages of a pipeline hold, in layers, for the three stages that a bound looks at: the first, the
// last, and the one before it. And how many micro-batches' activations the first and the last keep.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "workloads/schedule.h"
#include "workloads/workload_spec.h"

namespace traingraph::analysis::plan {

/// Parts of the model, in numbers; a sum of costs is linear in them.
struct Share {
  double layers = 0;  ///< without experts
  double moe_layers = 0;
  double embedding = 0;
  double head = 0;

  Share& operator+=(const Share& o) {
    layers += o.layers;
    moe_layers += o.moe_layers;
    embedding += o.embedding;
    head += o.head;
    return *this;
  }
  [[nodiscard]] Share scaled(double f) const { return {layers * f, moe_layers * f, embedding * f, head * f}; }
};

/// Passes that a stage holds at one time, summed over its chunks; the largest for some ratio of their costs.
struct Held {
  double forward = 0;          ///< gone forward, not back
  double weight_gradient = 0;  ///< whose weight gradient is all that is missing
};

struct StageShare {
  std::uint32_t stage = 0;
  Share held;                   ///< parameters of the stage
  Share worked;                 ///< that one micro-batch passes: half of `held` in a bidirectional pipeline
  Share before;                 ///< that a micro-batch passes before it first reaches the stage
  std::vector<Held> in_flight;  ///< memory needs the largest over this list
};

struct PipelineShares {
  std::uint32_t stages = 1;
  std::uint32_t chunks = 1;  ///< of a stage
  std::uint32_t copies = 1;  ///< 2: bidirectional
  bool ends_meet = false;    ///< embedding and head on one stage
  double layers_per_chunk = 0;
  Share after_first;           ///< held by all stages but the first
  std::vector<StageShare> at;  ///< the first, the last but one, the last: as many as exist

  /// REQUIRES: the schedule exists for this shape, and the layers can be dealt out.
  PipelineShares(const workloads::ModelSpec& model, workloads::ScheduleKind kind, const workloads::PipelineShape& shape);
};

/// So many of the micro-batches show the most that a stage ever holds, which is all that PipelineShares makes of them.
[[nodiscard]] std::uint32_t enough_microbatches(workloads::ScheduleKind kind, const workloads::PipelineShape& shape);

/// Whether check_schedule() would not throw.
[[nodiscard]] bool schedule_exists(workloads::ScheduleKind kind, const workloads::PipelineShape& shape);

}  // namespace traingraph::analysis::plan
