// Colours for a terminal, laid over text that is complete without them.
#pragma once

#include <string>
#include <string_view>

namespace traingraph::scenarios::cli {

/// Headings (the first line, and every line that follows an empty one) in bold; the bound that binds too.
[[nodiscard]] std::string paint_summary(std::string_view text);

/// Comments dim.
[[nodiscard]] std::string paint_yaml(std::string_view text);

}  // namespace traingraph::scenarios::cli
