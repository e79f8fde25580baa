#include "workloads/schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/error.h"
#include "workloads/dualpipe.h"
#include "workloads/zero_bubble.h"

namespace traingraph::workloads {
namespace {

// The k-th forward pass: micro-batches in groups of P, each group through all chunks before the next group. A backward takes
// the chunks from last to first.
Pass nth_pass(std::uint64_t k, PassKind kind, const PipelineShape& shape) {
  if (shape.chunks == 1) return {kind, static_cast<std::uint32_t>(k), 0};
  const std::uint64_t per_group = static_cast<std::uint64_t>(shape.stages) * shape.chunks;
  const auto in_group = static_cast<std::uint32_t>(k % per_group);
  const auto group = static_cast<std::uint32_t>(k / per_group);
  const std::uint32_t chunk = in_group / shape.stages;
  return {kind, group * shape.stages + in_group % shape.stages,
          kind == PassKind::forward ? chunk : shape.chunks - 1 - chunk};
}

std::uint64_t warmup(ScheduleKind kind, const PipelineShape& s, std::uint32_t stage) {
  const std::uint64_t total = static_cast<std::uint64_t>(s.microbatches) * s.chunks;
  if (kind == ScheduleKind::gpipe) return total;
  const std::uint64_t behind = s.stages - 1 - stage;
  if (s.chunks == 1) return std::min(total, behind);
  if (s.microbatches == s.stages) return total;
  return std::min(total, 2 * behind + static_cast<std::uint64_t>(s.chunks - 1) * s.stages);
}

// gpipe and 1f1b, plain or interleaved: they differ in the forwards that run ahead.
std::vector<Pass> alternating_passes(ScheduleKind kind, const PipelineShape& shape, std::uint32_t stage) {
  const std::uint64_t total = static_cast<std::uint64_t>(shape.microbatches) * shape.chunks;
  const std::uint64_t first = warmup(kind, shape, stage);
  std::vector<Pass> passes;
  passes.reserve(2 * total);
  for (std::uint64_t k = 0; k < first; ++k) passes.push_back(nth_pass(k, PassKind::forward, shape));
  for (std::uint64_t k = first; k < total; ++k) {
    passes.push_back(nth_pass(k, PassKind::forward, shape));
    passes.push_back(nth_pass(k - first, PassKind::backward, shape));
  }
  for (std::uint64_t k = total - first; k < total; ++k) passes.push_back(nth_pass(k, PassKind::backward, shape));
  return passes;
}

}  // namespace

bool splits_backward(ScheduleKind kind) {
  return kind == ScheduleKind::zb_h1 || kind == ScheduleKind::zb_v || kind == ScheduleKind::dualpipe;
}

void check_schedule(ScheduleKind kind, const PipelineShape& shape) {
  const std::string name = name_of(kind);
  if (!splits_backward(kind)) {
    if (shape.chunks > 1 && shape.microbatches % shape.stages != 0) {
      throw sim::InputError{fmt::format("an interleaved schedule needs a multiple of {} micro-batches, not {}", shape.stages,
                                        shape.microbatches)};
    }
    return;
  }
  if (shape.stages < 2) throw sim::InputError{fmt::format("schedule {} needs pp above 1", name)};
  if (shape.chunks != 1) {
    throw sim::InputError{fmt::format("schedule {} takes no virtual_stages: it always has {} of each stage", name,
                                      kind == ScheduleKind::zb_h1 ? "one chunk" : "two chunks")};
  }
  if (kind != ScheduleKind::dualpipe) return;
  if (shape.stages % 2 != 0) throw sim::InputError{fmt::format("schedule dualpipe needs an even pp, not {}", shape.stages)};
  if (shape.microbatches % 2 != 0 || shape.microbatches < 2 * shape.stages) {
    throw sim::InputError{fmt::format("schedule dualpipe needs an even number of micro-batches, at least {}, not {}",
                                      2 * shape.stages, shape.microbatches)};
  }
}

std::vector<Pass> passes_of_stage(ScheduleKind kind, const PipelineShape& shape, std::uint32_t stage) {
  check_schedule(kind, shape);
  switch (kind) {
    case ScheduleKind::zb_h1:
      return zb_h1_passes(shape.stages, shape.microbatches, stage);
    case ScheduleKind::zb_v:
      return zb_v_passes(shape.stages, shape.microbatches, stage);
    case ScheduleKind::dualpipe:
      return dualpipe_passes(shape.stages, shape.microbatches, stage);
    default:
      return alternating_passes(kind, shape, stage);
  }
}

std::vector<InFlight> most_in_flight(const std::vector<Pass>& passes, const std::vector<double>& forward_cost,
                                     const std::vector<double>& weight_cost) {
  std::vector<InFlight> now(forward_cost.size());
  std::vector<InFlight> most = now;
  double highest = 0;
  for (const Pass& p : passes) {
    InFlight& chunk = now[p.chunk];
    if (p.kind == PassKind::forward) {
      ++chunk.forward;
    } else if (p.kind == PassKind::weight_gradient) {
      --chunk.weight_gradient;
    } else {
      --chunk.forward;
      if (p.kind == PassKind::input_gradient) ++chunk.weight_gradient;
    }
    double cost = 0;
    for (std::size_t c = 0; c < now.size(); ++c) {
      cost += forward_cost[c] * now[c].forward + weight_cost[c] * now[c].weight_gradient;
    }
    if (cost > highest) {
      highest = cost;
      most = now;
    }
  }
  return most;
}

}  // namespace traingraph::workloads
