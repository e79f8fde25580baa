// A LimitsReport as text for a terminal.
#pragma once

#include <string>

#include "analysis/theory/limits_report.h"

namespace traingraph::analysis::theory {

[[nodiscard]] std::string to_text(const LimitsReport& report);

}  // namespace traingraph::analysis::theory
