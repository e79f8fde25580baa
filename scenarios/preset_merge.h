// A value that may name a preset, with the preset's values filled in under its own.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "scenarios/diagnostics.h"
#include "scenarios/document.h"

namespace traingraph::scenarios {

/// The presets of `folder` that `value` names (as a word, or under the key `preset`; a preset may name another), laid under
/// the rest of `value`; `value` itself if it names none. Nothing after an error, which goes to `diagnostics` at `path`.
[[nodiscard]] std::optional<Value> with_preset(const Value& value, std::string_view folder, const std::string& path,
                                               Diagnostics& diagnostics);

}  // namespace traingraph::scenarios
