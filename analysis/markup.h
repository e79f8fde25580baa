// Text that stands in XML or HTML.
#pragma once

#include <string>
#include <string_view>

namespace traingraph::analysis {

/// `text` with the characters that mean something in markup as entities; for content and quoted attributes.
[[nodiscard]] std::string escaped_markup(std::string_view text);

}  // namespace traingraph::analysis
