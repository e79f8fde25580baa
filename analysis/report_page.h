// A report: the page's drawing of a step (analysis/web/step_result.js) with its document in one HTML file that opens from
// disk, needs no network and no other file.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace traingraph::analysis {

/// The modules that `entry` imports, itself last, as one script. The modules of the page keep to what this understands: an
/// import is one line, `import {a, b} from "./name.js";`, and no two modules have a top-level name in common.
[[nodiscard]] std::string bundled_script(std::string_view entry);

/// `document` as step_document() makes it.
[[nodiscard]] std::string report_html(const nlohmann::ordered_json& document);

}  // namespace traingraph::analysis
