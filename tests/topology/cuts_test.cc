// Cuts: which GPUs, which capacity; by hand on small clusters.
#include "topology/cuts.h"

#include "tests/topology/clusters.h"

namespace traingraph::topology::test {
namespace {

const Cut* find(const Fabric& f, const std::string& name) {
  for (const Cut& c : f.cuts)
    if (c.name == name) return &c;
  return nullptr;
}

// 8 nodes x 4 GPUs, 2 nodes a rack, 2:1 at the leaf: a node sends 4 x 50 GB/s, a rack 8 x 50 / 2.
TEST(Cuts, OfNodesRacksAndTheMiddle) {
  ClusterSpec s{.nodes = 8, .gpus_per_node = 4, .scale_up = nvlink(4, 2), .nic = nic(400)};
  s.scale_out = Clos{.nodes_per_unit = 2, .spines_per_block = 2, .leaf_spine = {.oversubscription = 2}};
  const Fabric f = build(s);
  const Cut* node = find(f, "node 3");
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(node->size(), 4U);
  EXPECT_TRUE(node->contains(gpu(12)) && node->contains(gpu(15)));
  EXPECT_FALSE(node->contains(gpu(11)) || node->contains(gpu(16)));
  EXPECT_DOUBLE_EQ(node->capacity_out.bytes_per_s(), 200e9);
  EXPECT_DOUBLE_EQ(node->capacity_in.bytes_per_s(), 200e9);
  const Cut* rack = find(f, "rack 1");
  ASSERT_NE(rack, nullptr);
  EXPECT_EQ(rack->size(), 8U);
  EXPECT_DOUBLE_EQ(rack->capacity_out.bytes_per_s(), 200e9);
  EXPECT_EQ(find(f, "domain 3"), nullptr) << "the same cut as the node";
  EXPECT_EQ(find(f, "unit 1"), nullptr) << "the same cut as the rack";
  const Cut* half = find(f, "bisection");
  ASSERT_NE(half, nullptr);
  EXPECT_EQ(half->size(), 16U);
  EXPECT_DOUBLE_EQ(half->capacity_out.bytes_per_s(), 400e9);
}

// A node inside a bigger domain is bounded by its NVLinks too.
TEST(Cuts, OfANodeInsideADomainCountBothNetworks) {
  ClusterSpec s{.nodes = 4, .gpus_per_node = 4, .scale_up = nvlink(8, 2), .nic = nic(400), .scale_out = SingleSwitch{}};
  const Fabric f = build(s);
  const Cut* node = find(f, "node 1");
  ASSERT_NE(node, nullptr);
  EXPECT_NEAR(node->capacity_out.bytes_per_s(), 4 * (450e9 + 50e9), 1);
  const Cut* domain = find(f, "domain 1");
  ASSERT_NE(domain, nullptr);
  EXPECT_EQ(domain->size(), 8U);
  EXPECT_DOUBLE_EQ(domain->capacity_out.bytes_per_s(), 8 * 50e9);
}

// Scalable units of 2 nodes x 4 rails on leaves with 1:1 uplinks; the last unit has one node only, its leaves all their
// uplinks.
TEST(Cuts, OfALeftoverUnit) {
  ClusterSpec s{.nodes = 5, .gpus_per_node = 4, .scale_up = nvlink(4, 1), .nic = nic(400)};
  s.scale_out = Clos{.wiring = Clos::Wiring::rail_optimized, .nodes_per_unit = 2, .spines_per_block = 2};
  const Fabric f = build(s);
  const Cut* full = find(f, "unit 0");
  const Cut* last = find(f, "unit 2");
  ASSERT_NE(full, nullptr);
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(full->size(), 8U);
  EXPECT_EQ(last->size(), 4U);
  EXPECT_DOUBLE_EQ(full->capacity_out.bytes_per_s(), 8 * 50e9);
  EXPECT_DOUBLE_EQ(last->capacity_out.bytes_per_s(), 8 * 50e9);
}

// A 4 x 6 torus is narrowest across its long dimension: 4 lines, cut twice.
TEST(Cuts, BisectTheLongDimensionOfATorus) {
  for (const bool long_first : {true, false}) {
    ClusterSpec s{.nodes = 24, .gpus_per_node = 1};
    s.scale_out = Torus{.dims = long_first ? std::vector{6U, 4U} : std::vector{4U, 6U}, .link = {gb_per_s(10), {}}};
    const Fabric f = build(s);
    const Cut& half = f.cuts.back();
    EXPECT_EQ(half.kind, "bisection");
    EXPECT_EQ(half.size(), 12U);
    EXPECT_DOUBLE_EQ(half.capacity_out.bytes_per_s(), 8 * 10e9);
    std::uint32_t inside = 0;
    for (std::uint32_t e = 0; e < 24; ++e) {
      const bool in = half.contains(gpu(e));
      inside += in ? 1 : 0;
      EXPECT_EQ(in, long_first ? e % 6 < 3 : e < 12);
    }
    EXPECT_EQ(inside, half.size());
  }
}

// Odd counts: 63 of 127 nodes reach no further than their NICs; of 3 pods the middle one is cut through its units, whose
// leaves have 2:1 less capacity up than down.
TEST(Cuts, BisectOddCounts) {
  const Fabric pod = build(superpod(127, 2));
  EXPECT_EQ(pod.cuts.back().size(), 63U * 8);
  EXPECT_DOUBLE_EQ(pod.cuts.back().capacity_out.bytes_per_s(), 63 * 8 * 50e9);

  ClusterSpec s{.nodes = 12, .gpus_per_node = 4, .scale_up = nvlink(4, 1), .nic = nic(400)};
  s.scale_out = Clos{.tiers = 3,
                     .nodes_per_unit = 2,
                     .units_per_pod = 2,
                     .spines_per_block = 2,
                     .cores = 2,
                     .core_groups = 1,
                     .leaf_spine = {.oversubscription = 2},
                     .spine_core = {.oversubscription = 4}};
  const Fabric f = build(s);
  // pod: 16 NICs of 50 GB/s, leaves 400 GB/s up, spines 100 GB/s up. Inside: pod 0 behind its cores, unit 2 behind its leaf.
  EXPECT_EQ(f.cuts.back().size(), 24U);
  EXPECT_NEAR(f.cuts.back().capacity_out.bytes_per_s(), (100 + 200) * 1e9, 1);
}

// A torus of 3 x 3 has halves of 4 and 5 points: a row and a point of the next. The row has 6 cables to other rows, of which
// one ends at that point; the point has one to the third row and two along its own.
TEST(Cuts, BisectAnOddTorus) {
  ClusterSpec s{.nodes = 9, .gpus_per_node = 1};
  s.scale_out = Torus{.dims = {3, 3}, .link = {gb_per_s(10), {}}};
  const Cut half = build(s).cuts.back();
  EXPECT_EQ(half.size(), 4U);
  EXPECT_DOUBLE_EQ(half.capacity_out.bytes_per_s(), 8 * 10e9);
}

// Three groups of a dragonfly: 12 of 24 NICs are group 0 and half of group 1, whose routers are cut apart.
TEST(Cuts, BisectADragonflyOfThreeGroups) {
  ClusterSpec s{.nodes = 24, .gpus_per_node = 1, .nic = nic(400)};
  const LinkSpec link{gb_per_s(25), {}};
  s.scale_out = Dragonfly{.groups = 3,
                          .routers_per_group = 4,
                          .hosts_per_router = 2,
                          .global_links_per_router = 1,
                          .local = link,
                          .global = link};
  const Cut half = build(s).cuts.back();
  EXPECT_EQ(half.size(), 12U);
  // Two global cables between two groups. Those of group 1 to group 2 hang on its routers 0 and 1, those to group 0 on 2 and
  // 3: all six cross. So do four of the six local cables of group 1.
  EXPECT_DOUBLE_EQ(half.capacity_out.bytes_per_s(), (2 + 2 + 2 + 4) * 25e9);
}

// Capacities by an independent sum over the names of links: a device is inside a node or unit when its name begins with it.
TEST(Cuts, SumTheLinksOverTheirBoundary) {
  const Fabric f = build(superpod(70, 2));  // 6 nodes left over
  const auto inside = [](const std::string& device, const Cut& c) {
    const std::string number = c.name.substr(c.name.find(' ') + 1);
    if (device.starts_with(c.kind + number + ".")) return true;
    if (c.kind != "unit" || !device.starts_with("node")) return false;
    return std::stoi(device.substr(4)) / 32 == std::stoi(number);
  };
  std::size_t checked = 0;
  for (const Cut& c : f.cuts) {
    if (c.kind != "unit" && c.name != "node 0" && c.name != "node 69") continue;
    double out = 0, in = 0;
    for (std::uint32_t i = 0; i < f.links.size(); ++i) {
      const auto id = static_cast<sim::LinkId>(i);
      const bool from = inside(f.devices[f.link_info[id].source].name, c),
                 to = inside(f.devices[f.link_info[id].target].name, c);
      if (from && !to) out += f.links[id].capacity.bytes_per_s();
      if (!from && to) in += f.links[id].capacity.bytes_per_s();
    }
    EXPECT_GT(out, 0);
    EXPECT_DOUBLE_EQ(c.capacity_out.bytes_per_s(), out) << c.name;
    EXPECT_DOUBLE_EQ(c.capacity_in.bytes_per_s(), in) << c.name;
    ++checked;
  }
  EXPECT_EQ(checked, 5U) << "three units, two nodes";
  const Cut* unit = find(f, "unit 2");
  ASSERT_NE(unit, nullptr);
  EXPECT_EQ(unit->size(), 48U);
}

TEST(Cuts, AreCompact) {
  const Fabric f = build(superpod(127, 2));
  for (const Cut& c : f.cuts) EXPECT_EQ(c.inside.size(), 1U) << c.name;
  const Cut strided = make_cut(f, "rail 3", "rail", [&](DeviceId d) { return f.devices[d].rail == 3; });
  ASSERT_EQ(strided.inside.size(), 1U);
  EXPECT_EQ(strided.inside[0].first, 3U);
  EXPECT_EQ(strided.inside[0].stride, 8U);
  EXPECT_EQ(strided.size(), 127U);
  EXPECT_TRUE(strided.contains(gpu(11)));
  EXPECT_FALSE(strided.contains(gpu(12)));
}

}  // namespace
}  // namespace traingraph::topology::test
