#include "analysis/plan/pipeline_shares.h"

#include <algorithm>

#include "workloads/pipeline_map.h"

namespace traingraph::analysis::plan {
namespace {

using workloads::PipelineShape;
using workloads::ScheduleKind;

Share share_of(const workloads::ModelSpec& model, std::uint32_t position, std::uint32_t positions) {
  const std::uint32_t layers = model.layers / positions;
  Share share;
  for (std::uint32_t l = position * layers; l < (position + 1) * layers; ++l)
    ++(model.is_moe_layer(l) ? share.moe_layers : share.layers);
  if (position == 0) share.embedding = 1;
  if (position + 1 == positions) share.head = 1;
  return share;
}

std::vector<Held> in_flight(ScheduleKind kind, PipelineShape shape, std::uint32_t chunks, std::uint32_t stage) {
  const double m = shape.microbatches;
  if (kind == ScheduleKind::gpipe) return {{m * chunks, 0}};
  if (kind == ScheduleKind::one_f_one_b && chunks == 1) return {{std::min(m, double(shape.stages - stage)), 0}};
  shape.microbatches = enough_microbatches(kind, shape);
  const std::vector<workloads::Pass> passes = passes_of_stage(kind, shape, stage);
  std::vector<Held> states;
  for (const double weight_cost : {0.0, 0.25, 0.5, 1.0, 2.0, 4.0}) {  // relative to a forward's
    Held sum;
    for (const workloads::InFlight& f :
         most_in_flight(passes, std::vector<double>(chunks, 1.0), std::vector<double>(chunks, weight_cost))) {
      sum.forward += f.forward;
      sum.weight_gradient += f.weight_gradient;
    }
    states.push_back(sum);
    if (!splits_backward(kind)) break;
  }
  return states;
}

}  // namespace

std::uint32_t enough_microbatches(ScheduleKind kind, const PipelineShape& shape) {
  if (kind == ScheduleKind::gpipe) return shape.microbatches;
  return std::min(shape.microbatches, 4 * shape.stages);
}

PipelineShares::PipelineShares(const workloads::ModelSpec& model, ScheduleKind kind, const PipelineShape& shape) {
  const workloads::PipelineMap map{kind, shape.stages, shape.chunks};
  stages = map.stages();
  chunks = map.chunks();
  copies = map.copies();
  ends_meet = map.ends_meet();
  layers_per_chunk = static_cast<double>(model.layers) / map.positions();
  std::vector<Share> positions;
  for (std::uint32_t p = 0; p < map.positions(); ++p) positions.push_back(share_of(model, p, map.positions()));

  for (std::uint32_t s = 0; s < stages; ++s) {
    StageShare share;
    share.stage = s;
    for (std::uint32_t c = 0; c < chunks; ++c) share.held += positions[map.position(s, c)];
    if (s > 0) after_first += share.held;
    share.worked = share.held.scaled(1.0 / copies);
    const std::uint32_t earlier = copies == 2 ? std::min(s, stages - 1 - s) : s;
    for (std::uint32_t i = 0; i < earlier; ++i) share.before += positions[i];
    // A bidirectional pipeline fills from both ends: its middle is reached last.
    const bool looked_at = copies == 2 ? s == 0 || s + 1 == stages / 2 : s == 0 || s + 2 >= stages;
    if (!looked_at) continue;
    share.in_flight = in_flight(kind, shape, chunks, s);
    at.push_back(std::move(share));
  }
}

bool schedule_exists(ScheduleKind kind, const PipelineShape& shape) {
  if (!splits_backward(kind)) return shape.chunks == 1 || (shape.stages > 1 && shape.microbatches % shape.stages == 0);
  if (shape.stages < 2 || shape.chunks != 1) return false;
  if (kind != ScheduleKind::dualpipe) return true;
  return shape.stages % 2 == 0 && shape.microbatches % 2 == 0 && shape.microbatches >= 2 * shape.stages;
}

}  // namespace traingraph::analysis::plan
