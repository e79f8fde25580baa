// Any bytes at all as a file of one kind: it is imported, or an ImportError that begins with the file's name says why not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "scenarios/import_request.h"

namespace traingraph::fuzz {

inline int import_bytes(topology::ImportKind kind, const std::uint8_t* data, std::size_t size) {
  static const topology::ImportOptions options = scenarios::import_request("auto", {"fuzz"}, {}).options;
  const topology::ImportFile file{"fuzz", std::string{data, data + size}};
  try {
    static_cast<void>(topology::import_cluster(kind, std::span{&file, 1}, options,
                                               [](const topology::ImportFile&) { return topology::TreeNode{}; }));
  } catch (const topology::ImportError& e) {
    const std::string_view text{e.what()};
    if (text.empty() || text.find('\n') != std::string_view::npos) std::abort();
  }
  return 0;
}

}  // namespace traingraph::fuzz
