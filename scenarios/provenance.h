// Where each value of a scenario came from, by its path ("cluster.node.gpus"); what is not listed is a default.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "scenarios/document.h"

namespace traingraph::scenarios {

struct Provenance {
  struct Entry {
    Origin origin;
    std::string source;  ///< the `source:` written beside the value
  };
  std::map<std::string, Entry, std::less<>> entries;

  /// The origin of `path`, or of the nearest enclosing group that has one.
  [[nodiscard]] Origin origin(std::string_view path) const;
};

/// "a.b" + "c" = "a.b.c".
[[nodiscard]] std::string joined(std::string_view path, std::string_view key);

}  // namespace traingraph::scenarios
