// A Result as CSV (RFC 4180, lines end in LF): a header and one line `name,value,unit` for every scalar of fields.h, then
// for every number and word of the lists that JSON has: `bounds.0.value_s`, `most_loaded_links.0.bytes`,
// `collectives.0.calls`. Times are exact decimals.
#pragma once

#include <string>

#include "analysis/result.h"

namespace traingraph::analysis {

[[nodiscard]] std::string to_csv(const Result& result, bool with_effort = false);

/// The text as one CSV value, quoted where it must be.
[[nodiscard]] std::string csv_value(const std::string& text);

}  // namespace traingraph::analysis
