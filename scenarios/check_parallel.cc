// What the keys of a transformer's parallel layout say about each other.
#include <cstdint>
#include <numeric>
#include <string>

#include "scenarios/checks.h"
#include "sim/error.h"
#include "workloads/pipeline_map.h"
#include "workloads/schedule.h"
#include "workloads/stage_shape.h"

namespace traingraph::scenarios {

namespace {

using workloads::ParallelSpec;
using workloads::PipelineMap;
using workloads::ScheduleKind;
using workloads::TransformerSpec;

void check_layers(const TransformerSpec& t, Checker& check) {
  const ParallelSpec& p = t.parallel;
  const std::uint32_t layers = t.model.layers;
  const PipelineMap map{p};
  const bool chunked = map.positions() != p.pp;
  if (p.layers_per_stage.empty()) {
    check.expect(chunked || layers % p.pp == 0, "workload.parallel.pp",
                 "{} does not divide the model's {} layers; state layers_per_stage", p.pp, layers);
    check.expect(!chunked || layers % map.positions() == 0,
                 check.blamed({"workload.parallel.virtual_stages", "workload.parallel.schedule"}),
                 "{} stages of {} chunks do not divide the model's {} layers; state layers_per_stage", p.pp, map.chunks(),
                 layers);
    return;
  }
  const std::uint64_t sum = std::accumulate(p.layers_per_stage.begin(), p.layers_per_stage.end(), std::uint64_t{0});
  const std::string expected =
      chunked ? fmt::format("there are {} x {} virtual stages", p.pp, map.chunks()) : fmt::format("pp is {}", p.pp);
  check.expect(p.layers_per_stage.size() == map.positions(), "workload.parallel.layers_per_stage", "lists {} stages, but {}",
               p.layers_per_stage.size(), expected);
  check.expect(sum == layers, "workload.parallel.layers_per_stage", "adds up to {} layers, but the model has {}", sum,
               layers);
}

void check_pipeline(const TransformerSpec& t, Checker& check) {
  const ParallelSpec& p = t.parallel;
  check.expect(p.virtual_stages == 1 || p.pp > 1, "workload.parallel.virtual_stages", "needs pp above 1");
  const bool halves_only = p.schedule == ScheduleKind::zb_h1 || p.schedule == ScheduleKind::zb_v;
  check.expect(!halves_only || !p.overlap_tp_backward, "workload.parallel.overlap_tp_backward",
               "has no effect with schedule {}, whose weight gradients are passes of their own", name_of(p.schedule));
  for (const auto& [on, path] : {std::pair{p.overlap_grad_reduce, "workload.parallel.overlap_grad_reduce"},
                                 {p.overlap_param_gather, "workload.parallel.overlap_param_gather"}}) {
    check.expect(!on || p.schedule != ScheduleKind::dualpipe, path, "is not built for schedule dualpipe");
  }
  if (!check.readable({"workload.global_batch", "workload.micro_batch"})) return;
  if (t.global_batch % (std::uint64_t{p.dp} * t.micro_batch) != 0) return;  // an error of its own
  try {
    workloads::check_schedule(p.schedule, {p.pp, workloads::microbatches_of_replica(t), p.virtual_stages});
  } catch (const sim::InputError& e) {
    check.expect(false, check.blamed({"workload.parallel.schedule", "workload.parallel.virtual_stages"}), "{}", e.what());
  }
}

}  // namespace

void check_parallel(const TransformerSpec& t, Checker& check) {
  if (!check.readable({"workload.model", "workload.parallel"})) return;
  check_layers(t, check);
  check_pipeline(t, check);
}

}  // namespace traingraph::scenarios
