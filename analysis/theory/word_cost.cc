#include "analysis/theory/word_cost.h"

#include <algorithm>

namespace traingraph::analysis::theory {
namespace {

double seconds_per_word(const Gpu& gpu, std::size_t level) { return gpu.matmul.word_bytes / gpu.levels[level].bytes_per_s; }

double words_per_word(const Assumptions& a, double p) {
  return a.all_reduce == AllReduceKind::in_switch ? 2 * p / (p - 1) : a.all_reduce_words;
}

double latency_multiple(const Assumptions& a, double p) {
  switch (a.latency) {
    case LatencyKind::ring:
      return 2 * (p - 1);
    case LatencyKind::direct:
      return 2;
    case LatencyKind::factor:
      break;
  }
  return a.latency_factor;
}

/// Adds a level's latency, as often as `multiple` says, to what a call has paid so far.
void add_latency(WordCost& cost, const Assumptions& a, double latency_s, double multiple) {
  const double paid = latency_s * multiple;
  cost.latency_s = a.latency_sum == LatencySum::sum ? cost.latency_s + paid : std::max(cost.latency_s, paid);
}

}  // namespace

WordCost all_reduce_cost(const Gpu& gpu, const Assumptions& a, const PerLevel& degrees) {
  WordCost cost;
  double inner = 1;  // members below this level
  for (std::size_t l = 0; l < gpu.levels.size(); ++l) {
    const double p = degrees[l];
    if (p > 1) {
      cost.busy_s[l] = words_per_word(a, p) * (p - 1) / p / inner * seconds_per_word(gpu, l);
      cost.busy_sum_s += cost.busy_s[l];
      add_latency(cost, a, gpu.levels[l].latency_s, latency_multiple(a, p));
    }
    inner *= p;
  }
  return cost;
}

WordCost all_to_all_cost(const Gpu& gpu, const Assumptions& a, const PerLevel& degrees) {
  WordCost cost;
  double all = 1;
  for (const double p : degrees) all *= p;
  double inner = 1;
  for (std::size_t l = 0; l < gpu.levels.size(); ++l) {
    const double p = degrees[l];
    if (p > 1) {
      cost.busy_s[l] = 2 * ((p - 1) * inner / all) * seconds_per_word(gpu, l);
      cost.busy_sum_s += cost.busy_s[l];
      add_latency(cost, a, gpu.levels[l].latency_s, 1);
    }
    inner *= p;
  }
  return cost;
}

WordCost stage_boundary_cost(const Gpu& gpu, const Assumptions& a, const PerLevel& degrees) {
  WordCost cost;
  if (!a.pipeline_traffic) return cost;
  for (std::size_t l = gpu.levels.size(); l-- > 0;) {
    if (degrees[l] <= 1) continue;
    cost.busy_s[l] = 2 * seconds_per_word(gpu, l);
    cost.busy_sum_s = cost.busy_s[l];
    cost.latency_s = gpu.levels[l].latency_s;
    break;
  }
  return cost;
}

}  // namespace traingraph::analysis::theory
