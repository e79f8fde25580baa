#include <algorithm>

#include "sim/error.h"
#include "topology/network.h"

namespace traingraph::topology {

ScaleUpNetwork::ScaleUpNetwork(const Layout& layout, const LegJoiner& join, const RoutingSpec& routing)
    : l_{layout}, join_{join}, routing_{routing} {
  for (auto& row : pair_) row.fill(-1);
  for (std::size_t i = 0; i < kCubeMesh.size(); ++i) {
    const MeshPair& p = kCubeMesh[i];
    pair_[p.a][p.b] = pair_[p.b][p.a] = static_cast<std::int8_t>(i);
  }
  for (std::uint32_t a = 0; a < 8; ++a)
    for (std::uint32_t b = 0; b < 8; ++b)
      for (std::uint32_t via = 0; via < 8; ++via)
        if (a != b && pair_[a][b] < 0 && pair_[a][via] >= 0 && pair_[via][b] >= 0) between_[a][b].push_back(via);
}

std::uint32_t ScaleUpNetwork::hops(std::uint32_t a, std::uint32_t b) const {
  if (a == b) return 0;
  if (l_.scale_up == ScaleUpKind::nvswitch) return 2;
  if (l_.scale_up == ScaleUpKind::full_mesh) return 1;
  return pair_[a % 8][b % 8] >= 0 ? 1 : 2;
}

Leg ScaleUpNetwork::leg(std::uint32_t a, std::uint32_t b, const Flow& flow) const {
  if (l_.scale_up != ScaleUpKind::nvswitch) return mesh_leg(a, b, flow);
  Leg sum;
  for (std::uint32_t p = 0; p < l_.planes; ++p)
    join_.add(sum, join_.chain({l_.plane_link(a, p, false), l_.plane_link(b, p, true)}), {1, l_.planes});
  return sum;
}

sim::LinkId ScaleUpNetwork::mesh_link(std::uint32_t a, std::uint32_t b) const {
  const std::uint64_t domain = l_.domain(a);
  const std::uint32_t i = a % l_.domain_gpus, j = b % l_.domain_gpus;
  if (l_.scale_up == ScaleUpKind::cube_mesh)
    return Layout::link(0, domain * kCubeMesh.size() + static_cast<std::uint64_t>(pair_[i][j]), i > j);
  const std::uint64_t pairs = std::uint64_t{l_.domain_gpus} * (l_.domain_gpus - 1) / 2;
  return Layout::link(0, domain * pairs + pair_number(std::min(i, j), std::max(i, j), l_.domain_gpus), i > j);
}

Leg ScaleUpNetwork::mesh_leg(std::uint32_t a, std::uint32_t b, const Flow& flow) const {
  if (hops(a, b) == 1) return join_.chain({mesh_link(a, b)});
  const std::uint32_t first = a - a % 8;
  const std::vector<std::uint32_t>& between = between_[a % 8][b % 8];
  const auto n = static_cast<std::uint32_t>(between.size());
  const auto over = [&](std::uint32_t i) {
    return join_.chain({mesh_link(a, first + between[i]), mesh_link(first + between[i], b)});
  };
  if (routing_.policy == RoutingPolicy::static_) return over(b % n);
  Leg sum;
  if (routing_.policy == RoutingPolicy::ecmp) {
    for (std::uint32_t q = 0; q < routing_.queue_pairs; ++q)
      join_.add(sum, over(FlowHash{routing_.seed, flow, q}.pick(0, n)), {1, routing_.queue_pairs});
  } else {
    for (std::uint32_t i = 0; i < n; ++i) join_.add(sum, over(i), {1, n});
  }
  return sum;
}

Leg ScaleUpNetwork::reduction(std::span<const sim::EndpointId> members) const {
  Leg sum;
  for (std::uint32_t p = 0; p < l_.planes; ++p) {
    Leg::Stages stages(2);
    for (const sim::EndpointId e : members) {
      stages[0].push_back(l_.plane_link(sim::index(e), p, false));
      stages[1].push_back(l_.plane_link(sim::index(e), p, true));
    }
    join_.add(sum, join_.staged(std::move(stages)), {1, l_.planes});
  }
  return sum;
}

}  // namespace traingraph::topology
