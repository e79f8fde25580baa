// Routers: the implementations of the sim::Router seam.
//
// A transfer inside a scale-up domain takes the scale-up network (evenly over all switch planes). Between domains the NICs
// are chosen first (rail affinity, PXN), then the paths between their ports by the policy of RoutingSpec. Regular fabrics
// are routed by formula, O(links of the path) and no tables; custom ones by breadth-first search on the graph
// (topology/shortest_paths.h), which is also the oracle that tests compare the formulas with.
//
// Overhead of a path: the scale-up network's inside a domain, the NIC's between domains (also with PXN: the forwarding GPU's
// proxy is part of the same send), Custom::overhead in custom fabrics.
//
// Immutable after construction, safe to use from several threads. The Fabric must outlive the router.
#pragma once

#include <memory>

#include "sim/router.h"
#include "topology/cluster_spec.h"
#include "topology/fabric.h"

namespace traingraph::topology {

class FabricRouter : public sim::Router {
 public:
  /// Links on a path from one GPU to another (the same for all paths that the policy may choose; 0 to itself).
  /// Throws InputError naming both when there is no path.
  [[nodiscard]] virtual std::uint32_t hops(sim::EndpointId source, sim::EndpointId destination) const = 0;
};

/// The router of `fabric`, which was built from `spec`.
[[nodiscard]] std::unique_ptr<FabricRouter> make_router(const Fabric& fabric, const ClusterSpec& spec);

}  // namespace traingraph::topology
