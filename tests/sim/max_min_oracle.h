// An independent, slow max-min solver, and what its systems look like: plain progressive filling with doubles, everything
// looked at in every round. O(rounds x flows x hops). Shares nothing with sim/max_min.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace traingraph::sim::tests {

struct OracleHop {
  std::uint32_t link = 0;
  double fraction = 1;
};

struct OracleFlow {
  std::vector<OracleHop> hops;
  double weight = 1;
  double cap = 0;  ///< 0: none
};

/// The level of every flow; infinity where nothing bounds it.
[[nodiscard]] inline std::vector<double> oracle_levels(const std::vector<double>& capacity,
                                                       const std::vector<OracleFlow>& flows) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> level(flows.size(), kInfinity);
  std::vector<bool> frozen(flows.size(), false);
  while (true) {
    std::vector<double> used(capacity.size(), 0), open(capacity.size(), 0);
    for (std::size_t f = 0; f < flows.size(); ++f)
      for (const OracleHop& hop : flows[f].hops)
        (frozen[f] ? used : open)[hop.link] += hop.fraction * flows[f].weight * (frozen[f] ? level[f] : 1);
    const auto limit = [&](const OracleFlow& flow) {
      double lowest = flow.cap > 0 ? flow.cap / flow.weight : kInfinity;
      for (const OracleHop& hop : flow.hops)
        lowest = std::min(lowest, std::max(0.0, capacity[hop.link] - used[hop.link]) / open[hop.link]);
      return lowest;
    };
    double next = kInfinity;
    for (std::size_t f = 0; f < flows.size(); ++f)
      if (!frozen[f]) next = std::min(next, limit(flows[f]));
    if (next == kInfinity) return level;
    std::vector<std::size_t> stops;
    for (std::size_t f = 0; f < flows.size(); ++f)
      if (!frozen[f] && limit(flows[f]) <= next * (1 + 1e-12)) stops.push_back(f);
    for (const std::size_t f : stops) {
      frozen[f] = true;
      level[f] = next;
    }
  }
}

}  // namespace traingraph::sim::tests
