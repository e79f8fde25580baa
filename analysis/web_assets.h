// The files of the page (analysis/web), compiled into the program: HTML, CSS and JavaScript modules, found by name
// ("main.js").
#pragma once

#include <span>
#include <string_view>

namespace traingraph::analysis {

struct EmbeddedFile {
  std::string_view name;
  std::string_view text;
};

/// All files, sorted by name.
[[nodiscard]] std::span<const EmbeddedFile> web_assets();

}  // namespace traingraph::analysis
