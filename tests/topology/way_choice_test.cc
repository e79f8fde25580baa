// Which NICs, rails, dimensions and switches a transfer uses, on fabrics small enough to know the answer.
#include "tests/topology/clusters.h"

namespace traingraph::topology::test {
namespace {

using Shares = std::map<std::string, sim::Fraction>;
constexpr sim::Fraction kAll{1, 1};

sim::Path route(const Fabric& f, const ClusterSpec& s, std::uint32_t a, std::uint32_t b, std::uint64_t connection = 0) {
  return make_router(f, s)->route(gpu(a), gpu(b), connection);
}

// ---------------------------------------------------------------------------------------------------- NICs and PXN

ClusterSpec two_nodes_of_rails(bool pxn) {
  ClusterSpec s{.nodes = 8, .gpus_per_node = 8, .scale_up = nvlink(8, 1), .nic = nic(400)};
  s.scale_out = Clos{.wiring = Clos::Wiring::rail_optimized, .nodes_per_unit = 4, .spines_per_block = 4};
  s.routing.policy = RoutingPolicy::static_;
  s.routing.pxn = pxn;
  return s;
}

TEST(Pxn, ForwardsInsideTheNodeToTheDestinationsRail) {
  const ClusterSpec s = two_nodes_of_rails(true);
  const Fabric f = build(s);
  // GPU 2 of node 0 to GPU 5 of node 1: over NVLink to GPU 5 of node 0, then the leaf of rail 5
  EXPECT_EQ(shares(f, route(f, s, 2, 13)), (Shares{{"node0.gpu2>nvswitch0", kAll},
                                                   {"node0.nvswitch0>gpu5", kAll},
                                                   {"node0.gpu5>unit0.leaf5", kAll},
                                                   {"unit0.leaf5>node1.gpu5", kAll}}));
  EXPECT_EQ(shares(f, route(f, s, 5, 13)).size(), 2U) << "the same rail: no forwarding";
  EXPECT_EQ(make_router(f, s)->hops(gpu(2), gpu(13)), 4U);
  EXPECT_EQ(route(f, s, 2, 13).latency, Duration::ns(300 + 300 + 500 + 500));
}

TEST(Pxn, OffCrossesTheSpine) {
  const ClusterSpec s = two_nodes_of_rails(false);
  const Fabric f = build(s);
  const Shares way = shares(f, route(f, s, 2, 13));
  EXPECT_EQ(way.size(), 4U);
  EXPECT_TRUE(way.contains("node0.gpu2>unit0.leaf2"));
  EXPECT_TRUE(way.contains("unit0.leaf5>node1.gpu5"));
  for (const auto& [name, share] : way) EXPECT_EQ(name.find("nvswitch"), std::string::npos);
}

TEST(Pxn, InADomainOfManyNodesStaysInTheNode) {
  ClusterSpec s{.nodes = 36, .gpus_per_node = 4, .scale_up = nvlink(72, 2), .nic = nic(400)};
  s.scale_out =
      Clos{.wiring = Clos::Wiring::rail_optimized, .nodes_per_unit = 18, .spines_per_block = 6, .leaf_spine = {.links = 3}};
  s.routing.pxn = true;
  const Fabric f = build(s);
  // node 3 GPU 1 (GPU 13) to node 20 GPU 2 (GPU 82)
  const Shares way = shares(f, route(f, s, 13, 82));
  EXPECT_TRUE(way.contains("node3.gpu2>unit0.leaf2"));
  EXPECT_TRUE(way.contains("domain0.nvswitch0>node3.gpu2"));
  EXPECT_EQ(way.at("domain0.nvswitch0>node3.gpu2"), (sim::Fraction{1, 2}));
}

// Rail-only: 2 domains of 2 nodes x 2 GPUs, 4 rails along the domain; cross-rail traffic changes the rail inside the domain
// first.
TEST(RailOnly, ChangesRailsOverNvlink) {
  ClusterSpec s{.nodes = 6, .gpus_per_node = 2, .scale_up = nvlink(4, 1), .nic = nic(400)};
  s.scale_out = Clos{.wiring = Clos::Wiring::rail_only, .tiers = 1, .rails = 4};
  const Fabric f = build(s);
  EXPECT_EQ(devices(f, DeviceKind::leaf), 4U);
  EXPECT_EQ(devices(f, DeviceKind::spine), 0U);
  EXPECT_EQ(shares(f, route(f, s, 0, 7)), (Shares{{"node0.gpu0>domain0.nvswitch0", kAll},
                                                  {"domain0.nvswitch0>node1.gpu1", kAll},
                                                  {"node1.gpu1>unit0.leaf3", kAll},
                                                  {"unit0.leaf3>node3.gpu1", kAll}}));
  const auto router = make_router(f, s);
  for (std::uint32_t a = 0; a < f.gpus(); ++a)
    for (std::uint32_t b = 0; b < f.gpus(); ++b)
      if (a != b) expect_sound(f, *router, a, b, router->route(gpu(a), gpu(b), 0));
}

TEST(RailOnly, WithoutNvlinkNamesThePairThatCannotMeet) {
  ClusterSpec s{
      .nodes = 4, .gpus_per_node = 2, .nic = nic(400), .scale_out = Clos{.wiring = Clos::Wiring::rail_only, .tiers = 1}};
  const Fabric f = build(s);
  const auto router = make_router(f, s);
  EXPECT_EQ(router->hops(gpu(0), gpu(2)), 2U);
  EXPECT_EQ(error_of([&] { static_cast<void>(router->route(gpu(0), gpu(3), 0)); }),
            "no path from node0.gpu0 (GPU 0) to node1.gpu1 (GPU 3): their NICs' switches are not joined (separate rails)");
}

TEST(Nics, SeveralPerGpuShareEvenlyAndSharedOnesAreShared) {
  ClusterSpec s{.nodes = 2, .gpus_per_node = 2, .scale_up = nvlink(2, 1), .nic = nic(100), .scale_out = SingleSwitch{}};
  s.nic.per_node = 8;
  const Fabric many = build(s);
  const sim::Path four = route(many, s, 0, 3);
  EXPECT_EQ(four.links.size(), 8U);
  for (const sim::PathLink& l : four.links) EXPECT_EQ(l.k, 4U);
  EXPECT_DOUBLE_EQ(sim::rate_alone(many.links, four).bytes_per_s(), 4 * 12.5e9);
  s.nic.per_node = 1;
  const Fabric one = build(s);
  EXPECT_EQ(devices(one, DeviceKind::nic), 2U);
  EXPECT_EQ(shares(one, route(one, s, 0, 3)), (Shares{{"node0.gpu0>nic0", kAll},
                                                      {"node0.nic0>switch0", kAll},
                                                      {"switch0>node1.nic0", kAll},
                                                      {"node1.nic0>gpu1", kAll}}));
  EXPECT_TRUE(shares(one, route(one, s, 1, 2)).contains("node0.nic0>switch0")) << "the same NIC for both GPUs";
}

TEST(NoScaleOut, NamesThePair) {
  ClusterSpec s{.nodes = 2, .gpus_per_node = 8, .scale_up = nvlink(8, 1)};
  const Fabric f = build(s);
  const auto router = make_router(f, s);
  EXPECT_EQ(router->hops(gpu(0), gpu(7)), 2U);
  EXPECT_EQ(error_of([&] { static_cast<void>(router->route(gpu(1), gpu(8), 0)); }),
            "no path from node0.gpu1 (GPU 1) to node1.gpu0 (GPU 8): the cluster has no scale-out network");
}

// ------------------------------------------------------------------------------------------------------------ tori

ClusterSpec torus(std::vector<std::uint32_t> dims, RoutingPolicy policy) {
  std::uint32_t n = 1;
  for (const std::uint32_t d : dims) n *= d;
  ClusterSpec s{
      .nodes = n, .gpus_per_node = 1, .scale_out = Torus{.dims = std::move(dims), .link = {gb_per_s(45), Duration::us(1)}}};
  s.routing.policy = policy;
  return s;
}

// From (0,0) to (1,1) on a 5 x 5 torus: two minimal paths, half each. To (2,1): three paths; the first step along x is on
// two of them.
TEST(TorusSpray, CountsLatticePaths) {
  const ClusterSpec s = torus({5, 5}, RoutingPolicy::spray);
  const Fabric f = build(s);
  for (const auto& [name, share] : shares(f, route(f, s, 0, 6))) EXPECT_EQ(share, (sim::Fraction{1, 2})) << name;
  const Shares way = shares(f, route(f, s, 0, 7));
  EXPECT_EQ(way.at("node0.gpu0>node1.gpu0"), (sim::Fraction{2, 3}));
  EXPECT_EQ(way.at("node0.gpu0>node5.gpu0"), (sim::Fraction{1, 3}));
  EXPECT_EQ(way.at("node1.gpu0>node2.gpu0"), (sim::Fraction{1, 3}));
}

TEST(TorusSpray, RefusesSharesThatItCannotKeepAndOffersDimensionOrders) {
  ClusterSpec s = torus({16, 20, 28}, RoutingPolicy::spray);
  const Fabric f = build(s);
  const std::uint32_t far = 8 + 16 * (10 + 20 * 14);
  const std::string error = error_of([&] { static_cast<void>(route(f, s, 0, far)); });
  EXPECT_NE(error.find("torus_spray: dimension_orders"), std::string::npos) << error;
  s.routing.torus_spray = TorusSpray::dimension_orders;
  const auto router = make_router(f, s);
  const sim::Path path = router->route(gpu(0), gpu(far), 0);
  EXPECT_EQ(path.routes.size(), 48U) << "6 orders x 2^3 ways round";
  expect_sound(f, *router, 0, far, path);
}

TEST(TorusStatic, GoesAlongTheLowestDimensionFirst) {
  const ClusterSpec s = torus({5, 5}, RoutingPolicy::static_);
  const Fabric f = build(s);
  EXPECT_EQ(shares(f, route(f, s, 0, 9)), (Shares{{"node0.gpu0>node4.gpu0", kAll}, {"node4.gpu0>node9.gpu0", kAll}}));
}

TEST(TorusOfDomains, ReachesOtherPositionsOverNvlink) {
  ClusterSpec s{
      .nodes = 5, .gpus_per_node = 4, .scale_up = nvlink(4, 1), .scale_out = Ring{.link = {gb_per_s(50), Duration::us(1)}}};
  const Fabric f = build(s);
  EXPECT_EQ(shares(f, route(f, s, 1, 18)),
            (Shares{{"node0.gpu1>nvswitch0", kAll}, {"node0.nvswitch0>gpu2", kAll}, {"node0.gpu2>node4.gpu2", kAll}}));
}

// ---------------------------------------------------------------------------------------------------------- in-switch

TEST(InSwitch, NvlsSpreadsOverAllPlanes) {
  ClusterSpec s{.nodes = 1, .gpus_per_node = 8, .scale_up = nvlink(8, 4)};
  std::get<NvSwitch>(s.scale_up).in_switch_reduction = true;
  const Fabric f = build(s);
  const std::vector<sim::EndpointId> members{gpu(0), gpu(3), gpu(5)};
  const sim::Path path = make_router(f, s)->route_in_switch(members);
  EXPECT_EQ(path.links.size(), 3U * 4 * 2);
  for (const sim::PathLink& l : path.links) EXPECT_EQ(l.k, 4U);
  EXPECT_EQ(path.latency, Duration::ns(600)) << "longest up + longest down";
  EXPECT_EQ(path.overhead, Duration::us(2));
  ASSERT_EQ(path.routes.size(), 4U);
  for (const sim::Route& r : path.routes) {
    ASSERT_EQ(r.stages.size(), 2U);
    EXPECT_EQ(r.stages[0].size(), 3U);
    EXPECT_EQ(r.stages[1].size(), 3U);
  }
  EXPECT_DOUBLE_EQ(sim::rate_alone(f.links, path).bytes_per_s(), 450e9);
}

TEST(InSwitch, IsRefusedWhereSwitchesCannotReduce) {
  ClusterSpec s{.nodes = 2, .gpus_per_node = 8, .scale_up = nvlink(8, 4), .nic = nic(400), .scale_out = SingleSwitch{}};
  const Fabric f = build(s);
  const auto router = make_router(f, s);
  const std::vector<sim::EndpointId> inside{gpu(0), gpu(1)}, across{gpu(0), gpu(9)};
  EXPECT_NE(error_of([&] { static_cast<void>(router->route_in_switch(inside)); }).find("in_switch_reduction"),
            std::string::npos);
  EXPECT_NE(error_of([&] { static_cast<void>(router->route_in_switch(across)); }).find("in_network_reduction"),
            std::string::npos);
}

// SHARP over three tiers: each member's link, each leaf's and each pod's once, up and down.
TEST(InSwitch, TreeOverLeavesSpinesAndACore) {
  ClusterSpec s{.nodes = 8, .gpus_per_node = 1, .nic = nic(400)};
  s.scale_out = Clos{.tiers = 3,
                     .nodes_per_unit = 2,
                     .units_per_pod = 2,
                     .spines_per_block = 2,
                     .cores = 2,
                     .leaf_spine = {.latency = Duration::ns(600)},
                     .spine_core = {.latency = Duration::ns(700)},
                     .in_network_reduction = true};
  s.routing.policy = RoutingPolicy::static_;
  const Fabric f = build(s);
  const std::vector<sim::EndpointId> all{gpu(0), gpu(1), gpu(2), gpu(3), gpu(4), gpu(5), gpu(6), gpu(7)};
  const sim::Path path = make_router(f, s)->route_in_switch(all);
  EXPECT_EQ(path.links.size(), 2U * (8 + 4 + 2));
  for (const sim::PathLink& l : path.links) EXPECT_EQ(l, (sim::PathLink{l.link, 1, 1}));
  EXPECT_EQ(path.latency, 2 * Duration::ns(500 + 600 + 700));
  // a group below one leaf needs no spine
  EXPECT_EQ(make_router(f, s)->route_in_switch(std::vector<sim::EndpointId>{gpu(2), gpu(3)}).links.size(), 4U);
  s.routing.policy = RoutingPolicy::spray;
  const sim::Path even = make_router(build(s), s)->route_in_switch(all);
  sim::Fraction up;
  for (const sim::PathLink& l : even.links)
    if (f.link_info[l.link].name.starts_with("leaf0>pod0.spine")) up = up + sim::Fraction{l.n, l.k};
  EXPECT_EQ(up, kAll) << "over both spines together, the leaf sends the sum once";
}

}  // namespace
}  // namespace traingraph::topology::test
