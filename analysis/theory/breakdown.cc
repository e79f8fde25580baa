#include "analysis/theory/breakdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace traingraph::analysis::theory {
namespace {

double sum(const PerLevel& values) {
  double total = 0;
  for (const double v : values) total += v;
  return total;
}

std::size_t busiest_level(const StepTimes& t) {
  return static_cast<std::size_t>(std::max_element(t.network_s.begin(), t.network_s.end()) - t.network_s.begin());
}

// Of the products, the limit that takes longest.
Binding limit_of_kernels(const StepTimes& t) {
  const std::array<std::pair<double, Binding>, 5> limits{{{t.kernels.arithmetic_s, Binding::arithmetic},
                                                          {t.kernels.memory_s, Binding::memory},
                                                          {t.kernels.l2_s, Binding::l2},
                                                          {t.kernels.sm_network_s, Binding::sm_network},
                                                          {t.kernel_latency_s, Binding::kernel_latency}}};
  return std::max_element(limits.begin(), limits.end(), [](const auto& a, const auto& b) { return a.first < b.first; })
      ->second;
}

}  // namespace

Breakdown breakdown(const StepTimes& t, const StepModel& model) {
  Breakdown b;
  b.arithmetic = t.ideal_s / t.step_s;
  b.kernels = (t.arithmetic_s - t.ideal_s) / t.step_s;
  b.bubble = t.bubble_s / t.step_s;
  b.tail = t.tail_s / t.step_s;
  double exposed = (t.steady_s - t.arithmetic_s) / t.step_s;
  if (!model.assumptions().overlap) {
    for (std::size_t l = 0; l < model.levels(); ++l) b.network[l] = t.block_network_s[l] / t.step_s;
    exposed -= sum(b.network);
  }
  (t.steady_s == t.serial_s ? b.latency : b.network[busiest_level(t)]) += exposed;
  return b;
}

Binds binds(const StepTimes& t, const StepModel& model) {
  if (t.bubble_s > t.steady_s) return {Binding::bubble};
  if (t.steady_s == t.serial_s) return {Binding::latency};
  const std::size_t level = busiest_level(t);
  const double traffic = model.assumptions().overlap ? t.network_s[level] : sum(t.block_network_s) + t.gradient_s;
  if (traffic > t.arithmetic_s) return {Binding::network, static_cast<int>(level)};
  return {limit_of_kernels(t)};
}

std::string to_string(const Binds& binds) {
  switch (binds.what) {
    case Binding::arithmetic:
      return "arithmetic";
    case Binding::memory:
      return "memory";
    case Binding::l2:
      return "L2 cache";
    case Binding::sm_network:
      return "SM network";
    case Binding::kernel_latency:
      return "kernel latency";
    case Binding::network:
      return fmt::format("network {}", binds.level);
    case Binding::latency:
      return "latency";
    case Binding::bubble:
      break;
  }
  return "bubble";
}

}  // namespace traingraph::analysis::theory
