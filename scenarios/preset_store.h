// The presets: YAML files under scenarios/presets, compiled into the program, found by folder and name
// ("hardware/h100_sxm").
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace traingraph::scenarios {

struct PresetFile {
  std::string_view folder;  ///< "hardware", "nodes", "clusters", "models", "software"
  std::string_view name;    ///< file name without .yaml
  std::string_view text;
};

/// All presets, sorted by folder and name.
[[nodiscard]] std::span<const PresetFile> all_presets();
/// nullptr if there is none of that name.
[[nodiscard]] const PresetFile* find_preset(std::string_view folder, std::string_view name);
[[nodiscard]] std::vector<std::string> preset_names(std::string_view folder);

}  // namespace traingraph::scenarios
