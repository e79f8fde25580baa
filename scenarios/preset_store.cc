#include "scenarios/preset_store.h"

#include <algorithm>

namespace traingraph::scenarios {

const PresetFile* find_preset(std::string_view folder, std::string_view name) {
  const auto presets = all_presets();
  const auto it = std::find_if(presets.begin(), presets.end(),
                               [&](const PresetFile& p) { return p.folder == folder && p.name == name; });
  return it == presets.end() ? nullptr : &*it;
}

std::vector<std::string> preset_names(std::string_view folder) {
  std::vector<std::string> names;
  for (const PresetFile& p : all_presets()) {
    if (p.folder == folder) names.emplace_back(p.name);
  }
  return names;
}

}  // namespace traingraph::scenarios
