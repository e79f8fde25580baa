// What the keys of a transformer's parallel layout say about each other.
#include <cstdint>
#include <numeric>
#include <string>

#include "scenarios/checks.h"
#include "workloads/parallel_rules.h"
#include "workloads/pipeline_map.h"
#include "workloads/stage_shape.h"

namespace traingraph::scenarios {

namespace {

using workloads::ParallelSpec;
using workloads::PipelineMap;
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

void check_options(const TransformerSpec& t, Checker& check) {
  if (!check.readable({"workload.global_batch", "workload.micro_batch"})) return;
  if (t.global_batch % (std::uint64_t{t.parallel.dp} * t.micro_batch) != 0) return;  // an error of its own
  for (const auto& [field, message] : workloads::parallel_problems(t)) {
    check.expect(false, fmt::format("workload.parallel.{}", field), "{}", message);
  }
}

}  // namespace

void check_parallel(const TransformerSpec& t, Checker& check) {
  if (!check.readable({"workload.model", "workload.parallel"})) return;
  check_layers(t, check);
  check_options(t, check);
}

}  // namespace traingraph::scenarios
