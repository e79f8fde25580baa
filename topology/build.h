// From a cluster's description to its fabric.
#pragma once

#include "topology/cluster_spec.h"
#include "topology/fabric.h"

namespace traingraph::topology {

/// Builds devices, links, graph and cuts. O(devices + links). Under `spray` parallel links between two switches are one Link
/// of their summed capacity (LinkInfo::cables says how many), which changes no time; under every other policy each is a
/// Link. Throws InputError when the description does not fit together.
[[nodiscard]] Fabric build(const ClusterSpec& spec);

}  // namespace traingraph::topology
