// What `topo show` prints.
#include <nlohmann/json.hpp>

#include "tests/topology/clusters.h"

namespace traingraph::topology::test {
namespace {

TEST(Describe, SuperPodOfFourUnits) {
  const ClusterSpec s = superpod(127, 2);
  const Description d = describe(build(s), s);
  EXPECT_EQ(d.gpus, 1016U);
  EXPECT_EQ(d.nodes, 127U);
  EXPECT_EQ(d.nics, 1016U);
  ASSERT_EQ(d.oversubscription.size(), 1U);
  EXPECT_DOUBLE_EQ(d.oversubscription[0].ratio, 1.0);
  EXPECT_EQ(d.diameter, 4U);
  EXPECT_EQ(d.bisection_gpus, 504U) << "63 nodes against 64";
  EXPECT_DOUBLE_EQ(d.bisection->bytes_per_s(), 504 * 50e9) << "the NICs of 63 nodes";
  std::map<Tier, std::uint64_t> cables;
  for (const LinkGroup& g : d.links) cables[g.tier] += g.cables;
  EXPECT_EQ(cables[Tier::leaf_spine], 1024U);
  EXPECT_EQ(cables[Tier::nic], 1016U);
  EXPECT_EQ(cables[Tier::scale_up], 1016U * 4);
}

TEST(Describe, OversubscriptionPerTier) {
  ClusterSpec s{.nodes = 48, .gpus_per_node = 8, .scale_up = nvlink(8, 1), .nic = nic(400)};
  s.scale_out = Clos{.tiers = 3,
                     .nodes_per_unit = 2,
                     .units_per_pod = 6,
                     .spines_per_block = 4,
                     .cores = 3,
                     .core_groups = 1,
                     .leaf_spine = {.oversubscription = 2},
                     .spine_core = {.oversubscription = 7}};
  const Description d = describe(build(s), s);
  ASSERT_EQ(d.oversubscription.size(), 2U);
  EXPECT_EQ(d.oversubscription[0].kind, DeviceKind::leaf);
  EXPECT_NEAR(d.oversubscription[0].ratio, 2, 1e-12);
  EXPECT_NEAR(d.oversubscription[1].ratio, 7, 1e-12);
  EXPECT_EQ(d.diameter, 6U);
  // half of the 4 pods send 2 x 96 GPUs x 50 GB/s / 2 / 7
  EXPECT_NEAR(d.bisection->bytes_per_s(), 192 * 50e9 / 14, 1);
}

TEST(Describe, Diameters) {
  const LinkSpec link{gb_per_s(50), {}};
  const auto diameter = [](ClusterSpec s) { return describe(build(s), s).diameter; };
  const ClusterSpec base{.nodes = 24, .gpus_per_node = 1};
  const auto with = [&](ScaleOut out) {
    ClusterSpec s = base;
    s.nic = nic(400);
    s.scale_out = std::move(out);
    return s;
  };
  EXPECT_EQ(diameter(with(Ring{.link = link})), 12U);
  EXPECT_EQ(diameter(with(Ring{.wrap = false, .link = link})), 23U);
  EXPECT_EQ(diameter(with(Torus{.dims = {4, 3, 2}, .link = link})), 2U + 1 + 1);
  EXPECT_EQ(diameter(with(FullyConnected{.link = link})), 1U);
  EXPECT_EQ(diameter(with(SingleSwitch{})), 2U);
  EXPECT_EQ(diameter(with(Dragonfly{.groups = 3,
                                    .routers_per_group = 4,
                                    .hosts_per_router = 2,
                                    .global_links_per_router = 1,
                                    .local = link,
                                    .global = link})),
            5U);
  ClusterSpec pxn = superpod(64, 2);
  pxn.routing.pxn = true;
  EXPECT_EQ(diameter(pxn), 6U) << "two NVLink hops before four links of one rail";
  ClusterSpec dgx1{.gpus_per_node = 8, .scale_up = HybridCubeMesh{.link_bandwidth = gb_per_s(25)}};
  EXPECT_EQ(diameter(dgx1), 2U);
}

TEST(Describe, CountsOfACustomFabric) {
  Custom c{.devices = {{.name = "a"}, {.name = "n", .kind = DeviceKind::nic}, {.name = "b"}},
           .links = {{.source = "a", .target = "n", .bandwidth = gb_per_s(50), .parallel = 2, .tier = Tier::pcie},
                     {.source = "n", .target = "b", .bandwidth = gb_per_s(25), .half_duplex = true}}};
  const ClusterSpec s{.scale_out = c};
  const Description d = describe(build(s), s);
  EXPECT_EQ(d.nics, 1U);
  ASSERT_EQ(d.links.size(), 2U);
  EXPECT_EQ(d.links[0].cables, 2U);
  EXPECT_EQ(d.links[1].cables, 1U);
  EXPECT_EQ(d.link_objects, 5U);
  EXPECT_EQ(d.diameter, 2U);
  EXPECT_FALSE(d.bisection.has_value());
}

TEST(Text, NamesEveryCount) {
  const ClusterSpec s = superpod(31, 2);
  const std::string text = to_text(describe(build(s), s));
  for (const char* part : {"248 GPUs, 31 nodes", "leaf                  8", "spine                 4",
                           "256 x    50.000 GB/s", "oversubscription at leaf: 1:1", "diameter: 4 links"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(Json, HoldsEveryDeviceAndLink) {
  const ClusterSpec s = superpod(3, 2);
  const Fabric f = build(s);
  const nlohmann::json j = nlohmann::json::parse(to_json(f, describe(f, s)));
  EXPECT_EQ(j["schema"], "traingraph/topology/1");
  ASSERT_EQ(j["devices"].size(), f.devices.size());
  ASSERT_EQ(j["links"].size(), f.links.size());
  EXPECT_EQ(j["links"][0]["name"], "node0.gpu0>nvswitch0");
  EXPECT_DOUBLE_EQ(j["links"][0]["capacity_bytes_per_s"], 450e9 / 4);
  EXPECT_EQ(j["links"][0]["latency_ps"], 300'000);
  EXPECT_EQ(j["device_counts"]["leaf"], 8);
}

TEST(Dot, HasAnEdgePerCableAndIsAggregatedWhenBig) {
  ClusterSpec s{.name = "two \"nodes\"",
                .nodes = 2,
                .gpus_per_node = 2,
                .scale_up = nvlink(2, 1),
                .nic = nic(400),
                .scale_out = SingleSwitch{}};
  const Fabric f = build(s);
  const std::string dot = to_dot(f, describe(f, s));
  EXPECT_EQ(std::ranges::count(dot, '>'), 8) << "4 NVLinks and 4 NIC cables";
  EXPECT_NE(dot.find("\"node1.gpu0\" -> \"switch0\" [dir=both, label=\"50 GB/s\"]"), std::string::npos) << dot;
  EXPECT_NE(dot.find("digraph \"two \\\"nodes\\\"\""), std::string::npos);
  const std::string big = to_dot(f, describe(f, s), 3);
  EXPECT_EQ(std::ranges::count(big, '>'), 2) << big;
  EXPECT_NE(big.find("4 x gpu"), std::string::npos);
}

TEST(Svg, DrawsEveryDeviceOrKinds) {
  const ClusterSpec s = superpod(2, 2);
  const Fabric f = build(s);
  const Description d = describe(f, s);
  const auto count = [](const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
  };
  const std::string svg = to_svg(f, d);
  EXPECT_EQ(count(svg, "<rect"), f.devices.size());
  EXPECT_EQ(count(svg, "<line"), f.links.size());
  EXPECT_EQ(count(svg, "node0.gpu0&gt;nvswitch0"), 1U) << "names are escaped";
  const std::string big = to_svg(f, d, 10);
  EXPECT_EQ(count(big, "<rect"), d.devices.size());
  EXPECT_EQ(count(big, "<line"), d.links.size());
}

}  // namespace
}  // namespace traingraph::topology::test
