// Dragonfly: groups of fully linked routers, groups linked pairwise (Kim, Dally, Scott, Abts, ISCA 2008).
#include "topology/build_parts.h"

namespace traingraph::topology {

void add_dragonfly_routers(FabricBuilder& b, const Layout& l) {
  const DragonflyShape& d = *l.dragonfly;
  for (std::uint32_t g = 0; g < d.groups; ++g)
    for (std::uint32_t r = 0; r < d.routers; ++r)
      b.add(
          {.kind = DeviceKind::switch_, .name = fmt::format("group{}.router{}", g, r), .pod = static_cast<std::int32_t>(g)});
}

void connect_dragonfly(FabricBuilder& b, const Layout& l) {
  const DragonflyShape& d = *l.dragonfly;
  const auto router = [&](std::uint32_t g, std::uint32_t r) {
    return static_cast<DeviceId>(l.leaf_device + g * d.routers + r);
  };
  for (std::uint32_t node = 0; node < l.nodes; ++node)
    for (std::uint32_t nic = 0; nic < l.nics_per_node; ++nic) {
      const std::uint32_t place = (node * l.nics_per_node + nic) / d.hosts;
      b.connect({.a = nic_side(l, node, nic),
                 .b = router(place / d.routers, place % d.routers),
                 .speed = d.nic,
                 .tier = Tier::nic,
                 .copy = l.nic_devices ? 0 : nic % l.nics_per_gpu});
    }
  for (std::uint32_t g = 0; g < d.groups; ++g)
    for (std::uint32_t r = 0; r < d.routers; ++r)
      for (std::uint32_t q = r + 1; q < d.routers; ++q)
        for (std::uint32_t copy = 0; copy < d.local_copies(); ++copy)
          b.connect({.a = router(g, r),
                     .b = router(g, q),
                     .speed = d.local,
                     .tier = Tier::local,
                     .cables = d.bundled ? d.local_links : 1,
                     .copy = copy});
  for (std::uint32_t i = 0; i < d.groups; ++i)
    for (std::uint32_t j = i + 1; j < d.groups; ++j)
      for (std::uint32_t t = 0; t < d.pair_links; ++t)
        // more links than routers: several between the same two routers
        b.connect({.a = router(i, d.gateway(i, j, t)),
                   .b = router(j, d.gateway(j, i, t)),
                   .speed = d.global,
                   .tier = Tier::global,
                   .copy = t / d.routers});
}

}  // namespace traingraph::topology
