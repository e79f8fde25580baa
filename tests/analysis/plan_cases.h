// Random small planning problems and layouts of them, and what the simulation says of a layout.
#pragma once

#include <optional>

#include "analysis/plan/step_bound.h"
#include "scenarios/scenario.h"
#include "tests/sim/property.h"

namespace traingraph::analysis::plan::testing {

/// A scenario of one to four nodes and a small model; overlaps, number formats, software, experts, routing at random.
[[nodiscard]] scenarios::Scenario random_scenario(sim::tests::Dice& dice);

/// What of a scenario is planned.
[[nodiscard]] PlanProblem problem_of(const scenarios::Scenario& scenario);

/// A layout of all GPUs; many do not exist.
[[nodiscard]] PlanLayout random_layout(sim::tests::Dice& dice, const scenarios::Scenario& scenario);

struct Played {
  double seconds = 0;  ///< of one cold step
  double memory = 0;   ///< of the stage that needs most, bytes
};
/// Builds and simulates; nothing when the layout cannot be built.
[[nodiscard]] std::optional<Played> play(const scenarios::Scenario& scenario, const PlanLayout& layout);

}  // namespace traingraph::analysis::plan::testing
