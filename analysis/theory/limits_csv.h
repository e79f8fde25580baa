// The main table of a LimitsReport as CSV: of one GPU its curve, of several a row each with their limits. SI base units,
// named in the head; an unlimited limit is `inf`, one that does not exist is empty.
#pragma once

#include <string>

#include "analysis/theory/limits_report.h"

namespace traingraph::analysis::theory {

[[nodiscard]] std::string to_csv(const LimitsReport& report);

}  // namespace traingraph::analysis::theory
