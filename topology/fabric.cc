#include "topology/fabric.h"

#include <algorithm>

#include "sim/error.h"
#include "topology/cluster_spec.h"

namespace traingraph::topology {

std::string to_string(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::gpu:
      return "gpu";
    case DeviceKind::nvswitch:
      return "nvswitch";
    case DeviceKind::nic:
      return "nic";
    case DeviceKind::pcie_switch:
      return "pcie_switch";
    case DeviceKind::host:
      return "host";
    case DeviceKind::leaf:
      return "leaf";
    case DeviceKind::spine:
      return "spine";
    case DeviceKind::core:
      return "core";
    case DeviceKind::switch_:
      return "switch";
  }
  SIM_ASSERT(false, "every device kind has a name");
}

std::string to_string(Tier tier) {
  switch (tier) {
    case Tier::scale_up:
      return "scale_up";
    case Tier::pcie:
      return "pcie";
    case Tier::nic:
      return "nic";
    case Tier::leaf_spine:
      return "leaf_spine";
    case Tier::spine_core:
      return "spine_core";
    case Tier::torus:
      return "torus";
    case Tier::local:
      return "local";
    case Tier::global:
      return "global";
    case Tier::other:
      return "other";
  }
  SIM_ASSERT(false, "every tier has a name");
}

std::string to_string(RoutingPolicy policy) {
  switch (policy) {
    case RoutingPolicy::static_:
      return "static";
    case RoutingPolicy::ecmp:
      return "ecmp";
    case RoutingPolicy::spray:
      return "spray";
    case RoutingPolicy::explicit_:
      return "explicit";
  }
  SIM_ASSERT(false, "every routing policy has a name");
}

bool Cut::contains(sim::EndpointId e) const {
  const std::uint32_t i = sim::index(e);
  return std::ranges::any_of(inside, [i](const EndpointRange& r) {
    return i >= r.first && (i - r.first) % r.stride == 0 && (i - r.first) / r.stride < r.count;
  });
}

std::uint32_t Cut::size() const {
  std::uint32_t n = 0;
  for (const EndpointRange& r : inside) n += r.count;
  return n;
}

}  // namespace traingraph::topology
