#include "analysis/theory/scenario_step.h"

#include <fmt/format.h>

#include <array>
#include <numeric>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/theory/two_level_network.h"

namespace traingraph::analysis::theory {
namespace {

using workloads::Algorithm;
using workloads::LinearBlocksSpec;
using workloads::TransformerSpec;

/// A step as the model takes it.
struct Question {
  ScaledRun run;
  Degrees degrees;
  Assumptions assumptions;
  std::string why_not;
};

/// One step is the whole run: tokens = batch.
ScaledRun one_step(double layers, double residual, double hidden, double batch) {
  constexpr double kFlopPerParameterAndToken = 6;
  ScaledRun run;
  run.layers = layers;
  run.residual = residual;
  run.hidden = hidden;
  run.params = 2 * residual * hidden * layers;
  run.batch = batch;
  run.tokens = batch;
  run.compute = kFlopPerParameterAndToken * run.params * batch;
  return run;
}

void set_all_reduce(Assumptions& a, Algorithm algorithm) {
  constexpr double kBothDirections = 4;
  a.all_reduce_words = kBothDirections;
  a.latency = algorithm == Algorithm::ring ? LatencyKind::ring : LatencyKind::direct;
  if (algorithm == Algorithm::in_switch) a.all_reduce = AllReduceKind::in_switch;
}

/// Spreads total degrees, fastest first, over a domain of `domain` GPUs and what lies beyond it.
void fill_inner(Degrees& degrees, const std::vector<std::pair<Dimension, std::uint32_t>>& totals, std::uint32_t domain,
                std::size_t levels) {
  std::uint32_t rest = levels == 1 ? 1 : domain;
  for (const auto& [dimension, total] : totals) {
    const std::uint32_t inner = std::gcd(total, rest);
    rest /= inner;
    PerLevel& at = degrees.levels[dimension];
    at[levels - 1] = static_cast<double>(total) / inner;
    if (levels > 1) at[0] = inner;
  }
}

Question question_of(const LinearBlocksSpec& s, std::size_t levels, std::uint32_t) {
  Question q;
  if (s.tp_ff.size() != levels) {
    q.why_not =
        fmt::format("the layout lists degrees for {} network levels, the fabric is seen as {}", s.tp_ff.size(), levels);
    return q;
  }
  q.run = one_step(s.blocks, s.hidden, s.ff, s.batch_tokens);
  q.run.experts = s.experts;
  q.run.active = s.active_experts;
  q.run.params *= s.active_experts;
  q.run.compute *= s.active_experts;
  q.degrees.microbatches = s.microbatches;
  for (std::size_t l = 0; l < levels; ++l) {
    q.degrees.levels[kTensorHidden][l] = s.tp_ff[l];
    q.degrees.levels[kTensorModel][l] = s.tp_hidden[l];
    if (!s.ep.empty()) q.degrees.levels[kExpert][l] = s.ep[l];
    q.degrees.levels[kPipeline][l] = s.pp[l];
    q.degrees.levels[kData][l] = s.dp[l];
  }
  q.assumptions.interleave = s.virtual_stages;
  q.assumptions.defer_weight_gradients = s.defer_weight_gradients;
  q.assumptions.all_weights_resident = s.keep_weights_resident;
  set_all_reduce(q.assumptions, s.tp_all_reduce);
  return q;
}

Question question_of(const TransformerSpec& s, std::size_t levels, std::uint32_t domain) {
  constexpr double kBitsPerByte = 8;
  const workloads::ModelSpec& model = s.model;
  const workloads::ParallelSpec& p = s.parallel;
  Question q;
  const double hidden = static_cast<double>(workloads::layer_parameter_count(model)) / (2.0 * model.hidden);
  q.run = one_step(model.layers, model.hidden, hidden, static_cast<double>(s.global_batch) * model.sequence);
  q.degrees.microbatches = static_cast<double>(s.global_batch) / (static_cast<double>(p.dp) * s.micro_batch);

  const std::array<std::pair<std::string_view, std::pair<Dimension, std::uint32_t>>, 3> names{
      {{"tp", {kTensorHidden, p.tp}}, {"dp", {kData, p.dp}}, {"pp", {kPipeline, p.pp}}}};
  std::vector<std::pair<Dimension, std::uint32_t>> totals;
  for (std::size_t at = 0; at < p.order.size(); at += 3) {  // "tp-cp-ep-dp-pp"
    for (const auto& [name, total] : names) {
      if (p.order.compare(at, name.size(), name) == 0) totals.push_back(total);
    }
  }
  fill_inner(q.degrees, totals, domain, levels);
  q.assumptions.interleave = 1;
  q.assumptions.defer_weight_gradients = p.overlap_tp_backward;
  q.assumptions.word_bits = kBitsPerByte * element_bytes(s.precision);
  set_all_reduce(q.assumptions, s.algorithms.tp_all_reduce);
  return q;
}

template <class Other>
Question question_of(const Other&, std::size_t, std::uint32_t) {
  Question q;
  q.why_not = "the model knows training steps only";
  return q;
}

}  // namespace

ScenarioStepAnswer scenario_step(const topology::ClusterSpec& cluster, const workloads::HardwareSpec& hardware,
                                 const workloads::WorkloadSpec& workload, std::uint64_t ranks) {
  TwoLevelNetwork network = two_level_network(cluster);
  if (!network.why_not.empty()) return {std::nullopt, std::move(network.why_not)};
  const std::size_t levels = network.levels.size();
  const auto domain = static_cast<std::uint32_t>(network.levels.front().fan_out);
  const Question q = std::visit([&](const auto& job) { return question_of(job, levels, domain); }, workload.job);
  if (!q.why_not.empty()) return {std::nullopt, q.why_not};
  if (q.degrees.gpus() != static_cast<double>(ranks)) {
    return {std::nullopt, fmt::format("the model sees {} of the {} ranks: the layout has other dimensions than tensor, "
                                      "pipeline and data parallelism",
                                      q.degrees.gpus(), ranks)};
  }
  if (!hardware.matmul) {
    return {std::nullopt, fmt::format("hardware '{}' has no matmul section, which its products need", hardware.name)};
  }

  const Gpu gpu{hardware.name, *hardware.matmul, network.levels};
  Assumptions exposed = q.assumptions;
  exposed.overlap = false;
  ScenarioStep step;
  step.levels = levels;
  step.degrees = q.degrees;
  step.gpu = gpu;
  step.hidden = StepModel{gpu, q.assumptions}.times(q.run, q.degrees);
  step.exposed = StepModel{gpu, exposed}.times(q.run, q.degrees);
  return {std::move(step), {}};
}

}  // namespace traingraph::analysis::theory
