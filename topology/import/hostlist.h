// Slurm's hostlists: "node[01-04,07],gpu-[1-2]-x" names node01, node02, ... Leading zeros are kept, several brackets
// multiply, the last fastest.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace traingraph::topology::imports {

struct HostlistError {
  std::size_t offset = 0;  ///< into the text
  std::string text;
};

/// The names in order, or the first fault. At most a million names.
[[nodiscard]] std::variant<std::vector<std::string>, HostlistError> expand_hostlist(std::string_view text);

}  // namespace traingraph::topology::imports
