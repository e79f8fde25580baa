// A Result as JSON, schema "traingraph/run/1": the scalars of fields.h nested by name, and the lists (bounds, most loaded
// links, collectives). SI base units, each in its key. Keys keep one order, so equal results print equal text.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "analysis/result.h"

namespace traingraph::analysis {

[[nodiscard]] nlohmann::ordered_json to_json(const Result& result, bool with_effort = false);

}  // namespace traingraph::analysis
