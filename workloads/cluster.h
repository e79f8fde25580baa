// Cluster: the little that a workload needs to know of the fabric it will run on: how many GPUs, and for each GPU its
// scale-up domain and its rack. GPUs are numbered by domain, then by rail (topology/fabric.h).
#pragma once

#include <cstdint>
#include <vector>

#include "topology/fabric.h"

namespace traingraph::workloads {

struct Cluster {
  std::uint32_t gpus = 0;
  std::vector<std::int32_t> domain;  ///< by GPU number
  std::vector<std::int32_t> rack;    ///< by GPU number; -1: unknown
};

[[nodiscard]] Cluster cluster_of(const topology::Fabric& fabric);
/// `gpus` GPUs in domains of `gpus_per_domain`, racks unknown.
[[nodiscard]] Cluster regular_cluster(std::uint32_t gpus, std::uint32_t gpus_per_domain);

}  // namespace traingraph::workloads
