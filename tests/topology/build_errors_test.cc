// What does not fit together is refused with the field, what was found, and what is allowed.
#include <functional>
#include <limits>

#include "tests/topology/clusters.h"
#include "topology/layout.h"

namespace traingraph::topology::test {
namespace {

std::string error(const std::function<void(ClusterSpec&)>& change) {
  ClusterSpec s{.nodes = 16, .gpus_per_node = 8, .scale_up = nvlink(8, 4), .nic = nic(400)};
  s.scale_out = Clos{.nodes_per_unit = 4, .spines_per_block = 4};
  change(s);
  return error_of([&] {
    const Fabric f = build(s);
    static_cast<void>(make_router(f, s));
  });
}

Clos& clos(ClusterSpec& s) { return std::get<Clos>(s.scale_out); }

TEST(BuildErrors, TheUnchangedClusterIsFine) {
  EXPECT_EQ(error([](ClusterSpec&) {}), "");
}

TEST(BuildErrors, Sizes) {
  EXPECT_EQ(error([](ClusterSpec& s) { s.nodes = 0; }), "cluster.nodes: found 0, allowed: 1 or more");
  EXPECT_EQ(error([](ClusterSpec& s) { s.gpus_per_node = 0; }), "cluster.node.gpus: found 0, allowed: 1 or more");
  EXPECT_EQ(error([](ClusterSpec& s) { s.nodes = 1U << 30; }),
            "cluster.nodes: found 8589934592 GPUs, allowed: at most 268435456");
}

// Counted before anything is allocated: each is refused at once, by the key that asks for too much.
TEST(BuildErrors, AbsurdCounts) {
  const auto begins = [](const std::string& text, const std::string& key) {
    return text.starts_with("cluster." + key + ": found ") && text.find("at most") != std::string::npos;
  };
  const std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  const auto refused = [&](const std::string& key, const std::function<void(ClusterSpec&)>& change) {
    const std::string text = error(change);
    EXPECT_TRUE(begins(text, key)) << key << ": " << text;
  };
  refused("nodes", [](ClusterSpec& s) { s.nodes = (1U << 25U) - 4; });
  for (const std::uint32_t n : {std::uint32_t{10'000'000}, most})
    refused("node.scale_up.planes", [&](ClusterSpec& s) { s.scale_up = nvlink(8, n); });
  refused("node.scale_up.gpus", [](ClusterSpec& s) { s.scale_up = nvlink(most & ~7U, 1); });
  refused("node.nic.per_node", [&](ClusterSpec& s) { s.nic.per_node = most & ~7U; });
  refused("scale_out.ports_per_nic", [&](ClusterSpec& s) { clos(s).ports_per_nic = most; });
  refused("scale_out.leaf_spine.links", [&](ClusterSpec& s) { clos(s).leaf_spine.links = most; });
  refused("scale_out.spines_per_block", [&](ClusterSpec& s) { clos(s).spines_per_block = most; });
  refused("scale_out.spines_per_block", [&](ClusterSpec& s) {
    s.nodes = 4096;
    clos(s).spines_per_block = 1U << 20U;
    clos(s).leaf_spine.links = 1;
  });
  refused("scale_out.nodes_per_unit", [&](ClusterSpec& s) { clos(s).nodes_per_unit = most; });
  refused("scale_out.switch_ports", [&](ClusterSpec& s) { clos(s).switch_ports = most; });
  refused("scale_out.kind", [&](ClusterSpec& s) {
    s.nodes = 1U << 20U;
    s.scale_out = FullyConnected{.link = {gb_per_s(25), {}}};
  });
  const LinkSpec link{gb_per_s(25), {}};
  for (const std::uint32_t groups : {2U, most})
    refused(groups == 2 ? "scale_out.global_links_per_router" : "scale_out.routers_per_group", [&](ClusterSpec& s) {
      s.scale_out = Dragonfly{.groups = groups,
                              .routers_per_group = groups == 2 ? 64 : most,
                              .hosts_per_router = most,
                              .global_links_per_router = most,
                              .local = link,
                              .global = link};
    });
  refused("scale_out.links[0].parallel", [&](ClusterSpec& s) {
    s.scale_up = NoScaleUp{};
    s.scale_out = Custom{.devices = {{.name = "a"}, {.name = "b"}},
                         .links = {{.source = "a", .target = "b", .bandwidth = gb_per_s(1), .parallel = most}}};
  });
}

// What is large but not absurd stays allowed: the layout of 16,777,216 GPUs is resolved and numbered.
TEST(BuildErrors, LargeClustersAreAllowed) {
  for (const std::uint32_t nodes : {131'072U, 2'097'152U}) {
    ClusterSpec s{.nodes = nodes, .gpus_per_node = 8, .scale_up = nvlink(8, 4), .nic = nic(400)};
    s.scale_out = Clos{.wiring = Clos::Wiring::rail_optimized,
                       .tiers = 3,
                       .nodes_per_unit = 64,
                       .units_per_pod = 64,
                       .spines_per_block = 64,
                       .cores = 16384,
                       .core_groups = 64};
    EXPECT_EQ(error_of([&] { static_cast<void>(resolve(s)); }), "");
  }
}

TEST(BuildErrors, ScaleUp) {
  EXPECT_EQ(error([](ClusterSpec& s) { s.scale_up = nvlink(6, 1); }),
            "cluster.node.scale_up.gpus: found 6, allowed: a divisor or a multiple of gpus_per_node (8)");
  EXPECT_EQ(error([](ClusterSpec& s) { s.scale_up = nvlink(12, 1); }),
            "cluster.node.scale_up.gpus: found 12, allowed: a divisor or a multiple of gpus_per_node (8)");
  EXPECT_EQ(error([](ClusterSpec& s) { s.scale_up = nvlink(8, 0); }),
            "cluster.node.scale_up.planes: found 0, allowed: 1 or more");
  EXPECT_EQ(error([](ClusterSpec& s) { s.scale_up = NvSwitch{.gpus = 8}; }),
            "cluster.node.scale_up.bandwidth: found 0 bytes/s, allowed: more than 0");
  EXPECT_EQ(error([](ClusterSpec& s) { s.scale_up = FullMesh{.gpus = 24, .bandwidth = gb_per_s(1)}; }),
            "cluster.nodes: found 16, allowed: a full mesh needs full domains of 24 GPUs, here 128 GPUs");
  EXPECT_EQ(error([](ClusterSpec& s) {
              s.gpus_per_node = 4;
              s.scale_up = HybridCubeMesh{.link_bandwidth = gb_per_s(25)};
            }),
            "cluster.node.gpus: found 4, allowed: a multiple of 8: a hybrid cube mesh has 8 GPUs");
}

TEST(BuildErrors, Nics) {
  EXPECT_EQ(error([](ClusterSpec& s) { s.nic.per_node = 3; }),
            "cluster.node.nic.per_node: found 3, allowed: a divisor or a multiple of gpus_per_node (8)");
  EXPECT_EQ(error([](ClusterSpec& s) { s.nic.bandwidth = {}; }),
            "cluster.node.nic.bandwidth: found 0 bytes/s, allowed: more than 0");
  EXPECT_EQ(error([](ClusterSpec& s) { s.nic.latency = Duration::ns(-1); }),
            "cluster.node.nic.latency: found -1000 ps, allowed: 0 or more");
  EXPECT_EQ(error([](ClusterSpec& s) { s.nic.pcie = LinkSpec{}; }),
            "cluster.node.nic.pcie.bandwidth: found 0 bytes/s, allowed: more than 0");
}

TEST(BuildErrors, ClosCounts) {
  EXPECT_EQ(error([](ClusterSpec& s) { clos(s).tiers = 4; }), "cluster.scale_out.tiers: found 4, allowed: 1, 2 or 3");
  EXPECT_EQ(error([](ClusterSpec& s) { clos(s).nodes_per_unit = 0; }),
            "cluster.scale_out.nodes_per_unit: found 0, allowed: 1 or more, or switch_ports to derive it from");
  EXPECT_EQ(error([](ClusterSpec& s) { clos(s).spines_per_block = 0; }),
            "cluster.scale_out.spines_per_block: found 0, allowed: 1 or more, or switch_ports to derive it from");
  EXPECT_EQ(error([](ClusterSpec& s) { clos(s).spines_per_block = 5; }),
            "cluster.scale_out.spines_per_block: found 5, allowed: a divisor of a leaf's 32 uplinks");
  EXPECT_EQ(error([](ClusterSpec& s) { clos(s).leaf_spine.oversubscription = 7; }),
            "cluster.scale_out.leaf_spine: found 4.57143 uplinks of a leaf, allowed: a whole number; give the counts and "
            "leave the "
            "bandwidth open, or change the oversubscription");
  EXPECT_EQ(
      error([](ClusterSpec& s) { clos(s).leaf_spine = {.bandwidth = gbps(400), .oversubscription = 3, .links = 4}; }),
      "cluster.scale_out.leaf_spine.oversubscription: found 3, allowed: 2, which follows from 16 uplinks of 5e+10 bytes/s; "
      "leave one of the three open");
  EXPECT_EQ(error([](ClusterSpec& s) { clos(s).cores = 4; }),
            "cluster.scale_out.cores: found 4, allowed: only three tiers have cores");
  EXPECT_EQ(error([](ClusterSpec& s) { clos(s).switch_ports = 40; }),
            "cluster.scale_out.switch_ports: found 40, allowed: at least 64, the cables of a leaf");
  EXPECT_EQ(error([](ClusterSpec& s) { s.scale_out = Clos{.tiers = 3, .nodes_per_unit = 4, .spines_per_block = 4}; }),
            "cluster.scale_out.cores: found 0, allowed: 1 or more, or switch_ports to derive it from");
  EXPECT_EQ(
      error([](ClusterSpec& s) { s.scale_out = Clos{.switch_ports = 8}; }),
      "cluster.scale_out.switch_ports: found 8, allowed: enough ports on a leaf for one node's 8 NICs and their uplinks");
  EXPECT_EQ(
      error([](ClusterSpec& s) {
        s.nodes = 4000;
        s.scale_out = Clos{.switch_ports = 64};
      }),
      "cluster.scale_out.switch_ports: found 64, allowed: at least 1000 ports on a spine, one for each of the 1000 leaves; "
      "or one tier more");
}

TEST(BuildErrors, RailsAndPlanes) {
  EXPECT_EQ(error([](ClusterSpec& s) { clos(s).rails = 4; }),
            "cluster.scale_out.rails: found 4, allowed: only rail_optimized and rail_only have rails");
  EXPECT_EQ(error([](ClusterSpec& s) {
              clos(s).wiring = Clos::Wiring::rail_optimized;
              clos(s).rails = 3;
            }),
            "cluster.scale_out.rails: found 3, allowed: a divisor of the NICs per node (8) or per domain (8)");
  EXPECT_EQ(error([](ClusterSpec& s) { clos(s).separate_planes = true; }),
            "cluster.scale_out.separate_planes: found true with one port per NIC, allowed: ports_per_nic of 2 or more");
  EXPECT_EQ(error([](ClusterSpec& s) { clos(s).ports_per_nic = 0; }),
            "cluster.scale_out.ports_per_nic: found 0, allowed: 1 or more");
  EXPECT_EQ(error([](ClusterSpec& s) { s.scale_out = Clos{.wiring = Clos::Wiring::rail_optimized, .tiers = 1}; }),
            "cluster.scale_out.tiers: found 1 with rail_optimized, allowed: 2 or 3, or wiring rail_only");
}

TEST(BuildErrors, TorusAndDragonfly) {
  EXPECT_EQ(error([](ClusterSpec& s) {
              s.scale_out = Torus{.dims = {4, 5}, .link = {gb_per_s(1), {}}};
            }),
            "cluster.scale_out.dims: found 20 points, allowed: dimensions whose product is the number of domains (16)");
  EXPECT_EQ(error([](ClusterSpec& s) {
              s.scale_out = Torus{.dims = {4, 4}, .wrap = {true}, .link = {gb_per_s(1), {}}};
            }),
            "cluster.scale_out.wrap: found 1 values, allowed: one per dimension (2), or none");
  EXPECT_EQ(error([](ClusterSpec& s) { s.scale_out = Torus{.dims = {16}}; }),
            "cluster.scale_out.link.bandwidth: found 0 bytes/s, allowed: more than 0");
  const LinkSpec link{gb_per_s(25), {}};
  EXPECT_EQ(
      error([&](ClusterSpec& s) {
        s.scale_out = Dragonfly{.groups = 4,
                                .routers_per_group = 4,
                                .hosts_per_router = 4,
                                .global_links_per_router = 1,
                                .local = link,
                                .global = link};
      }),
      "cluster.scale_out.groups: found 64 places for 128 NICs, allowed: groups x routers x hosts of at least the NICs");
  EXPECT_EQ(error([&](ClusterSpec& s) {
              s.scale_out = Dragonfly{.groups = 9,
                                      .routers_per_group = 4,
                                      .hosts_per_router = 4,
                                      .global_links_per_router = 1,
                                      .local = link,
                                      .global = link};
            }),
            "cluster.scale_out.global_links_per_router: found 1, allowed: enough for a link to each of the 8 other groups");
  EXPECT_EQ(
      error([&](ClusterSpec& s) {
        s.nodes = 1U << 17;
        s.scale_out = FullyConnected{.link = link};
      }),
      "cluster.scale_out.kind: found 1.374e+11 directed links, allowed: at most 536870912 directed links, which is what the "
      "program would hold");
}

TEST(BuildErrors, Routing) {
  EXPECT_EQ(error([](ClusterSpec& s) { s.routing.queue_pairs = 0; }),
            "cluster.routing.queue_pairs: found 0, allowed: 1 or more");
  EXPECT_EQ(error([](ClusterSpec& s) { s.routing.otherwise = RoutingPolicy::ecmp; }),
            "cluster.routing.policy: found spray, allowed: explicit when paths are listed");
}

}  // namespace
}  // namespace traingraph::topology::test
