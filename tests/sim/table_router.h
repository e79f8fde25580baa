// A Router whose paths were written down pair by pair, for tests that choose every link themselves.
#pragma once

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "sim/error.h"
#include "sim/router.h"

namespace traingraph::sim::tests {

class TableRouter final : public Router {
 public:
  void set(std::uint32_t source, std::uint32_t destination, Path path) { paths_[{source, destination}] = std::move(path); }
  /// The path of every in-switch reduction, whatever its members.
  void set_in_switch(Path path) { in_switch_ = std::move(path); }

  [[nodiscard]] bool depends_on_connection() const override { return false; }

 private:
  [[nodiscard]] Path do_route(EndpointId source, EndpointId destination, std::uint64_t) const override {
    const auto at = paths_.find({index(source), index(destination)});
    if (at == paths_.end()) throw InputError{fmt::format("no path from {} to {}", index(source), index(destination))};
    return at->second;
  }
  [[nodiscard]] Path do_route_in_switch(std::span<const EndpointId>) const override { return in_switch_; }

  std::map<std::pair<std::uint32_t, std::uint32_t>, Path> paths_;
  Path in_switch_;
};

}  // namespace traingraph::sim::tests
