// The scenario that a command line names: a file, or stdin for "-", with its overrides.
#pragma once

#include "scenarios/cli/options.h"
#include "scenarios/scenario.h"

namespace traingraph::scenarios::cli {

[[nodiscard]] Scenario load_subject(const Options& options);

}  // namespace traingraph::scenarios::cli
