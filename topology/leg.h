// A leg: one stretch of a path (inside a domain, over the scale-out network, ...), possibly spread over many routes. Legs
// are joined in series (each carries all bytes) and in parallel (each carries a share), and at the end become a sim::Path.
//
// Links are kept with their exact shares; routes are listed only while there are at most `limit` of them, so that a leg over
// 10^5 routes costs its links, not its routes.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/fraction.h"
#include "sim/link.h"

namespace traingraph::topology {

struct Leg {
  struct Share {
    sim::LinkId link{};
    sim::Fraction fraction;
  };
  using Stages = std::vector<std::vector<sim::LinkId>>;
  struct ListedRoute {
    Stages stages;
    sim::Fraction fraction;
  };

  std::vector<Share> links;         ///< a link may occur several times
  sim::Duration latency;            ///< of the longest route
  std::uint64_t routes = 0;         ///< how many there are (saturating)
  std::vector<ListedRoute> listed;  ///< all of them, or none when there are more than the limit
};

class LegJoiner {
 public:
  LegJoiner(const sim::LinkTable& links, std::uint32_t limit) : table_{links}, limit_{limit} {}

  /// A single route over `hops`, one link a stage.
  [[nodiscard]] Leg chain(const std::vector<sim::LinkId>& hops) const;
  /// A single route over stages of parallel links.
  [[nodiscard]] Leg staged(Leg::Stages stages) const;
  /// First `a`, then `b`.
  [[nodiscard]] Leg series(Leg a, Leg b) const;
  /// Adds `part`, which carries the share `fraction` of the bytes, to `sum`.
  void add(Leg& sum, Leg part, sim::Fraction fraction) const;
  [[nodiscard]] sim::Path path(Leg leg, sim::Duration overhead) const;
  /// True when so many routes may be listed.
  [[nodiscard]] bool lists(std::uint64_t routes) const { return routes <= limit_; }

 private:
  const sim::LinkTable& table_;
  std::uint32_t limit_;
};

}  // namespace traingraph::topology
