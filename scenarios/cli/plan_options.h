// What the options of `plan` mean.
#pragma once

#include "scenarios/cli/options.h"
#include "scenarios/plan_scenario.h"

namespace traingraph::scenarios::cli {

/// Throws UsageError: what was found, what is allowed.
[[nodiscard]] PlanQuestion plan_question(const Options& options);
/// The scenario, read or put together from presets.
[[nodiscard]] Scenario plan_subject(const Options& options);

}  // namespace traingraph::scenarios::cli
