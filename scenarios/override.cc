#include "scenarios/override.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "scenarios/quantity.h"
#include "scenarios/yaml_reader.h"

namespace traingraph::scenarios {

namespace {

struct Step {
  std::string key;
  std::vector<std::size_t> indices;  // key[0][1]
};

/// "a.b[0].c" in steps; nothing when it is no path.
std::optional<std::vector<Step>> parse_path(std::string_view path) {
  std::vector<Step> steps;
  while (true) {
    const std::size_t end = std::min(path.find('.'), path.size());
    std::string_view part = path.substr(0, end);
    Step step;
    const std::size_t bracket = std::min(part.find('['), part.size());
    step.key = part.substr(0, bracket);
    part.remove_prefix(bracket);
    while (!part.empty()) {
      const std::size_t close = part.find(']');
      if (part.front() != '[' || close == std::string_view::npos) return std::nullopt;
      const auto index = parse_integer(part.substr(1, close - 1));
      if (!index.value || *index.value < 0) return std::nullopt;
      step.indices.push_back(static_cast<std::size_t>(*index.value));
      part.remove_prefix(close + 1);
    }
    if (step.key.empty()) return std::nullopt;
    steps.push_back(std::move(step));
    if (end == path.size()) return steps;
    path.remove_prefix(end + 1);
  }
}

/// Makes `v` a map: a word stands for a preset, nothing for an empty map.
void become_map(Value& v, const Origin& origin) {
  if (v.kind == ValueKind::map || v.kind == ValueKind::list) return;
  Value word = std::exchange(v, Value{});
  v.kind = ValueKind::map;
  v.origin = origin;
  if (word.kind == ValueKind::scalar) {
    const Origin at = word.origin;
    v.entries.push_back({"preset", at, std::move(word)});
  }
}

}  // namespace

void apply_override(Value& root, const std::string& text, Diagnostics& diagnostics) {
  const Origin origin{OriginKind::override_, text, 0, 0};
  const std::size_t equals = text.find('=');
  const auto steps = parse_path(std::string_view{text}.substr(0, std::min(equals, text.size())));
  if (equals == std::string::npos || !steps) {
    return diagnostics.error(origin, "", "expected path=value, such as cluster.nodes=64");
  }
  Diagnostics of_value;
  Value value = read_yaml(std::string_view{text}.substr(equals + 1), origin, of_value);
  if (!of_value.empty()) return diagnostics.error(origin, "", "the value is not valid YAML");

  Value* at = &root;
  for (std::size_t i = 0; i < steps->size(); ++i) {
    const Step& step = (*steps)[i];
    const bool last = i + 1 == steps->size();
    become_map(*at, origin);
    if (at->kind == ValueKind::list) {
      return diagnostics.error(origin, "",
                               fmt::format("'{}' is looked for in a list; name an element, such as [0]", step.key));
    }
    if (last && step.indices.empty() && value.kind == ValueKind::null) {
      const auto removed =
          std::find_if(at->entries.begin(), at->entries.end(), [&](const Entry& e) { return e.key == step.key; });
      if (removed == at->entries.end())
        return diagnostics.error(origin, "", fmt::format("there is no '{}' to remove", step.key));
      at->entries.erase(removed);
      return;
    }
    if (at->find(step.key) == nullptr) {
      if (!step.indices.empty()) {
        return diagnostics.error(origin, "", fmt::format("'{}' is not in the file, so it has no element", step.key));
      }
      Value nothing;
      nothing.origin = origin;
      at->entries.push_back({step.key, origin, std::move(nothing)});
    }
    Entry& entry = *at->find(step.key);
    at = &entry.value;
    for (const std::size_t index : step.indices) {
      if (at->kind != ValueKind::list || index >= at->items.size()) {
        return diagnostics.error(origin, "", fmt::format("'{}[{}]' is not in the file", step.key, index));
      }
      at = &at->items[index];
    }
    if (last && step.indices.empty()) entry.key_origin = origin;
  }
  *at = std::move(value);
}

}  // namespace traingraph::scenarios
