#include "topology/size_limits.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "topology/input_error.h"

namespace traingraph::topology {
namespace {

/// How many of something a part of the description asks for. A double: products of six counts fit.
struct Share {
  std::string_view key;
  double count = 0;
};

double product(std::initializer_list<std::uint32_t> factors) {
  double p = 1;
  for (const std::uint32_t f : factors) p *= f;
  return p;
}

std::vector<Share> device_shares(const Layout& l) {
  std::vector<Share> shares{{"nodes", product({l.nodes, l.gpus_per_node})},
                            {"node.scale_up.planes", product({l.domains, l.planes})},
                            {"node.nic.per_node", l.nic_devices ? product({l.nodes, l.nics_per_node}) : 0}};
  if (l.clos) {
    const ClosShape& c = *l.clos;
    const double spines = c.tiers >= 2 ? product({c.pods, c.planes, c.rail_blocks, c.spines_per_block}) : 0;
    shares.push_back({"scale_out.ports_per_nic", product({c.units, c.leaves_per_unit})});
    shares.push_back({"scale_out.spines_per_block", spines});
    if (c.tiers == 3) shares.push_back({"scale_out.cores", product({c.core_sets(), c.core_groups, c.cores_per_group})});
  }
  if (l.dragonfly) shares.push_back({"scale_out.routers_per_group", product({l.dragonfly->groups, l.dragonfly->routers})});
  return shares;
}

std::vector<Share> cable_shares(const Layout& l) {
  std::vector<Share> shares;
  if (l.scale_up == ScaleUpKind::nvswitch) shares.push_back({"node.scale_up.planes", product({l.gpus, l.planes})});
  if (l.scale_up == ScaleUpKind::full_mesh)
    shares.push_back({"node.scale_up.gpus", product({l.domains, l.domain_gpus, l.domain_gpus - 1}) / 2});
  if (l.nic_devices) shares.push_back({"node.nic.per_node", product({l.gpus, l.nics_per_gpu})});
  if (l.has_nics)
    shares.push_back(
        {l.ports > 1 ? "scale_out.ports_per_nic" : "node.nic.per_node", product({l.nodes, l.nics_per_node, l.ports})});
  if (l.clos && l.clos->tiers >= 2) {
    const ClosShape& c = *l.clos;
    shares.push_back(
        {c.leaf_spine_copies() > c.spines_per_block ? "scale_out.leaf_spine.links" : "scale_out.spines_per_block",
         product({c.units, c.leaves_per_unit, c.spines_per_block, c.leaf_spine_copies()})});
    if (c.tiers == 3)
      shares.push_back(
          {c.spine_core_copies() > c.cores_per_group ? "scale_out.spine_core.links" : "scale_out.cores",
           product({c.pods, c.planes, c.rail_blocks, c.spines_per_block, c.cores_per_group, c.spine_core_copies()})});
  }
  if (l.direct) shares.push_back({"scale_out.kind", static_cast<double>(l.direct->cables()) * l.domain_gpus});
  if (l.dragonfly) {
    const DragonflyShape& d = *l.dragonfly;
    shares.push_back({"scale_out.routers_per_group", product({d.groups, d.routers, d.routers - 1, d.local_copies()}) / 2});
    shares.push_back({"scale_out.global_links_per_router", product({d.groups, d.groups - 1, d.pair_links}) / 2});
  }
  return shares;
}

void check(const std::vector<Share>& shares, double each, std::uint64_t most, std::string_view what, std::uint32_t gpus) {
  double sum = 0;
  for (const Share& s : shares) sum += each * s.count;
  if (sum <= static_cast<double>(most)) return;
  constexpr double kMostPerGpu = 64;  // a GB200 has 40 links with its NIC's
  const auto largest =
      std::max_element(shares.begin(), shares.end(), [](const Share& a, const Share& b) { return a.count < b.count; });
  refuse(sum <= kMostPerGpu * gpus ? std::string_view{"nodes"} : largest->key, fmt::format("{:.4g} {}", sum, what),
         fmt::format("at most {} {}, which is what the program would hold", most, what));
}

}  // namespace

void check_size(const Layout& layout) {
  check(device_shares(layout), 1, kMostDevices, "devices", layout.gpus);
  check(cable_shares(layout), 2, kMostLinks, "directed links", layout.gpus);
}

void check_custom_size(std::uint64_t links, std::uint64_t cables, std::uint64_t index) {
  const std::uint64_t sum = links + 2 * cables;
  if (sum > kMostLinks)
    refuse(fmt::format("scale_out.links[{}].parallel", index), fmt::format("{} directed links", sum),
           fmt::format("at most {} directed links, which is what the program would hold", kMostLinks));
}

}  // namespace traingraph::topology
