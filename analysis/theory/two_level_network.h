// The network that the closed-form model sees of a cluster: the scale-up domain and everything beyond it, as two levels.
//
//   level 0  a GPU's scale-up links, both directions added; latency of a path GPU - switch - GPU, or of a direct link
//   level 1  a GPU's share of its node's NICs, both directions added; latency of a path over one leaf switch
//
// What lies above the leaves is not seen: oversubscription, longer paths, contention. The start-up of a transfer counts as
// latency. Clusters without a scale-up network, or with one domain only, have one level.
#pragma once

#include <string>
#include <vector>

#include "analysis/theory/gpu.h"
#include "topology/cluster_spec.h"

namespace traingraph::analysis::theory {

struct TwoLevelNetwork {
  std::vector<NetworkLevel> levels;
  std::string why_not;  ///< what keeps the cluster from being seen so; then `levels` is empty
};

/// Only switched scale-out networks with NICs are seen so; direct ones (torus, ring, ...) and custom ones are not.
[[nodiscard]] TwoLevelNetwork two_level_network(const topology::ClusterSpec& cluster);

}  // namespace traingraph::analysis::theory
