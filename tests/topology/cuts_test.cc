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

// Every cut's capacity by an independent sum over links, membership by label or side; leftovers and odd shapes included.
TEST(Cuts, NeverCountMoreThanTheLinksThatLeaveTheirGpus) {
  ClusterSpec s = superpod(70, 2);
  const Fabric f = build(s);
  for (const Cut& c : f.cuts) {
    ASSERT_GT(c.size(), 0U);
    ASSERT_LT(c.size(), f.gpus());
    // the GPUs' own links bound the set from the GPUs' side: what leaves through the NICs cannot exceed 50 GB/s a GPU,
    // unless the set's own boundary is wider because a leaf has spare uplinks
    if (c.kind == "node") {
      EXPECT_NEAR(c.capacity_out.bytes_per_s(), c.size() * 50e9, 1);
    }
  }
  const Cut* unit = find(f, "unit 2");  // 6 nodes left over
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
