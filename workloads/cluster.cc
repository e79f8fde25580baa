#include "workloads/cluster.h"

namespace traingraph::workloads {

Cluster cluster_of(const topology::Fabric& fabric) {
  Cluster c;
  c.gpus = fabric.gpus();
  c.domain.reserve(c.gpus);
  c.rack.reserve(c.gpus);
  for (std::uint32_t e = 0; e < c.gpus; ++e) {
    const topology::Device& device = fabric.devices[fabric.endpoints[sim::EndpointId{e}]];
    c.domain.push_back(device.domain);
    c.rack.push_back(device.rack);
  }
  return c;
}

Cluster regular_cluster(std::uint32_t gpus, std::uint32_t gpus_per_domain) {
  Cluster c;
  c.gpus = gpus;
  c.rack.assign(gpus, -1);
  c.domain.reserve(gpus);
  for (std::uint32_t e = 0; e < gpus; ++e) c.domain.push_back(static_cast<std::int32_t>(e / gpus_per_domain));
  return c;
}

}  // namespace traingraph::workloads
