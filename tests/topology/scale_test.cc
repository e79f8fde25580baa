// 65,536 GPUs and more: what is built grows linearly, a route costs its own links.
#include "tests/topology/clusters.h"

namespace traingraph::topology::test {
namespace {

ClusterSpec three_tier_rails(std::uint32_t nodes) {
  ClusterSpec s{.name = "big", .nodes = nodes, .gpus_per_node = 8, .scale_up = nvlink(8, 1), .nic = nic(400)};
  s.scale_out = Clos{.wiring = Clos::Wiring::rail_optimized, .tiers = 3, .switch_ports = 128, .nodes_per_unit = 64};
  s.routing.policy = RoutingPolicy::ecmp;
  return s;
}

TEST(Scale, SixtyFiveThousandGpus) {
  const ClusterSpec s = three_tier_rails(8192);
  const Fabric f = build(s);
  EXPECT_EQ(f.gpus(), 65536U);
  EXPECT_EQ(cables(f, Tier::nic), 65536U);
  EXPECT_EQ(cables(f, Tier::leaf_spine), 65536U);
  EXPECT_EQ(cables(f, Tier::spine_core), 65536U);
  const auto router = make_router(f, s);
  std::size_t links = 0;
  for (std::uint32_t e = 0; e < f.gpus(); ++e) links += router->route(gpu(e), gpu((e + 32768) % 65536), e).links.size();
  EXPECT_GE(links, 65536U * 4);
  EXPECT_LE(links, 65536U * 6);
  expect_sound(f, *router, 17, 65000, router->route(gpu(17), gpu(65000), 0));
}

// Four times the nodes: four times the devices, links and cuts, but for the parts that a cluster has once.
TEST(Scale, WhatIsBuiltGrowsLinearly) {
  const auto sizes = [](std::uint32_t nodes) {
    const Fabric f = build(three_tier_rails(nodes));
    std::size_t inside = 0;
    for (const Cut& cut : f.cuts) inside += cut.inside.size();
    return std::vector<std::size_t>{f.devices.size(), f.links.size(), f.cuts.size(), inside};
  };
  const std::vector<std::size_t> small = sizes(512), large = sizes(2048);
  for (std::size_t i = 0; i < small.size(); ++i) {
    EXPECT_GE(large[i] + 16, 4 * small[i]) << i;
    EXPECT_LE(large[i], 4 * small[i] + 16) << i;
  }
}

TEST(Scale, TorusOfEightThousandChips) {
  ClusterSpec s{.nodes = 8960 / 4, .gpus_per_node = 4};
  s.scale_out = Torus{.dims = {16, 20, 28}, .link = {gb_per_s(90), Duration::us(1)}};
  s.routing.policy = RoutingPolicy::static_;
  const Fabric f = build(s);
  const auto router = make_router(f, s);
  EXPECT_EQ(router->hops(gpu(0), gpu(8 + 16 * (10 + 20 * 14))), 32U);
  expect_sound(f, *router, 5, 8000, router->route(gpu(5), gpu(8000), 0));
}

}  // namespace
}  // namespace traingraph::topology::test
