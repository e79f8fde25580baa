#include "analysis/theory/closed_forms.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/theory/scaling.h"
#include "analysis/theory/word_cost.h"

namespace traingraph::analysis::theory {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUtilization = 0.8;
constexpr double kFlopPerParameterAndToken = 6;

// Of one collective over the fastest level, between two members.
using Cost = WordCost (*)(const Gpu&, const Assumptions&, const PerLevel&);
double least_latency(const Gpu& gpu, const Assumptions& a, Cost cost) {
  double least = kInfinity;
  for (std::size_t l = 0; l < gpu.levels.size(); ++l) {
    PerLevel pair;
    pair.fill(1);
    pair[l] = 2;
    least = std::min(least, cost(gpu, a, pair).latency_s);
  }
  return least;
}

double block_latency(const Gpu& gpu, const Assumptions& a) {
  const double kernel = gpu.matmul.matmul_latency_s;
  double one_way = (a.two_dimensional_tp ? 2 : 1) * least_latency(gpu, a, all_reduce_cost);
  if (a.experts > 1) one_way += 2 * least_latency(gpu, a, all_to_all_cost);
  const double gradients = 2 * kernel;
  return 4 * kernel + one_way + (a.defer_weight_gradients ? std::max(one_way, gradients) : one_way + gradients);
}

// d log(steps * blocks) / d log C.
double depth_of_time(const Assumptions& a) { return 0.5 + a.depth_exponent - a.batch_exponent; }

double wall_log10(const Assumptions& a, double block_latency_s) {
  const double exponent = depth_of_time(a);
  if (exponent <= 0 || block_latency_s <= 0) return kInfinity;
  const double batch = a.reference_batch * std::pow(a.experts / a.active_experts, a.batch_sparsity_exponent);
  const double tokens = std::sqrt(a.tokens_per_param * a.reference_compute / kFlopPerParameterAndToken);
  const double slack = a.duration_s * batch / (a.reference_layers * block_latency_s * tokens);
  return std::log10(a.reference_compute) + std::log10(slack) / exponent;
}

// log of G_max over the GPUs that 80 % utilization needs.
double room(const Gpu& gpu, const Assumptions& a, double log10_compute, double edge, double groups) {
  constexpr double kBase = 10;
  const ScaledRun run = scaled_run(std::pow(kBase, log10_compute), a);
  double gpus = std::log(groups);
  for (const double x : {run.residual, run.hidden, run.batch}) gpus += std::log1p(x / edge);
  return gpus - std::log(run.compute / (kUtilization * a.duration_s * gpu.sustained_flop_per_s()));
}

double bandwidth_log10(const Gpu& gpu, const Assumptions& a, double ell, double stages) {
  constexpr double kLowest = 10, kHighest = 60, kTolerance = 1e-9;
  constexpr double kCollectives = 3;
  if (ell == 0) return kInfinity;
  double inner = 1;
  for (std::size_t l = 0; l + 1 < gpu.levels.size(); ++l) inner *= gpu.levels[l].fan_out;
  const auto fits = [&](double x) { return room(gpu, a, x, kCollectives * ell, stages * inner) >= 0; };
  if (fits(kHighest)) return kInfinity;
  if (!fits(kLowest)) return -kInfinity;
  double low = kLowest, high = kHighest;
  while (high - low > kTolerance) {
    const double middle = (low + high) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace

ClosedForms closed_forms(const Gpu& record, const Assumptions& a, double pipeline_stages) {
  const Gpu gpu = with_word_bits(record, a.word_bits);
  ClosedForms forms;
  forms.pipeline_stages = pipeline_stages;
  forms.block_latency_s = block_latency(gpu, a);
  forms.wall_log10 = wall_log10(a, forms.block_latency_s);
  forms.latency_limit_log10 = forms.wall_log10;
  if (std::isfinite(forms.wall_log10)) forms.latency_limit_log10 += std::log10(1 - kUtilization) / depth_of_time(a);
  const double words = a.all_reduce == AllReduceKind::in_switch ? 2 : a.all_reduce_words;
  forms.words_per_cube_edge = words * gpu.matmul.word_bytes * gpu.sustained_flop_per_s() /
                              (kFlopPerParameterAndToken * gpu.levels.back().bytes_per_s);
  if (a.experts == 1) forms.bandwidth_log10 = bandwidth_log10(gpu, a, forms.words_per_cube_edge, pipeline_stages);
  return forms;
}

}  // namespace traingraph::analysis::theory
