// A tree of maps, lists and scalars that know their place: what importers see of YAML.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace traingraph::topology {

struct TreeEntry;

struct TreeNode {
  enum class Kind : std::uint8_t { null, scalar, list, map };

  Kind kind = Kind::null;
  std::string text;          ///< of a scalar
  std::uint32_t line = 0;    ///< 1-based
  std::uint32_t column = 0;  ///< 1-based
  std::vector<TreeNode> items;
  std::vector<TreeEntry> entries;

  [[nodiscard]] const TreeNode* find(std::string_view key) const;
};

struct TreeEntry {
  std::string key;
  TreeNode value;
};

inline const TreeNode* TreeNode::find(std::string_view key) const {
  for (const TreeEntry& e : entries) {
    if (e.key == key) return &e.value;
  }
  return nullptr;
}

}  // namespace traingraph::topology
