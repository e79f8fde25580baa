// From a scenario to a plan: its model, batch, precision and options on its cluster, in every layout.
//
// The scenario's own layout does not matter, but for the dimensions that are kept. Ranks fill the cluster in order; steps
// are single, cold ones. For other numbers of GPUs than the cluster's the number of its nodes is changed.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/plan/plan_report.h"
#include "scenarios/scenario.h"

namespace traingraph::scenarios {

struct PlanQuestion {
  std::vector<std::uint32_t> gpus;  ///< empty: all of the cluster's
  std::vector<std::string> keep;    ///< dimensions that stay as the scenario has them: names of kept_dimensions()
  std::optional<double> tokens, deadline_s;
  analysis::plan::PlanLimits limits;
};

[[nodiscard]] const std::vector<std::string>& kept_dimensions();

/// Throws sim::InputError for scenarios that are no transformers, random or listed placements, the ideal network, and GPUs
/// that are not whole nodes.
[[nodiscard]] analysis::plan::PlanReport plan_scenario(const Scenario& scenario, const PlanQuestion& question);

/// A scenario from its parts, each a preset's name or a value, for those who have no file.
struct PlanParts {
  std::string model, cluster, hardware;
  std::optional<std::string> batch, sequence, precision;
};
[[nodiscard]] Scenario scenario_of(const PlanParts& parts, const std::vector<std::string>& overrides);

}  // namespace traingraph::scenarios
