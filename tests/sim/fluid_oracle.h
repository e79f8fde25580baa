// An independent, slow play of fluid transfers whose starts are known: between two events all rates come from
// max_min_oracle.h, and time is a double. O(instants x flows x rounds). Shares nothing with sim.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "tests/sim/max_min_oracle.h"

namespace traingraph::sim::tests {

struct FluidFlow {
  OracleFlow flow;
  double start_s = 0;
  double bytes = 0;
};
struct FluidChange {
  double at_s = 0;
  std::uint32_t link = 0;
  double bytes_per_s = 0;
};
struct FluidResult {
  std::vector<double> ends_s;
  std::size_t most_levels = 0;  ///< distinct levels at one instant
};

[[nodiscard]] inline FluidResult play_fluids(std::vector<double> capacity, std::vector<FluidChange> changes,
                                             const std::vector<FluidFlow>& flows) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::ranges::stable_sort(changes, {}, &FluidChange::at_s);
  FluidResult result;
  result.ends_s.assign(flows.size(), kNever);
  std::vector<double> left;
  for (const FluidFlow& f : flows) left.push_back(f.bytes);
  double now = 0;
  std::size_t change = 0;
  while (true) {
    for (; change < changes.size() && changes[change].at_s <= now; ++change)
      capacity[changes[change].link] = changes[change].bytes_per_s;
    std::vector<std::size_t> active;
    std::vector<OracleFlow> draining;
    double next = change < changes.size() ? changes[change].at_s : kNever;
    for (std::size_t f = 0; f < flows.size(); ++f) {
      if (result.ends_s[f] < kNever) continue;
      if (flows[f].start_s > now) {
        next = std::min(next, flows[f].start_s);
        continue;
      }
      active.push_back(f);
      draining.push_back(flows[f].flow);
    }
    const std::vector<double> level = oracle_levels(capacity, draining);
    std::vector<double> rate;
    for (std::size_t i = 0; i < active.size(); ++i) {
      const OracleFlow& f = draining[i];
      rate.push_back(f.cap > 0 && level[i] * f.weight >= f.cap ? f.cap : level[i] * f.weight);
      if (rate[i] > 0) next = std::min(next, now + left[active[i]] / rate[i]);
    }
    std::vector<double> sorted = level;
    std::ranges::sort(sorted);
    std::size_t levels = sorted.empty() ? 0 : 1;
    for (std::size_t i = 1; i < sorted.size(); ++i) levels += sorted[i] > sorted[i - 1] * (1 + 1e-9);
    result.most_levels = std::max(result.most_levels, levels);
    if (next == kNever) return result;
    for (std::size_t i = 0; i < active.size(); ++i) {
      const std::size_t f = active[i];
      // Ends within a tenth of a picosecond are one instant.
      if (rate[i] > 0 && now + left[f] / rate[i] <= next + 1e-13) result.ends_s[f] = next;
      left[f] = std::max(0.0, left[f] - rate[i] * (next - now));
    }
    now = next;
  }
}

}  // namespace traingraph::sim::tests
