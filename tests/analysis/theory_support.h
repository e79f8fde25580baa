// GPUs and small helpers for the tests of the closed-form model.
#pragma once

#include <string>
#include <vector>

#include "analysis/theory/limits.h"
#include "scenarios/limits_config.h"

namespace traingraph::analysis::theory::test {

/// A preset of scenarios/presets/theory, with overrides as on the command line.
inline LimitsQuestion question(const std::string& gpu, const std::vector<std::string>& overrides = {}) {
  return scenarios::load_limits_preset(gpu, overrides).question;
}

inline LayoutSearch search_for(const std::string& gpu, const std::vector<std::string>& overrides = {}) {
  const LimitsQuestion q = question(gpu, overrides);
  return LayoutSearch{q.gpu, q.assumptions};
}

}  // namespace traingraph::analysis::theory::test
