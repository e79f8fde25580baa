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
  const std::string where = "cluster.routing.paths[0 to 5]: found ";
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
