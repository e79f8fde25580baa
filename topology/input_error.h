// The one form of this folder's messages about a cluster's description: key, what was found, what is allowed.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "sim/error.h"

namespace traingraph::topology {

/// A cluster's description does not fit together. what() is "cluster.<key>: <text>"; whoever knows where the key was written
/// can say that too.
class ClusterError : public sim::InputError {
 public:
  ClusterError(std::string key, std::string text)
      : sim::InputError{fmt::format("cluster.{}: {}", key, text)}, key_{std::move(key)}, text_{std::move(text)} {}

  /// As in a scenario, below `cluster`: "node.scale_up.planes", "scale_out.links[3].parallel".
  [[nodiscard]] const std::string& key() const { return key_; }
  /// "found 0, allowed: 1 or more"
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string key_, text_;
};

template <class Found>
[[noreturn]] void refuse(std::string_view key, const Found& found, std::string_view allowed) {
  throw ClusterError{std::string{key}, fmt::format("found {}, allowed: {}", found, allowed)};
}

}  // namespace traingraph::topology
