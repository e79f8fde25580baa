// LimitsQuery: a question to the closed-form model as a page of sliders asks it: a GPU preset, overrides, and factors on
// what the preset says. The factors become overrides of their own, so that a query is always one that the command line can
// ask too:
//
//     traingraph limits --gpu GPU --set ... --set ...
#pragma once

#include <string>
#include <vector>

#include "scenarios/limits_config.h"

namespace traingraph::scenarios {

struct LimitsQuery {
  std::string gpu = "h100";            ///< a preset of scenarios/presets/theory
  std::vector<std::string> overrides;  ///< "a.b=c"; applied first
  double network_bandwidth = 1;        ///< factor on every network level; an unlimited one stays so
  double network_latency = 1;          ///< factor on every network level
  double flop_rate = 1;                ///< factor on FLOP per clock and SM
  double memory_bandwidth = 1;         ///< factor
};

/// The factors that a query may have.
inline constexpr double kLeastFactor = 1e-6;
inline constexpr double kMostFactor = 1e6;

/// All overrides of the query: its own, then those of its factors. Throws ScenarioError as load_limits_preset(), and
/// sim::InputError for a factor out of range.
[[nodiscard]] std::vector<std::string> overrides_of(const LimitsQuery& query);

}  // namespace traingraph::scenarios
