// LimitsConfig: what `traingraph limits` is asked, as plain values, and where each value came from.
//
// A file is one YAML document whose keys are the assumptions of the closed-form model, the GPU and the range of training
// computes; every key is listed, with type, default, meaning and source, by describe_limits_schema(). `gpu` names a preset
// of scenarios/presets/theory or holds a map. An override `a.b=c` may reach into a preset's list (`gpu.network[1].latency=1
// us`). All errors of a file are reported together (ScenarioError), as for scenarios.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/theory/limits.h"
#include "scenarios/fields.h"
#include "scenarios/provenance.h"

namespace traingraph::scenarios {

struct LimitsConfig {
  std::string name;  ///< the file's stem, or "paper"
  analysis::theory::LimitsQuestion question;
  Provenance provenance;
};

void fields(Fields& f, LimitsConfig& config);

/// The paper's assumptions for a preset of scenarios/presets/theory, by the file's name or the GPU's own, with overrides.
/// Throws ScenarioError.
[[nodiscard]] LimitsConfig load_limits_preset(std::string_view gpu, const std::vector<std::string>& overrides = {});
/// A file with assumptions; `gpu`, if not empty, replaces the file's. Throws ScenarioError, or sim::InputError when the file
/// cannot be read.
[[nodiscard]] LimitsConfig load_limits(const std::filesystem::path& file, std::string_view gpu = {},
                                       const std::vector<std::string>& overrides = {});

/// The question as YAML with every default filled in and each value's source as a comment; loads again to the same values.
[[nodiscard]] std::string effective_yaml(const LimitsConfig& config);

/// The list of all keys: path, type, default, meaning, source.
[[nodiscard]] std::string describe_limits_schema();

}  // namespace traingraph::scenarios
