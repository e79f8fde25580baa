#include "analysis/theory/sensitivity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>

#include "analysis/theory/latency_wall.h"

namespace traingraph::analysis::theory {
namespace {

struct Input {
  std::string name;
  double value = 0;
  std::function<void(LimitsQuestion&, double factor)> scale;
  double factor = 2;
};

/// An input that is a plain number of the assumptions.
Input number(const LimitsQuestion& base, std::string name, double Assumptions::*member) {
  return {std::move(name), base.assumptions.*member,
          [member](LimitsQuestion& q, double factor) { q.assumptions.*member *= factor; }};
}

/// An input of the matmul record: a number, a size or a rate.
template <class T>
Input kernel(const LimitsQuestion& base, std::string name, T workloads::MatmulSpec::*member, double factor = 2) {
  const T& value = base.gpu.matmul.*member;
  double magnitude = 0;
  if constexpr (std::is_same_v<T, double>) magnitude = value;
  if constexpr (std::is_same_v<T, sim::Bytes>) magnitude = value.count();
  if constexpr (std::is_same_v<T, sim::Bandwidth>) magnitude = value.bytes_per_s();
  return {std::move(name), magnitude,
          [member](LimitsQuestion& q, double f) { q.gpu.matmul.*member = q.gpu.matmul.*member * f; }, factor};
}

/// An input of one network level.
Input network(const LimitsQuestion& base, std::size_t level, std::string_view name, double NetworkLevel::*member) {
  return {fmt::format("gpu.network[{}].{}", level, name), base.gpu.levels[level].*member,
          [level, member](LimitsQuestion& q, double factor) { q.gpu.levels[level].*member *= factor; }};
}

std::vector<Input> hardware_inputs(const LimitsQuestion& base) {
  using workloads::MatmulSpec;
  constexpr double kShareFactor = 1.1;
  std::vector<Input> inputs{
      kernel(base, "gpu.matmul.flop_per_clock_per_sm", &MatmulSpec::flop_per_clock_per_sm),
      kernel(base, "gpu.matmul.sms", &MatmulSpec::sms),
      kernel(base, "gpu.matmul.clock", &MatmulSpec::clock_hz),
      kernel(base, "gpu.matmul.sustained_clock_fraction", &MatmulSpec::sustained_clock_fraction, kShareFactor),
      kernel(base, "gpu.matmul.register_block", &MatmulSpec::register_block),
      kernel(base, "gpu.matmul.l2_size", &MatmulSpec::l2_size),
      kernel(base, "gpu.matmul.l2_bandwidth", &MatmulSpec::l2_bandwidth),
      kernel(base, "gpu.matmul.memory_bandwidth", &MatmulSpec::memory_bandwidth),
      kernel(base, "gpu.matmul.latency", &MatmulSpec::matmul_latency_s)};
  if (base.assumptions.memory_limit) inputs.push_back(kernel(base, "gpu.matmul.memory_size", &MatmulSpec::memory_size));
  for (std::size_t l = 0; l < base.gpu.levels.size(); ++l) {
    inputs.push_back(network(base, l, "bandwidth", &NetworkLevel::bytes_per_s));
    inputs.push_back(network(base, l, "latency", &NetworkLevel::latency_s));
    if (l + 1 < base.gpu.levels.size()) inputs.push_back(network(base, l, "group", &NetworkLevel::fan_out));
  }
  return inputs;
}

std::vector<Input> run_inputs(const LimitsQuestion& base) {
  std::vector<Input> inputs;
  const auto add = [&](std::string name, double Assumptions::*member) {
    inputs.push_back(number(base, std::move(name), member));
  };
  const Assumptions& a = base.assumptions;
  add("tokens_per_param", &Assumptions::tokens_per_param);
  add("reference_compute", &Assumptions::reference_compute);
  add("reference_batch", &Assumptions::reference_batch);
  add("reference_layers", &Assumptions::reference_layers);
  add("batch_exponent", &Assumptions::batch_exponent);
  add("depth_exponent", &Assumptions::depth_exponent);
  add("hidden_ratio", &Assumptions::hidden_ratio);
  add("duration", &Assumptions::duration_s);
  add("batch_sparsity_exponent", &Assumptions::batch_sparsity_exponent);
  add("word_bits", &Assumptions::word_bits);
  if (a.experts >= 2 * a.active_experts) add("experts", &Assumptions::experts);
  if (a.active_experts >= 2 && a.experts >= 2 * a.active_experts) add("active_experts", &Assumptions::active_experts);
  if (a.all_reduce == AllReduceKind::factor) add("all_reduce_words", &Assumptions::all_reduce_words);
  if (a.latency == LatencyKind::factor) add("latency_factor", &Assumptions::latency_factor);
  if (a.interleave >= 2) add("interleave", &Assumptions::interleave);
  add("min_tokens", &Assumptions::min_tokens);
  return inputs;
}

std::optional<Elasticity> elasticity(double below, double above, double factor) {
  if (!std::isfinite(below) || !std::isfinite(above)) return std::nullopt;
  return Elasticity{below, above, (above - below) / (2 * std::log10(factor))};
}

/// Where scans under changed inputs start: far enough below the limit, on the grid of the base.
double scan_start(const Limits& base) {
  constexpr double kMargin = 40;  // grid steps: two orders of magnitude
  const double start = std::log10(base.question.scan.limit_from);
  const double first = base.linear.first.value_or(start);
  const double steps = std::isfinite(first) ? std::floor((first - start) / kScanStep) - kMargin : 0;
  return start + kScanStep * std::max(0.0, steps);
}

/// log10 of the first crossing; NaN: there is none.
double linear_log10(const LayoutSearch& search, const Limits& base) {
  const double start = std::log10(base.question.scan.limit_from);
  const double late = scan_start(base);
  LinearLimit limit = linear_scaling_limit(search, late);
  if (!limit.first && late > start) limit = linear_scaling_limit(search, start);
  return limit.first.value_or(std::nan(""));
}

struct Changed {
  double linear_log10 = 0;
  double wall_log10 = 0;
};

Changed limits_with(const Limits& base, const Input& input, double factor) {
  LimitsQuestion question = base.question;
  input.scale(question, factor);
  const LayoutSearch search{question.gpu, question.assumptions};
  return {linear_log10(search, base), latency_wall(search)};
}

}  // namespace

std::vector<InputSensitivity> limits_sensitivity(const Limits& base) {
  std::vector<Input> inputs = hardware_inputs(base.question);
  std::vector<Input> further = run_inputs(base.question);
  std::move(further.begin(), further.end(), std::back_inserter(inputs));
  std::vector<InputSensitivity> result;
  for (const Input& input : inputs) {
    if (input.value == 0 || !std::isfinite(input.value)) continue;
    const Changed below = limits_with(base, input, 1 / input.factor);
    const Changed above = limits_with(base, input, input.factor);
    result.push_back({input.name, input.factor, elasticity(below.linear_log10, above.linear_log10, input.factor),
                      elasticity(below.wall_log10, above.wall_log10, input.factor)});
  }
  return result;
}

}  // namespace traingraph::analysis::theory
