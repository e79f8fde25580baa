// PathTable: paths interned into flat arrays, so that a transfer carries a 32-bit id and the solver walks contiguous memory.
//
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/ids.h"
#include "sim/link.h"

namespace traingraph::sim {

class PathTable {
 public:
  explicit PathTable(bool keep_routes) : keep_routes_{keep_routes} {}

  /// Throws InputError for a path over links without routes where routes are kept.
  PathId add(Path path);

  [[nodiscard]] std::span<const PathLink> links(PathId p) const {
    const Entry& e = entries_[index(p)];
    return {links_.data() + e.first, e.count};
  }
  [[nodiscard]] Duration latency(PathId p) const { return entries_[index(p)].latency; }
  [[nodiscard]] Duration overhead(PathId p) const { return entries_[index(p)].overhead; }
  /// Longest route in links, as traces report it.
  [[nodiscard]] std::uint32_t hops(PathId p) const { return entries_[index(p)].hops; }
  /// The explicit alternatives; kept only when asked for (chunk model).
  [[nodiscard]] const std::vector<Route>& routes(PathId p) const { return routes_[index(p)]; }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::uint64_t first = 0;
    std::uint32_t count = 0;
    std::uint32_t hops = 0;
    Duration latency;
    Duration overhead;
  };
  bool keep_routes_;
  std::vector<PathLink> links_;
  std::vector<Entry> entries_;
  std::vector<std::vector<Route>> routes_;
};

}  // namespace traingraph::sim
