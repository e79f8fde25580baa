// The one form of this folder's messages about a cluster's description: field, what was found, what is allowed.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "sim/error.h"

namespace traingraph::topology {

template <class Found>
[[noreturn]] void refuse(std::string_view field, const Found& found, std::string_view allowed) {
  throw sim::InputError{fmt::format("cluster.{}: found {}, allowed: {}", field, found, allowed)};
}

}  // namespace traingraph::topology
