// A LimitsReport as JSON, schema "traingraph/limits/1". SI base units, each in its key; a limit that does not exist is null
// in "flop" and says why in "state".
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "analysis/theory/limits_report.h"

namespace traingraph::analysis::theory {

[[nodiscard]] nlohmann::ordered_json to_json(const LimitsReport& report);

}  // namespace traingraph::analysis::theory
