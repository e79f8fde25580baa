// Breadth-first search on the Boost graph: the oracle that routing by formula is compared with, and the router of custom
// fabrics. Lengths are in links; every direction of every link counts, whatever its capacity (a link that is down still
// routes: transfers on it wait).
//
// Cost: O(devices + links) per query; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "topology/fabric.h"
#include "topology/leg.h"
#include "topology/network.h"

namespace traingraph::topology {

/// Which links and devices a path may use.
struct PathRules {
  bool through_gpus = false;        ///< GPUs may forward
  std::uint32_t tiers = ~0U;        ///< bit (1 << tier) set: links of that tier may be used
  std::uint32_t most_global = ~0U;  ///< at most so many links of Tier::global (1: minimal routing on a dragonfly)

  [[nodiscard]] static constexpr std::uint32_t bit(Tier t) { return 1U << static_cast<std::uint32_t>(t); }
};

class ShortestPaths {
 public:
  explicit ShortestPaths(const Fabric& fabric);

  /// Links on a shortest path between two devices; nothing when there is none.
  [[nodiscard]] std::optional<std::uint32_t> distance(DeviceId from, DeviceId to, const PathRules& rules) const;

  /// The route(s) by policy (not explicit_) between two devices over all links, most_global not counted:
  ///   static_  at every device with several next links, the next digit of the destination's number chooses;
  ///   ecmp     hashed; spray: every shortest path carries the same share, parallel links counting as different paths.
  /// An empty leg (no routes) when there is no path.
  [[nodiscard]] Leg leg(DeviceId from, DeviceId to, bool through_gpus, const Flow& flow, const RoutingSpec& routing,
                        const LegJoiner& join) const;

  /// The greatest distance between two GPUs; nothing when some pair has no path. O(GPUs x links).
  [[nodiscard]] std::optional<std::uint32_t> diameter(bool through_gpus) const;

 private:
  struct Edge {
    std::uint32_t device;
    sim::LinkId link;
  };
  /// Distance of every device to `to` (kFar: none), by search against the links; stops when `from` is reached.
  [[nodiscard]] std::vector<std::uint32_t> distances_to(DeviceId to, std::optional<DeviceId> from, bool through_gpus) const;
  /// The links from `device` that lead one step nearer.
  [[nodiscard]] std::vector<Edge> next(std::uint32_t device, DeviceId to, bool through_gpus,
                                       const std::vector<std::uint32_t>& distance) const;
  [[nodiscard]] Leg sprayed(DeviceId from, DeviceId to, bool through_gpus, const std::vector<std::uint32_t>& distance,
                            const LegJoiner& join) const;
  [[nodiscard]] bool may_pass(std::uint32_t device, bool through_gpus) const;

  const Fabric& fabric_;
  // the links that enter each device, device by device
  std::vector<std::uint32_t> first_in_;
  std::vector<Edge> in_;
};

}  // namespace traingraph::topology
