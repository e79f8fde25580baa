// What each policy promises, on fabrics small enough to know the answer.
#include "tests/topology/clusters.h"

namespace traingraph::topology::test {
namespace {

using Shares = std::map<std::string, sim::Fraction>;
constexpr sim::Fraction kAll{1, 1};

/// 2 leaves with 4 nodes of one GPU, 4 spines, one link each.
ClusterSpec two_leaves(RoutingPolicy policy) {
  ClusterSpec s{.nodes = 8, .gpus_per_node = 1, .nic = nic(400)};
  s.scale_out = Clos{.nodes_per_unit = 4, .spines_per_block = 4, .leaf_spine = {.latency = Duration::ns(600)}};
  s.routing.policy = policy;
  return s;
}

sim::Path route(const Fabric& f, const ClusterSpec& s, std::uint32_t a, std::uint32_t b, std::uint64_t connection = 0) {
  return make_router(f, s)->route(gpu(a), gpu(b), connection);
}

// d-mod-k: the four GPUs below a leaf are reached over four different spines, from everywhere the same one.
TEST(StaticRouting, SpreadsDestinationsEvenlyOverTheSpines) {
  const ClusterSpec s = two_leaves(RoutingPolicy::static_);
  const Fabric f = build(s);
  std::set<std::string> spines;
  for (std::uint32_t b = 4; b < 8; ++b) {
    const Shares first = shares(f, route(f, s, 0, b));
    ASSERT_EQ(first.size(), 4U);
    std::string down;
    for (const auto& [name, share] : first) {
      EXPECT_EQ(share, kAll);
      if (name.ends_with(">leaf1") && name.starts_with("spine")) down = name;
    }
    spines.insert(down);
    for (std::uint32_t a = 1; a < 4; ++a) EXPECT_TRUE(shares(f, route(f, s, a, b, a)).contains(down));
  }
  EXPECT_EQ(spines.size(), 4U);
}

// A permutation between the leaves of a non-blocking rail-optimized fabric loads every uplink once: d-mod-k goes by the
// number on the rail, not by the number of the GPU, whose multiples of 8 would all choose the same spines.
TEST(StaticRouting, LoadsEveryUplinkOfARailLeafOnce) {
  ClusterSpec s = superpod(64, 2);
  s.routing.policy = RoutingPolicy::static_;
  const Fabric f = build(s);
  const auto router = make_router(f, s);
  std::map<sim::LinkId, int> load;
  for (std::uint32_t e = 0; e < 256; ++e)
    for (const sim::PathLink& l : router->route(gpu(e), gpu(e + 256), 0).links) ++load[l.link];
  for (const auto& [link, n] : load) ASSERT_EQ(n, 1) << f.link_info[link].name;
  EXPECT_EQ(load.size(), 256U * 4);
}

TEST(Spray, IsEvenOverSpinesAndBundlesParallelLinks) {
  ClusterSpec s = two_leaves(RoutingPolicy::spray);
  std::get<Clos>(s.scale_out).spines_per_block = 2;
  std::get<Clos>(s.scale_out).leaf_spine.links = 2;
  const Fabric f = build(s);
  const sim::Fraction half{1, 2};
  EXPECT_EQ(shares(f, route(f, s, 1, 6)), (Shares{{"node1.gpu0>leaf0", kAll},
                                                  {"leaf0>spine0", half},
                                                  {"leaf0>spine1", half},
                                                  {"spine0>leaf1", half},
                                                  {"spine1>leaf1", half},
                                                  {"leaf1>node6.gpu0", kAll}}));
  for (std::uint32_t i = 0; i < f.links.size(); ++i) {
    const auto id = static_cast<sim::LinkId>(i);
    if (f.link_info[id].tier != Tier::leaf_spine) continue;
    EXPECT_EQ(f.link_info[id].cables, 2U);
    EXPECT_DOUBLE_EQ(f.links[id].capacity.bytes_per_s(), 2 * 50e9);
  }
  // latency: 500 ns to the leaf, 600 to the spine, and back
  EXPECT_EQ(route(f, s, 1, 6).latency, Duration::ns(2200));
  EXPECT_EQ(route(f, s, 1, 6).overhead, Duration::us(5));
}

TEST(Spray, OfManyRoutesListsLinksOnly) {
  ClusterSpec s = two_leaves(RoutingPolicy::spray);
  const Fabric f = build(s);
  EXPECT_EQ(route(f, s, 0, 5).routes.size(), 4U);
  s.routing.listed_routes = 3;
  EXPECT_TRUE(route(f, s, 0, 5).routes.empty());
  EXPECT_EQ(route(f, s, 0, 5).links.size(), 10U);
  EXPECT_EQ(route(f, s, 0, 1).routes.size(), 1U);
  s.routing.listed_routes = 0;
  EXPECT_TRUE(route(f, s, 0, 1).routes.empty());
  EXPECT_EQ(route(f, s, 0, 1).links.size(), 2U);
}

// The three-tier Clos of a large pod: routes = spines x cores x spines below a core, all counted by formula.
TEST(Spray, CrossesThreeTiersByFormula) {
  ClusterSpec s{.nodes = 32, .gpus_per_node = 1, .nic = nic(400)};
  s.scale_out = Clos{.tiers = 3,
                     .nodes_per_unit = 2,
                     .units_per_pod = 8,
                     .spines_per_block = 64,
                     .cores = 64,
                     .core_groups = 2,
                     .leaf_spine = {.links = 4}};
  const Fabric f = build(s);
  const sim::Path path = route(f, s, 0, 16);
  EXPECT_TRUE(path.routes.empty()) << "64 x 32 x 32 routes";
  EXPECT_EQ(path.links.size(), 2U + 2 * 64 + 2 * 64 * 32);
  for (const sim::PathLink& l : path.links) {
    const Tier tier = f.link_info[l.link].tier;
    EXPECT_EQ(l.n, 1U);
    EXPECT_EQ(l.k, tier == Tier::nic ? 1U : tier == Tier::leaf_spine ? 64U : 2048U);
  }
}

TEST(Ecmp, IsDeterministicAndDependsOnSeedAndConnection) {
  ClusterSpec s = two_leaves(RoutingPolicy::ecmp);
  s.routing.seed = 1;
  const Fabric f = build(s);
  const auto router = make_router(f, s), again = make_router(f, s);
  EXPECT_TRUE(router->depends_on_connection());
  s.routing.seed = 2;
  const auto other = make_router(f, s);
  std::set<std::vector<std::uint32_t>> by_connection;
  int differs = 0;
  for (std::uint64_t c = 0; c < 64; ++c) {
    const sim::Path p = router->route(gpu(0), gpu(5), c);
    EXPECT_EQ(p.links, again->route(gpu(0), gpu(5), c).links);
    differs += p.links == other->route(gpu(0), gpu(5), c).links ? 0 : 1;
    std::vector<std::uint32_t> ids;
    for (const sim::PathLink& l : p.links) ids.push_back(sim::index(l.link));
    by_connection.insert(ids);
  }
  EXPECT_EQ(by_connection.size(), 4U) << "64 connections reach all four spines";
  EXPECT_GT(differs, 32) << "three of four differ on average";
}

// q queue pairs carry 1/q each; those that hash to the same path count together, so 16 on 4 spines give sixteenths that add
// up.
TEST(Ecmp, QueuePairsShareTheTransfer) {
  ClusterSpec s = two_leaves(RoutingPolicy::ecmp);
  s.routing.queue_pairs = 16;
  const Fabric f = build(s);
  const auto router = make_router(f, s);
  for (std::uint64_t c = 0; c < 20; ++c) {
    const sim::Path path = router->route(gpu(1), gpu(6), c);
    expect_sound(f, *router, 1, 6, path);
    EXPECT_LE(path.routes.size(), 4U) << "equal paths are one";
    std::uint64_t sixteenths = 0;
    for (const sim::Route& r : path.routes) sixteenths += r.n * 16U / r.k;
    EXPECT_EQ(sixteenths, 16U);
  }
}

// Over 20,000 flows each of 4 spines gets a quarter, within five standard deviations.
TEST(Ecmp, HashesEvenly) {
  const ClusterSpec s = two_leaves(RoutingPolicy::ecmp);
  const Fabric f = build(s);
  const auto router = make_router(f, s);
  std::map<std::string, int> count;
  for (std::uint64_t c = 0; c < 20000; ++c)
    for (const auto& [name, share] : shares(f, router->route(gpu(static_cast<std::uint32_t>(c % 4)), gpu(4 + c / 4 % 4), c)))
      if (name.starts_with("leaf0>spine")) ++count[name];
  ASSERT_EQ(count.size(), 4U);
  for (const auto& [name, n] : count) EXPECT_NEAR(n, 5000, 5 * 61) << name;
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
    if (f.link_info[l.link].name.starts_with("leaf0>spine")) up = up + sim::Fraction{l.n, l.k};
  EXPECT_EQ(up, kAll) << "over both spines together, the leaf sends the sum once";
}

// -------------------------------------------------------------------------------------------------------- explicit

TEST(Explicit, TakesTheListedPathsInProportionAndRefusesOthers) {
  ClusterSpec s = two_leaves(RoutingPolicy::explicit_);
  const std::string from = "node0.gpu0", to = "node5.gpu0";
  s.routing.explicit_paths = {{.source = 0, .destination = 5, .devices = {from, "leaf0", "spine3", "leaf1", to}, .share = 3},
                              {.source = 0, .destination = 5, .devices = {from, "leaf0", "spine1", "leaf1", to}}};
  const Fabric f = build(s);
  const Shares way = shares(f, route(f, s, 0, 5));
  EXPECT_EQ(way.at("leaf0>spine3"), (sim::Fraction{3, 4}));
  EXPECT_EQ(way.at("spine1>leaf1"), (sim::Fraction{1, 4}));
  EXPECT_EQ(way.at("node0.gpu0>leaf0"), kAll);
  EXPECT_EQ(error_of([&] { static_cast<void>(route(f, s, 5, 0)); }),
            "no path is listed from node5.gpu0 (GPU 5) to node0.gpu0 (GPU 0), and routing.otherwise is not given");
  s.routing.otherwise = RoutingPolicy::static_;
  EXPECT_EQ(shares(f, route(f, s, 5, 0)).size(), 4U);
}

TEST(Explicit, ChoosesAmongParallelLinksAndChecksTheWay) {
  ClusterSpec s = two_leaves(RoutingPolicy::explicit_);
  std::get<Clos>(s.scale_out).spines_per_block = 2;
  std::get<Clos>(s.scale_out).leaf_spine.links = 2;
  ExplicitPath p{.source = 0, .destination = 5, .devices = {"node0.gpu0", "leaf0", "spine1#1", "leaf1", "node5.gpu0"}};
  s.routing.explicit_paths = {p};
  const Fabric f = build(s);
  EXPECT_TRUE(shares(f, route(f, s, 0, 5)).contains("leaf0>spine1#1"));
  const auto error = [&](std::vector<std::string> devices) {
    ClusterSpec bad = s;
    bad.routing.explicit_paths[0].devices = std::move(devices);
    return error_of([&] { static_cast<void>(make_router(f, bad)); });
  };
  const std::string where = "cluster.routing.explicit_paths[0 to 5]: found ";
  EXPECT_EQ(error({"node0.gpu0", "spine1", "node5.gpu0"}),
            where + "a step from node0.gpu0 to spine1, which are not linked, allowed: linked devices");
  EXPECT_EQ(error({"node0.gpu0", "leaf0", "spine1#2", "leaf1", "node5.gpu0"}),
            where + "link #2 from leaf0 to spine1, allowed: #0 to #1");
  EXPECT_EQ(error({"node0.gpu0", "leaf9", "node5.gpu0"}), where + "'leaf9', allowed: the name of a device of the fabric");
  EXPECT_EQ(error({"node0.gpu0", "leaf0", "node1.gpu0"}), where + "'node1.gpu0' at its end, allowed: node5.gpu0");
}

// An endpoint reaches itself over nothing.
TEST(AnyRouter, GivesAnEmptyPathToItself) {
  const ClusterSpec s = two_leaves(RoutingPolicy::spray);
  const Fabric f = build(s);
  EXPECT_TRUE(route(f, s, 3, 3).links.empty());
  EXPECT_EQ(route(f, s, 3, 3).overhead, Duration{});
  EXPECT_EQ(make_router(f, s)->hops(gpu(3), gpu(3)), 0U);
}

}  // namespace
}  // namespace traingraph::topology::test
