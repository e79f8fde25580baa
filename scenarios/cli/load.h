// The scenario that a command line names: a file, or stdin for "-", with its overrides.
#pragma once

#include "scenarios/cli/options.h"
#include "scenarios/scenario.h"

namespace traingraph::scenarios::cli {

[[nodiscard]] Scenario load_subject(const Options& options);

/// The cluster `name`: a preset, a scenario's, or a file of `traingraph import`; with the overrides. `verb` is for the
/// message when there is none. Throws UsageError.
[[nodiscard]] topology::ClusterSpec load_cluster(const Options& options, const std::string& name, std::string_view verb);

}  // namespace traingraph::scenarios::cli
