// A Result for people: one table for a terminal of 100 columns, plain text, no colour. Numbers are those of json.h, rounded.
#pragma once

#include <string>

#include "analysis/result.h"

namespace traingraph::analysis {

/// Columns that no line exceeds.
inline constexpr std::size_t kTextWidth = 100;

[[nodiscard]] std::string to_text(const Result& result);

/// Shortens a UTF-8 text to `width` columns, "..." in its middle; names keep their begin and end.
[[nodiscard]] std::string shortened(const std::string& text, std::size_t width);

}  // namespace traingraph::analysis
