#include "scenarios/preset_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "scenarios/preset_store.h"
#include "scenarios/yaml_reader.h"

namespace traingraph::scenarios {

namespace {

Value load_preset(const PresetFile& file, Diagnostics& diagnostics) {
  const Origin place{OriginKind::preset, fmt::format("{}/{}", file.folder, file.name), 0, 0};
  return read_yaml(file.text, place, diagnostics);
}

}  // namespace

std::optional<Value> with_preset(const Value& value, std::string_view folder, const std::string& path,
                                 Diagnostics& diagnostics) {
  constexpr std::size_t kDeepest = 8;  // presets that extend presets
  std::vector<Value> layers{value};
  while (layers.back().kind == ValueKind::scalar || layers.back().find("preset") != nullptr) {
    Value& top = layers.back();
    Value name = top;
    if (top.kind == ValueKind::map) {
      const auto it = std::find_if(top.entries.begin(), top.entries.end(), [](const Entry& e) { return e.key == "preset"; });
      name = it->value;
      top.entries.erase(it);
    }
    if (name.kind != ValueKind::scalar) {
      diagnostics.error(name.origin, path, fmt::format("expected the name of a preset, found {}", describe(name)));
      return std::nullopt;
    }
    const PresetFile* const file = find_preset(folder, name.text);
    if (file == nullptr) {
      diagnostics.error(
          name.origin, path,
          fmt::format("no preset '{}' in {}{}", name.text, folder, suggestion(name.text, preset_names(folder))));
      return std::nullopt;
    }
    if (layers.size() == kDeepest) {
      diagnostics.error(name.origin, path, fmt::format("presets that extend each other more than {} deep", kDeepest));
      return std::nullopt;
    }
    if (top.kind == ValueKind::scalar) layers.pop_back();
    layers.push_back(load_preset(*file, diagnostics));
  }
  Value result = std::move(layers.back());
  for (std::size_t i = layers.size() - 1; i-- > 0;) result = merged(std::move(result), layers[i]);
  result.origin = value.origin;
  return result;
}

}  // namespace traingraph::scenarios
