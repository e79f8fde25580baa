// What the keys of a transformer's parallel layout say about each other.
#include <cstdint>
#include <numeric>
#include <string>

#include "scenarios/checks.h"
#include "sim/error.h"
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

/// Whether the layers can be dealt out over the stages; if not, check_layers has said why.
bool layers_fit(const TransformerSpec& t) {
  try {
    return !workloads::layers_of_positions(t).empty();
  } catch (const sim::InputError&) {
    return false;
  }
}

void check_experts(const workloads::ModelSpec& m, Checker& check) {
  const workloads::MoeSpec& moe = m.moe;
  check.expect(moe.experts > 0 || (moe.experts_per_token == 0 && moe.ffn == 0 && moe.shared_ffn == 0), "workload.model.moe",
               "needs experts above 0");
  if (moe.experts == 0) return;
  check.expect(moe.experts_per_token >= 1 && moe.experts_per_token <= moe.experts, "workload.model.moe.experts_per_token",
               "is {}; allowed: 1 to the {} experts", moe.experts_per_token, moe.experts);
  check.expect(moe.ffn > 0, "workload.model.moe.ffn", "must be at least 1");
  check.expect(m.moe_layers() > 0, "workload.model.moe.dense_layers", "and every leave no layer with experts");
}

void check_options(const TransformerSpec& t, Checker& check) {
  if (!check.readable({"workload.global_batch", "workload.micro_batch", "workload.routing"})) return;
  if (t.global_batch % (std::uint64_t{t.parallel.dp} * t.micro_batch) != 0) return;  // an error of its own
  for (const auto& [field, message] : workloads::parallel_problems(t)) {
    check.expect(false, fmt::format("workload.parallel.{}", field), "{}", message);
  }
  if (!layers_fit(t)) return;
  for (const auto& [field, message] : workloads::recompute_problems(t)) {
    check.expect(false, fmt::format("workload.{}", field), "{}", message);
  }
  for (const auto& [field, message] : workloads::routing_problems(t)) {
    check.expect(false, fmt::format("workload.routing.{}", field), "{}", message);
  }
}

}  // namespace

void check_parallel(const TransformerSpec& t, Checker& check) {
  if (!check.readable({"workload.model", "workload.parallel"})) return;
  check_layers(t, check);
  check_experts(t.model, check);
  check_options(t, check);
}

}  // namespace traingraph::scenarios
