// Router: the seam through which the engine asks for paths. The implementation (topology/routing.h) knows the graph; the
// engine knows only endpoints, links and fractions. A router is immutable while a simulation uses it, so one router may
// serve several simulations in several threads at once.
#pragma once

#include <cstdint>
#include <span>

#include "sim/ids.h"
#include "sim/link.h"

namespace traingraph::sim {

class Router {
 public:
  Router() = default;
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;
  virtual ~Router() = default;

  /// The path from one endpoint to another. `connection` tells connections between the same pair apart (a hashing policy
  /// uses it; others ignore it); the same arguments give the same path. An endpoint reaches itself by an empty path.
  /// Throws InputError naming both endpoints when there is no path.
  [[nodiscard]] Path route(EndpointId source, EndpointId destination, std::uint64_t connection) const;

  /// The link set of a reduction inside the switches: every member's up-link(s) to the common switch (or tree of switches)
  /// and every down-link back, fraction 1 each. Throws InputError when the members share no switch that can reduce.
  [[nodiscard]] Path route_in_switch(std::span<const EndpointId> members) const;

  /// A link that every path uses with the same share as `link`, and that has the same capacity and latency: of equal
  /// parallel links that are always used evenly (the planes of an NVSwitch domain), the one that stands for all. Where
  /// transfers are fluids, it alone is simulated, and `link` is recorded to have carried the same.
  [[nodiscard]] virtual LinkId mirror_of(LinkId link) const { return link; }

  /// True when `connection` can change the path (hashed ECMP): paths are then cached per connection.
  [[nodiscard]] virtual bool depends_on_connection() const = 0;

 private:
  [[nodiscard]] virtual Path do_route(EndpointId source, EndpointId destination, std::uint64_t connection) const = 0;
  [[nodiscard]] virtual Path do_route_in_switch(std::span<const EndpointId> members) const = 0;
};

}  // namespace traingraph::sim
