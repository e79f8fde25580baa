#include "workloads/schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/error.h"

namespace traingraph::workloads {
namespace {

// The k-th forward pass: micro-batches in groups of P, each group through all chunks before the next group. A backward takes
// the chunks from last to first.
Pass nth_pass(std::uint64_t k, bool forward, const PipelineShape& shape) {
  if (shape.chunks == 1) return {forward, static_cast<std::uint32_t>(k), 0};
  const std::uint64_t per_group = static_cast<std::uint64_t>(shape.stages) * shape.chunks;
  const auto in_group = static_cast<std::uint32_t>(k % per_group);
  const auto group = static_cast<std::uint32_t>(k / per_group);
  const std::uint32_t chunk = in_group / shape.stages;
  return {forward, group * shape.stages + in_group % shape.stages, forward ? chunk : shape.chunks - 1 - chunk};
}

std::uint64_t warmup(ScheduleKind kind, const PipelineShape& s, std::uint32_t stage) {
  const std::uint64_t total = static_cast<std::uint64_t>(s.microbatches) * s.chunks;
  if (kind == ScheduleKind::gpipe) return total;
  const std::uint64_t behind = s.stages - 1 - stage;
  if (s.chunks == 1) return std::min(total, behind);
  if (s.microbatches == s.stages) return total;
  return std::min(total, 2 * behind + static_cast<std::uint64_t>(s.chunks - 1) * s.stages);
}

}  // namespace

std::vector<Pass> passes_of_stage(ScheduleKind kind, const PipelineShape& shape, std::uint32_t stage) {
  if (shape.chunks > 1 && shape.microbatches % shape.stages != 0) {
    throw sim::InputError{fmt::format("an interleaved schedule needs a multiple of {} micro-batches, not {}", shape.stages,
                                      shape.microbatches)};
  }
  const std::uint64_t total = static_cast<std::uint64_t>(shape.microbatches) * shape.chunks;
  const std::uint64_t first = warmup(kind, shape, stage);
  std::vector<Pass> passes;
  passes.reserve(2 * total);
  for (std::uint64_t k = 0; k < first; ++k) passes.push_back(nth_pass(k, true, shape));
  for (std::uint64_t k = first; k < total; ++k) {
    passes.push_back(nth_pass(k, true, shape));
    passes.push_back(nth_pass(k - first, false, shape));
  }
  for (std::uint64_t k = total - first; k < total; ++k) passes.push_back(nth_pass(k, false, shape));
  return passes;
}

std::uint32_t passes_in_flight(ScheduleKind kind, const PipelineShape& shape, std::uint32_t stage) {
  const std::uint64_t total = static_cast<std::uint64_t>(shape.microbatches) * shape.chunks;
  return static_cast<std::uint32_t>(std::min(total, warmup(kind, shape, stage) + 1));
}

}  // namespace traingraph::workloads
