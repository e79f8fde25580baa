// 65,536 GPUs and more: building is linear, a route costs its own links.
#include <chrono>

#include "tests/topology/clusters.h"

namespace traingraph::topology::test {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

ClusterSpec three_tier_rails(std::uint32_t nodes) {
  ClusterSpec s{.name = "big", .nodes = nodes, .gpus_per_node = 8, .scale_up = nvlink(8, 1), .nic = nic(400)};
  s.scale_out = Clos{.wiring = Clos::Wiring::rail_optimized, .tiers = 3, .switch_ports = 128, .nodes_per_unit = 64};
  s.routing.policy = RoutingPolicy::ecmp;
  return s;
}

TEST(Scale, SixtyFiveThousandGpusBuildInSeconds) {
  const auto start = std::chrono::steady_clock::now();
  const ClusterSpec s = three_tier_rails(8192);
  const Fabric f = build(s);
  const double built = seconds_since(start);
  EXPECT_EQ(f.gpus(), 65536U);
  EXPECT_EQ(cables(f, Tier::nic), 65536U);
  EXPECT_EQ(cables(f, Tier::leaf_spine), 65536U);
  EXPECT_EQ(cables(f, Tier::spine_core), 65536U);
  EXPECT_LT(built, 30) << "seconds; a fraction of that on an idle machine";
  const auto router = make_router(f, s);
  const auto routing = std::chrono::steady_clock::now();
  std::size_t links = 0;
  for (std::uint32_t e = 0; e < f.gpus(); ++e) links += router->route(gpu(e), gpu((e + 32768) % 65536), e).links.size();
  EXPECT_GE(links, 65536U * 4);
  EXPECT_LE(links, 65536U * 6);
  EXPECT_LT(seconds_since(routing), 10);
  expect_sound(f, *router, 17, 65000, router->route(gpu(17), gpu(65000), 0));
}

// A build that were quadratic would take 16 times as long for four times the GPUs.
TEST(Scale, BuildingGrowsLinearly) {
  const auto once = [](std::uint32_t nodes) {
    double best = 1e9;
    for (int i = 0; i < 3; ++i) {
      const auto start = std::chrono::steady_clock::now();
      const Fabric f = build(three_tier_rails(nodes));
      best = std::min(best, seconds_since(start));
    }
    return best;
  };
  const double small = once(512), large = once(2048);
  EXPECT_LT(large, 12 * small);
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
