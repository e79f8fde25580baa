// Every regular fabric under every policy: routes are as long as breadth-first search says, nothing is lost on the way, and
// spray is exactly even over the shortest paths that a search counts.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/topology/clusters.h"
#include "topology/leg.h"
#include "topology/shortest_paths.h"

namespace traingraph::topology::test {
namespace {

struct Case {
  std::string name;
  ClusterSpec spec;
  /// False where the choice of NIC, port or global link comes before the paths, so that a search finds more of them.
  bool spray_equals_search = true;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

ClusterSpec cluster(std::uint32_t nodes, std::uint32_t gpus, ScaleUp up, ScaleOut out, NicSpec n = nic(400)) {
  return {
      .nodes = nodes, .gpus_per_node = gpus, .scale_up = std::move(up), .nic = std::move(n), .scale_out = std::move(out)};
}

NicSpec nics(std::uint32_t per_node, bool pcie) {
  NicSpec n = nic(200);
  n.per_node = per_node;
  if (pcie) n.pcie = LinkSpec{gb_per_s(50), Duration::ns(200)};
  return n;
}

/// A small three-tier network with parallel links at both levels and several spines per core group.
Clos three_tiers() {
  return {.tiers = 3,
          .nodes_per_unit = 2,
          .units_per_pod = 3,
          .spines_per_block = 4,
          .cores = 6,
          .core_groups = 2,
          .leaf_spine = {.latency = Duration::ns(600), .links = 2},
          .spine_core = {.latency = Duration::ns(800), .links = 2}};
}

std::vector<Case> cases() {
  const LinkSpec link{gb_per_s(50), Duration::ns(400)};
  const FullMesh mesh{.gpus = 8, .bandwidth = gb_per_s(448), .latency = Duration::ns(100)};
  const HybridCubeMesh cube{.link_bandwidth = gb_per_s(25), .latency = Duration::ns(100)};
  const Clos two{.nodes_per_unit = 4, .spines_per_block = 4, .leaf_spine = {.latency = Duration::ns(600), .links = 2}};
  Clos rail = two, rail3 = three_tiers(), dual = two, planes = three_tiers();
  rail.wiring = rail3.wiring = dual.wiring = planes.wiring = Clos::Wiring::rail_optimized;
  dual.ports_per_nic = planes.ports_per_nic = 2;
  planes.separate_planes = true;
  planes.cores = 12;
  Clos tor2 = two;
  tor2.ports_per_nic = 2;
  const Dragonfly fly{.groups = 5,
                      .routers_per_group = 4,
                      .hosts_per_router = 2,
                      .global_links_per_router = 2,
                      .local_links = 2,
                      .local = link,
                      .global = link};
  return {
      {"single_switch", cluster(5, 4, NoScaleUp{}, SingleSwitch{})},
      {"single_switch_nvlink", cluster(5, 8, nvlink(8, 4), SingleSwitch{})},
      {"two_domains_a_node", cluster(3, 8, nvlink(4, 2), SingleSwitch{})},
      {"fat_tree", cluster(14, 8, nvlink(8, 2), two)},
      {"fat_tree_no_scale_up", cluster(13, 2, NoScaleUp{}, two)},
      {"fat_tree_3", cluster(17, 2, NoScaleUp{}, three_tiers())},
      {"fat_tree_shared_nics", cluster(9, 8, nvlink(8, 1), two, nics(2, false))},
      {"fat_tree_shared_nics_no_scale_up", cluster(9, 4, NoScaleUp{}, two, nics(2, true))},
      {"fat_tree_four_nics_a_gpu", cluster(9, 4, nvlink(4, 1), two, nics(16, true)), false},
      {"fat_tree_many_nics_no_devices", cluster(9, 4, nvlink(4, 1), two, nics(8, false)), false},
      {"domain_of_three_nodes", cluster(11, 4, nvlink(12, 3), two)},
      {"rail_optimized", cluster(14, 8, nvlink(8, 4), rail)},
      {"rail_optimized_3", cluster(20, 4, nvlink(4, 1), rail3)},
      {"dual_tor", cluster(14, 4, nvlink(4, 1), tor2), false},
      {"dual_tor_rails", cluster(14, 4, nvlink(4, 1), dual), false},
      {"dual_plane", cluster(20, 4, nvlink(4, 1), planes)},
      {"full_mesh", cluster(6, 8, mesh, SingleSwitch{})},
      {"cube_mesh", cluster(6, 8, cube, two, nics(4, true))},
      {"torus_2d", cluster(30, 1, NoScaleUp{}, Torus{.dims = {6, 5}, .link = link})},
      {"torus_3d", cluster(60, 2, NoScaleUp{}, Torus{.dims = {4, 5, 6}, .wrap = {true, false, true}, .link = link})},
      {"torus_of_pairs", cluster(16, 1, NoScaleUp{}, Torus{.dims = {2, 2, 1, 4}, .link = link})},
      {"ring", cluster(11, 1, NoScaleUp{}, Ring{.link = link})},
      {"line", cluster(7, 1, NoScaleUp{}, Ring{.wrap = false, .link = link})},
      {"fully_connected", cluster(9, 1, NoScaleUp{}, FullyConnected{.link = link})},
      {"dragonfly", cluster(20, 2, NoScaleUp{}, fly), false},
      {"dragonfly_nvlink_leftover", cluster(9, 4, nvlink(4, 1), fly), false},
  };
}

/// Inside a domain a search may use the scale-up network only, between domains everything else.
PathRules rules(const Fabric& f, std::uint32_t a, std::uint32_t b, bool dragonfly) {
  const std::uint32_t up = PathRules::bit(Tier::scale_up);
  const bool inside = f.domain_of(gpu(a)) == f.domain_of(gpu(b));
  const bool direct = f.link_info[sim::LinkId{static_cast<std::uint32_t>(f.links.size() - 1)}].tier == Tier::torus;
  return {.through_gpus = inside || direct, .tiers = inside ? up : ~up, .most_global = dragonfly ? 1 : ~0U};
}

class Oracle : public testing::TestWithParam<Case> {};
class SprayOracle : public testing::TestWithParam<Case> {};

TEST_P(Oracle, RoutesAreShortestAndLoseNothingUnderEveryPolicy) {
  for (const RoutingPolicy policy : {RoutingPolicy::static_, RoutingPolicy::ecmp, RoutingPolicy::spray}) {
    SCOPED_TRACE(to_string(policy));
    ClusterSpec spec = GetParam().spec;
    spec.routing.policy = policy;
    spec.routing.queue_pairs = 3;
    spec.routing.seed = 11;
    const Fabric f = build(spec);
    const auto router = make_router(f, spec);
    const ShortestPaths search{f};
    const bool dragonfly = std::holds_alternative<Dragonfly>(spec.scale_out);
    const std::uint32_t step = f.gpus() > 30 ? 5 : 1;
    for (std::uint32_t a = 0; a < f.gpus(); ++a)
      for (std::uint32_t b = a % step; b < f.gpus(); b += step) {
        if (a == b) continue;
        const auto distance = search.distance(f.endpoints[gpu(a)], f.endpoints[gpu(b)], rules(f, a, b, dragonfly));
        ASSERT_TRUE(distance.has_value());
        ASSERT_EQ(router->hops(gpu(a), gpu(b)), *distance) << a << " to " << b;
        const sim::Path path = router->route(gpu(a), gpu(b), a + b);
        ASSERT_FALSE(path.links.empty());
        expect_sound(f, *router, a, b, path);
        if (testing::Test::HasFailure()) return;
      }
  }
}

// The search counts shortest paths one by one; the formulas must come to the same fractions, parallel links included.
TEST_P(SprayOracle, SprayIsEvenOverTheShortestPathsOfTheSearch) {
  for (const bool bundled : {true, false}) {
    ClusterSpec spec = GetParam().spec;
    // explicit routing without listed paths leaves parallel links apart and sprays over all of them
    if (!bundled) spec.routing.policy = RoutingPolicy::explicit_;
    if (!bundled) spec.routing.otherwise = RoutingPolicy::spray;
    const Fabric f = build(spec);
    const auto router = make_router(f, spec);
    const ShortestPaths search{f};
    const LegJoiner join{f.links, 0};
    RoutingSpec spray;
    for (std::uint32_t a = 0; a < f.gpus(); a += 3)
      for (std::uint32_t b = 0; b < f.gpus(); b += 7) {
        if (f.domain_of(gpu(a)) == f.domain_of(gpu(b))) continue;
        const bool direct = f.gpus_forward && std::holds_alternative<NoScaleUp>(spec.scale_up);
        Leg leg = search.leg(f.endpoints[gpu(a)], f.endpoints[gpu(b)], direct, {a, b, 0}, spray, join);
        const sim::Path expected = join.path(std::move(leg), {});
        const sim::Path path = router->route(gpu(a), gpu(b), 0);
        ASSERT_EQ(path.links, expected.links) << a << " to " << b;
        ASSERT_EQ(path.latency, expected.latency) << a << " to " << b;
      }
  }
}

std::vector<Case> comparable() {
  std::vector<Case> out = cases();
  std::erase_if(out, [](const Case& c) { return !c.spray_equals_search; });
  return out;
}

INSTANTIATE_TEST_SUITE_P(Fabrics, Oracle, testing::ValuesIn(cases()), [](const auto& i) { return i.param.name; });
INSTANTIATE_TEST_SUITE_P(Fabrics, SprayOracle, testing::ValuesIn(comparable()), [](const auto& i) { return i.param.name; });

// Random Clos networks, leftovers included: any pair, any policy.
RC_GTEST_PROP(OracleProperty, RandomClosRoutesAreShortestAndSound, ()) {
  const auto in = [](std::uint32_t from, std::uint32_t to) { return *rc::gen::inRange(from, to + 1); };
  const std::uint32_t gpus = in(1, 4), groups = in(1, 2), spines = groups * in(1, 3), cores = groups * in(1, 3);
  Clos c{.wiring = in(0, 1) == 0 ? Clos::Wiring::fat_tree : Clos::Wiring::rail_optimized,
         .tiers = in(2, 3),
         .nodes_per_unit = in(1, 4),
         .ports_per_nic = in(1, 2),
         .spines_per_block = spines,
         .leaf_spine = {.links = in(1, 3)}};
  c.separate_planes = c.ports_per_nic == 2 && in(0, 1) == 1;
  if (c.tiers == 3) {
    c.units_per_pod = in(1, 3);
    c.cores = cores * (c.separate_planes ? 2 : 1);
    c.core_groups = groups;
    c.spine_core.links = in(1, 2);
  }
  ClusterSpec spec = cluster(in(2, 20), gpus, NoScaleUp{}, c);
  if (in(0, 1) == 1) spec.scale_up = nvlink(gpus, 2);
  if (in(0, 3) == 0) spec.nic.per_node = gpus * 2;
  if (in(0, 3) == 0) spec.nic.pcie = LinkSpec{gb_per_s(50), {}};
  spec.routing.policy = static_cast<RoutingPolicy>(in(0, 2));
  spec.routing.queue_pairs = in(1, 4);
  const Fabric f = build(spec);
  const auto router = make_router(f, spec);
  const ShortestPaths search{f};
  for (int i = 0; i < 20; ++i) {
    const std::uint32_t a = in(0, f.gpus() - 1), b = in(0, f.gpus() - 1);
    if (a == b) continue;
    const auto distance = search.distance(f.endpoints[gpu(a)], f.endpoints[gpu(b)], rules(f, a, b, false));
    RC_ASSERT(distance.has_value());
    RC_ASSERT(router->hops(gpu(a), gpu(b)) == *distance);
    expect_sound(f, *router, a, b, router->route(gpu(a), gpu(b), 3));
    RC_ASSERT(!testing::Test::HasFailure());
  }
}

}  // namespace
}  // namespace traingraph::topology::test
