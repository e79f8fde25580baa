// A tree of maps, lists and scalars that know their place: what importers see of YAML.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traingraph::topology {

struct TreeNode {
  enum class Kind : std::uint8_t { null, scalar, list, map };

  Kind kind = Kind::null;
  std::string text;          ///< of a scalar
  std::uint32_t line = 0;    ///< 1-based
  std::uint32_t column = 0;  ///< 1-based
  std::vector<TreeNode> items;
  std::vector<std::pair<std::string, TreeNode>> entries;

  [[nodiscard]] const TreeNode* find(std::string_view key) const {
    for (const auto& [name, value] : entries) {
      if (name == key) return &value;
    }
    return nullptr;
  }
};

}  // namespace traingraph::topology
