#include "analysis/theory/kernel_table.h"

#include "analysis/theory/power_of_two.h"

namespace traingraph::analysis::theory {
namespace {

double expert_tokens(const ScaledRun& run, int exponent) {
  return run.batch * power_of_two(-exponent) * run.active / run.experts;
}

}  // namespace

KernelTable::KernelTable(const StepModel& model, const ScaledRun& run, const ExponentCaps& caps)
    : model_{model}, run_{run}, caps_{caps} {
  const bool by_stage = model.assumptions().all_weights_resident;
  if (!by_stage) caps_.pipeline = 0;
  const auto size = [](int cap) { return static_cast<std::size_t>(cap) + 1; };
  shapes_.resize(size(caps.hidden) * size(caps.model));
  times_.resize(size(caps.data) * size(caps_.pipeline) * size(caps.expert) * size(caps.hidden) * size(caps.model));
  for (int e = 0; e <= caps.data; ++e) {
    padded_tokens_.push_back(workloads::padded_dimension(expert_tokens(run, e)));
  }
  const double rate = model.gpu().sustained_flop_per_s();
  for (int e = 0; e <= caps.hidden; ++e) {
    hidden_flop_s_.push_back(2 * workloads::padded_dimension(run.hidden * power_of_two(-e)) / rate);
  }
  for (int e = 0; e <= caps.model; ++e) {
    padded_model_.push_back(workloads::padded_dimension(run.residual * power_of_two(-e)));
  }
}

std::size_t KernelTable::index(const KernelKey& key) const {
  const auto next = [](std::size_t at, int value, int cap) {
    return at * (static_cast<std::size_t>(cap) + 1) + static_cast<std::size_t>(value);
  };
  std::size_t at = static_cast<std::size_t>(key.tokens);
  at = next(at, caps_.pipeline == 0 ? 0 : key.pipeline, caps_.pipeline);
  at = next(at, key.expert, caps_.expert);
  at = next(at, key.hidden, caps_.hidden);
  return next(at, key.model, caps_.model);
}

const BlockTimes& KernelTable::exact(const KernelKey& key) {
  BlockTimes& times = times_[index(key)];
  if (times.forward_s == 0) times = compute(key);
  return times;
}

BlockTimes KernelTable::compute(const KernelKey& key) {
  const workloads::MatmulSpec& gpu = model_.gpu().matmul;
  const auto shape = static_cast<std::size_t>(key.hidden * (caps_.model + 1) + key.model);
  if (!shapes_[shape]) {
    const double d1 = run_.hidden * power_of_two(-key.hidden);
    const double d2 = run_.residual * power_of_two(-key.model);
    shapes_[shape].emplace(Shapes{workloads::TiledMatmul{gpu, d1, d2}, workloads::TiledMatmul{gpu, d2, d1}});
  }
  const auto& [up, down] = *shapes_[shape];
  const double nx = run_.experts * power_of_two(-key.expert);
  const double blocks = run_.layers * power_of_two(-key.pipeline);
  const double held = model_.assumptions().all_weights_resident ? 2 * nx * blocks : 1;
  const double b = expert_tokens(run_, key.tokens);
  return {nx * (up.seconds(b, false, held) + down.seconds(b, false, held)),
          nx * (up.seconds(b, true, held) + down.seconds(b, true, held))};
}

double KernelTable::least(const KernelKey& key) const {
  const double arithmetic = hidden_flop_s_[static_cast<std::size_t>(key.hidden)] *
                            padded_model_[static_cast<std::size_t>(key.model)] *
                            padded_tokens_[static_cast<std::size_t>(key.tokens)];
  return 2 * run_.experts * power_of_two(-key.expert) * (model_.gpu().matmul.matmul_latency_s + arithmetic);
}

}  // namespace traingraph::analysis::theory
