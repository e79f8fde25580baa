// Switch and cable counts of real clusters, typed from the published tables named at each test, never from what a builder
// says.
#include "tests/topology/clusters.h"

namespace traingraph::topology::test {
namespace {

struct SuperPod {
  const char* name;
  ClusterSpec spec;
  std::size_t leaves, spines, cores, leaf_spine;
};

void PrintTo(const SuperPod& p, std::ostream* out) { *out << p.name; }

ClusterSpec rails(std::uint32_t nodes, std::uint32_t tiers, std::uint32_t ports, std::uint32_t unit, double gbit) {
  ClusterSpec s = superpod(nodes, tiers);
  s.nic = nic(gbit);
  std::get<Clos>(s.scale_out).switch_ports = ports;
  std::get<Clos>(s.scale_out).nodes_per_unit = unit;
  return s;
}

/// 800 Gb/s NICs as two ports of 400 Gb/s in two planes of switches with 128 such ports: the only reading under which every
/// leaf of the table's largest row reaches every spine of its plane.
ClusterSpec b300(std::uint32_t units) {
  ClusterSpec s = rails(64 * units, 2, 128, 64, 800);
  std::get<Clos>(s.scale_out).ports_per_nic = 2;
  std::get<Clos>(s.scale_out).separate_planes = true;
  return s;
}

class SuperPodTable : public testing::TestWithParam<SuperPod> {};

TEST_P(SuperPodTable, HasThePublishedSwitchesAndCables) {
  const SuperPod& p = GetParam();
  const Fabric f = build(p.spec);
  EXPECT_EQ(devices(f, DeviceKind::leaf), p.leaves);
  EXPECT_EQ(devices(f, DeviceKind::spine), p.spines);
  EXPECT_EQ(devices(f, DeviceKind::core), p.cores);
  if (p.leaf_spine != 0) {
    EXPECT_EQ(cables(f, Tier::leaf_spine), p.leaf_spine);
  }
  if (p.cores != 0) {
    EXPECT_EQ(cables(f, Tier::spine_core), cables(f, Tier::leaf_spine)) << "1:1";
  }
}

// DGX SuperPOD H100, network fabrics, Table 4. B200: architecture page. B300: Table 3. B300 XDR. A100: RA-09950-001 (from
// memory).
INSTANTIATE_TEST_SUITE_P(
    Nvidia, SuperPodTable,
    testing::Values(
        SuperPod{"h100_1su", superpod(31, 2), 8, 4, 0, 256}, SuperPod{"h100_2su", superpod(63, 2), 16, 8, 0, 512},
        SuperPod{"h100_3su", superpod(95, 2), 24, 16, 0, 768}, SuperPod{"h100_4su", superpod(127, 2), 32, 16, 0, 1024},
        SuperPod{"b200_2su", superpod(64, 2), 16, 8, 0, 512}, SuperPod{"b200_8su", superpod(256, 2), 64, 32, 0, 2048},
        SuperPod{"b200_16su", superpod(512, 3), 128, 128, 64, 4096},
        SuperPod{"b200_32su", superpod(1024, 3), 256, 256, 128, 8192},
        SuperPod{"b200_64su", superpod(2048, 3), 512, 512, 256, 16384}, SuperPod{"b300_1su", b300(1), 16, 8, 0, 0},
        SuperPod{"b300_2su", b300(2), 32, 16, 0, 0}, SuperPod{"b300_8su", b300(8), 128, 64, 0, 0},
        SuperPod{"b300_16su", b300(16), 256, 128, 0, 0}, SuperPod{"xdr_1su", rails(72, 2, 144, 72, 800), 8, 4, 0, 0},
        SuperPod{"xdr_2su", rails(144, 2, 144, 72, 800), 16, 8, 0, 0},
        SuperPod{"xdr_4su", rails(288, 2, 144, 72, 800), 32, 18, 0, 0},
        SuperPod{"xdr_8su", rails(576, 2, 144, 72, 800), 64, 36, 0, 0},
        SuperPod{"xdr_18su", rails(1296, 2, 144, 72, 800), 144, 72, 0, 10368},
        SuperPod{"a100_2su", rails(40, 2, 40, 20, 200), 16, 10, 0, 0},
        SuperPod{"a100_4su", rails(80, 2, 40, 20, 200), 32, 20, 0, 0},
        SuperPod{"a100_6su", rails(120, 3, 40, 20, 200), 48, 80, 24, 0},
        SuperPod{"a100_7su", rails(140, 3, 40, 20, 200), 56, 80, 28, 0}),
    [](const auto& i) { return std::string{i.param.name}; });

// The H100 table's node-leaf cables, 252, 508, 764 and 1020, are 8 a node and 4 more: the fabric manager takes the place of
// a node, with 4 cables (it is the reason why one node of a unit is missing), and carries no traffic of a job.
TEST(SuperPodH100, HasThePublishedNodeCablesBesidesTheFabricManagers) {
  const std::pair<std::uint32_t, std::size_t> rows[] = {{31, 252}, {63, 508}, {95, 764}, {127, 1020}};
  for (const auto& [nodes, published] : rows) EXPECT_EQ(cables(build(superpod(nodes, 2)), Tier::nic) + 4, published);
}

// 32 ports down, 32 up on every leaf; 8, 4, 2, 2 links between a leaf and a spine.
TEST(SuperPodH100, HasThePublishedParallelLinks) {
  const std::pair<std::uint32_t, std::uint32_t> rows[] = {{31, 8}, {63, 4}, {95, 2}, {127, 2}};
  for (const auto& [nodes, parallel] : rows) {
    const Fabric f = build(superpod(nodes, 2));
    EXPECT_EQ(ports_used(f, DeviceKind::leaf, Tier::leaf_spine), std::pair(32U, 32U));
    for (const LinkInfo& l : f.link_info)
      if (l.tier == Tier::leaf_spine) {
        ASSERT_EQ(l.cables, parallel);
      }
  }
}

// GB200 NVL72: 18 trays of 4 GPUs, 18 switch chips, each GPU one link of 50 GB/s and direction to each chip, 130 TB/s a rack
// (both directions); a scalable unit is 8 racks = 576 GPUs with one 400 Gb/s NIC each.
TEST(Gb200, NvlDomainSpansEighteenTrays) {
  ClusterSpec s{.nodes = 18 * 8, .gpus_per_node = 4, .nic = nic(400), .scale_out = SingleSwitch{}};
  s.scale_up = NvSwitch{.gpus = 72, .planes = 18, .bandwidth = gb_per_s(900), .latency = {}, .overhead = {}};
  const Fabric f = build(s);
  EXPECT_EQ(f.gpus(), 576U);
  EXPECT_EQ(devices(f, DeviceKind::nvswitch), 18U * 8);
  EXPECT_EQ(ports_used(f, DeviceKind::gpu, Tier::scale_up), std::pair(18U, 18U));
  EXPECT_EQ(ports_used(f, DeviceKind::nvswitch, Tier::scale_up), std::pair(72U, 72U));
  double rack = 0;
  for (std::uint32_t i = 0; i < f.links.size(); ++i) {
    const auto id = static_cast<sim::LinkId>(i);
    if (f.link_info[id].tier != Tier::scale_up) continue;
    EXPECT_NEAR(f.links[id].capacity.bytes_per_s(), 50e9, 1);
    rack += f.links[id].capacity.bytes_per_s() / 8;
  }
  EXPECT_NEAR(rack, 130e12, 0.5e12);
  EXPECT_EQ(f.domain_of(gpu(71)), 0);
  EXPECT_EQ(f.domain_of(gpu(72)), 1);
  EXPECT_EQ(f.devices[f.endpoints[gpu(575)]].rack, 7);
}

// SimAI's Spectrum-X template: 4096 GPUs, 8 segments of 8 rail leaves with 64 NICs each, 64 spines, one link between each
// pair.
TEST(SpectrumX, FourThousandGpus) {
  ClusterSpec s{.nodes = 512, .gpus_per_node = 8, .scale_up = nvlink(8, 1), .nic = nic(400)};
  s.scale_out = Clos{.wiring = Clos::Wiring::rail_optimized,
                     .nodes_per_unit = 64,
                     .spines_per_block = 64,
                     .leaf_spine = {.links = 1},
                     .spine_core = {}};
  const Fabric f = build(s);
  EXPECT_EQ(f.gpus(), 4096U);
  EXPECT_EQ(devices(f, DeviceKind::leaf), 64U);
  EXPECT_EQ(devices(f, DeviceKind::spine), 64U);
  EXPECT_EQ(ports_used(f, DeviceKind::leaf, Tier::leaf_spine), std::pair(64U, 64U));
  std::vector<std::uint32_t> down(f.devices.size());
  for (const LinkInfo& l : f.link_info)
    if (l.tier == Tier::nic) ++down[sim::index(l.target)];
  for (std::uint32_t i = 0; i < f.devices.size(); ++i)
    if (f.devices[static_cast<DeviceId>(i)].kind == DeviceKind::leaf) {
      EXPECT_EQ(down[i], 64U);
    }
}

ClusterSpec hpn() {
  ClusterSpec s{.name = "hpn", .nodes = 15 * 128, .gpus_per_node = 8, .scale_up = nvlink(8, 1), .nic = nic(400)};
  s.scale_out = Clos{.wiring = Clos::Wiring::rail_optimized,
                     .nodes_per_unit = 128,
                     .ports_per_nic = 2,
                     .separate_planes = true,
                     .spines_per_block = 60,
                     .leaf_spine = {.bandwidth = gbps(400), .links = 1},
                     .spine_core = {}};
  return s;
}

// Alibaba HPN 7.0: a segment is 1024 GPUs below 16 ToRs (2 for each rail), 15 segments = 15K GPUs; 2 x 200 Gb/s per NIC to
// two ToRs; 60 x 400 Gb/s up from a ToR; 120 aggregation switches in two planes that never meet.
TEST(Hpn, PodOfFifteenSegments) {
  const Fabric f = build(hpn());
  EXPECT_EQ(f.gpus(), 15U * 1024);
  EXPECT_EQ(devices(f, DeviceKind::leaf), 15U * 16);
  EXPECT_EQ(devices(f, DeviceKind::spine), 120U);
  EXPECT_EQ(ports_used(f, DeviceKind::gpu, Tier::nic), std::pair(2U, 2U));
  EXPECT_EQ(ports_used(f, DeviceKind::leaf, Tier::nic), std::pair(128U, 128U));
  EXPECT_EQ(ports_used(f, DeviceKind::leaf, Tier::leaf_spine), std::pair(60U, 60U));
  EXPECT_EQ(ports_used(f, DeviceKind::spine, Tier::leaf_spine), std::pair(120U, 120U)) << "half of the ToRs";
  for (std::uint32_t i = 0; i < f.links.size(); ++i)
    if (f.link_info[static_cast<sim::LinkId>(i)].tier == Tier::nic) {
      ASSERT_DOUBLE_EQ(f.links[static_cast<sim::LinkId>(i)].capacity.bytes_per_s(), 200 * 1.25e8);
    }
  std::map<DeviceId, std::set<DeviceId>> leaves_of_gpu;
  for (const LinkInfo& l : f.link_info)
    if (l.tier == Tier::nic && f.devices[l.source].kind == DeviceKind::gpu) leaves_of_gpu[l.source].insert(l.target);
  for (const auto& [g, leaves] : leaves_of_gpu) ASSERT_EQ(leaves.size(), 2U) << "two different ToRs";
}

// SimAI's DCN+ template: 512 GPUs, not by rail; single ToR with 64 x 400 Gb/s and 4 PSW, or dual ToR with 128 x 200 Gb/s and
// 8 PSW.
TEST(DcnPlus, SingleAndDualTor) {
  ClusterSpec s{.nodes = 64, .gpus_per_node = 8, .scale_up = nvlink(8, 1), .nic = nic(400)};
  s.scale_out = Clos{.nodes_per_unit = 8, .spines_per_block = 4, .leaf_spine = {}, .spine_core = {}};
  const Fabric single = build(s);
  EXPECT_EQ(devices(single, DeviceKind::leaf), 8U);
  EXPECT_EQ(ports_used(single, DeviceKind::leaf, Tier::nic), std::pair(64U, 64U));
  s.scale_out = Clos{.nodes_per_unit = 16, .ports_per_nic = 2, .spines_per_block = 8, .leaf_spine = {}, .spine_core = {}};
  const Fabric dual = build(s);
  EXPECT_EQ(ports_used(dual, DeviceKind::leaf, Tier::nic), std::pair(128U, 128U));
  EXPECT_EQ(devices(dual, DeviceKind::spine), 8U);
  EXPECT_EQ(ports_used(dual, DeviceKind::gpu, Tier::nic), std::pair(2U, 2U));
}

// Meta's 24K cluster (Llama 3): a rack is 2 servers = 16 GPUs with 1 ToR, a pod 192 racks = 3072 GPUs with full bisection, 8
// pods, 1:7 between pods: a pod sends 3072 x 50 GB/s / 7 out.
TEST(Meta24k, PodsOfFullBisectionWithOneToSevenBetweenThem) {
  ClusterSpec s{.name = "meta", .nodes = 3072, .gpus_per_node = 8, .scale_up = nvlink(8, 1), .nic = nic(400)};
  s.scale_out = Clos{.tiers = 3,
                     .nodes_per_unit = 2,
                     .units_per_pod = 192,
                     .spines_per_block = 16,
                     .cores = 16,
                     .core_groups = 1,
                     .leaf_spine = {},
                     .spine_core = {.oversubscription = 7}};
  const Fabric f = build(s);
  EXPECT_EQ(f.gpus(), 24576U);
  EXPECT_EQ(devices(f, DeviceKind::leaf), 1536U);
  EXPECT_EQ(ports_used(f, DeviceKind::leaf, Tier::nic), std::pair(16U, 16U));
  std::map<std::string, std::size_t> kinds;
  for (const Cut& c : f.cuts) {
    ++kinds[c.kind];
    if (c.kind == "pod") {
      EXPECT_EQ(c.size(), 3072U);
      EXPECT_NEAR(c.capacity_out.bytes_per_s(), 3072 * 50e9 / 7, 1e3);
    }
    if (c.kind == "rack") {
      EXPECT_EQ(c.size(), 16U);
      EXPECT_NEAR(c.capacity_out.bytes_per_s(), 16 * 50e9, 1e3);
    }
  }
  EXPECT_EQ(kinds["pod"], 8U);
  EXPECT_EQ(kinds["rack"], 1536U);
  EXPECT_EQ(kinds["node"], 3072U);

  // 256 nodes of it are a part of one pod, on the same cables: 16 spines with 16 each carry 3072 x 50 GB/s / 7.
  s.nodes = 256;
  const Fabric part = build(s);
  EXPECT_EQ(devices(part, DeviceKind::leaf), 128U);
  for (std::uint32_t l = 0; l < part.links.size(); ++l) {
    const sim::LinkId id{l};
    if (part.link_info[id].tier != Tier::spine_core) continue;
    EXPECT_NEAR(part.links[id].capacity.bytes_per_s(), 3072 * 50e9 / 7 / 256, 1);
  }
}

// TPU v4: 16 x 16 x 16 = 4096 chips with 6 links each, published bisection 24 TB/s at about 45 GB/s a link; v5p: 16 x 20 x
// 28 = 8960; v5e: 16 x 16 with 4 links each, bisection 1.6 TB/s at 50 GB/s a link.
TEST(Tpu, Tori) {
  const auto torus = [](std::vector<std::uint32_t> dims, double gb) {
    std::uint32_t n = 1;
    for (const std::uint32_t d : dims) n *= d;
    return ClusterSpec{.nodes = n / 4,
                       .gpus_per_node = 4,
                       .nic = {},
                       .scale_out = Torus{.dims = std::move(dims), .wrap = {}, .link = {gb_per_s(gb), Duration::us(1)}}};
  };
  const ClusterSpec v4 = torus({16, 16, 16}, 45);
  const Fabric f = build(v4);
  EXPECT_EQ(f.gpus(), 4096U);
  EXPECT_EQ(f.devices.size(), 4096U) << "chips only";
  EXPECT_EQ(ports_used(f, DeviceKind::gpu, Tier::torus), std::pair(6U, 6U));
  EXPECT_NEAR(describe(f, v4).bisection->bytes_per_s(), 24e12, 0.05 * 24e12);
  EXPECT_EQ(describe(f, v4).diameter, 24U);
  EXPECT_EQ(build(torus({16, 20, 28}, 90)).gpus(), 8960U);
  const ClusterSpec v5e = torus({16, 16}, 50);
  const Fabric e = build(v5e);
  EXPECT_EQ(ports_used(e, DeviceKind::gpu, Tier::torus), std::pair(4U, 4U));
  EXPECT_NEAR(describe(e, v5e).bisection->bytes_per_s(), 1.6e12, 1);
}

// A Cray EX group: 32 switches, each with 16 ports down, 31 local, 16 global; 512 endpoints. Perlmutter: 12 groups.
TEST(Dragonfly, CrayExGroups) {
  ClusterSpec s{.nodes = 12 * 512 / 4, .gpus_per_node = 4, .nic = nic(200)};
  s.scale_out = Dragonfly{.groups = 12,
                          .routers_per_group = 32,
                          .hosts_per_router = 16,
                          .global_links_per_router = 16,
                          .local = {gbps(200), Duration::ns(300)},
                          .global = {gbps(200), Duration::us(1)}};
  const Fabric f = build(s);
  EXPECT_EQ(devices(f, DeviceKind::switch_), 12U * 32);
  EXPECT_EQ(ports_used(f, DeviceKind::switch_, Tier::nic), std::pair(16U, 16U));
  EXPECT_EQ(ports_used(f, DeviceKind::switch_, Tier::local), std::pair(31U, 31U));
  EXPECT_LE(ports_used(f, DeviceKind::switch_, Tier::global).second, 16U);
  EXPECT_EQ(cables(f, Tier::global), 66U * (32 * 16 / 11)) << "66 pairs of groups, 46 links each";
}

// A k-ary fat tree (Al-Fares et al. 2008): k^3/4 hosts, k^2/2 leaves, k^2/2 spines, k^2/4 cores.
TEST(KaryFatTree, FollowsFromThePorts) {
  for (const std::uint32_t k : {4U, 8U, 16U}) {
    ClusterSpec s{.nodes = k * k * k / 4, .gpus_per_node = 1, .nic = nic(100)};
    s.scale_out = Clos{.tiers = 3, .switch_ports = k, .leaf_spine = {.links = 1}, .spine_core = {.links = 1}};
    const Fabric f = build(s);
    EXPECT_EQ(devices(f, DeviceKind::leaf), k * k / 2);
    EXPECT_EQ(devices(f, DeviceKind::spine), k * k / 2);
    EXPECT_EQ(devices(f, DeviceKind::core), k * k / 4);
    EXPECT_EQ(ports_used(f, DeviceKind::core, Tier::spine_core), std::pair(k, k));
    EXPECT_EQ(f.cuts.back().kind, "bisection");
    EXPECT_NEAR(f.cuts.back().capacity_out.bytes_per_s(), k * k * k / 8 * 12.5e9, 1) << "full bisection";
  }
}

// DGX-1 (V100): every GPU has 6 NVLinks of 25 GB/s; 24 links in all.
TEST(Dgx1, HybridCubeMeshHasSixLinksPerGpu) {
  ClusterSpec s{.gpus_per_node = 8,
                .scale_up = HybridCubeMesh{.link_bandwidth = gb_per_s(25), .latency = {}, .overhead = {}},
                .nic = {}};
  const Fabric f = build(s);
  EXPECT_EQ(ports_used(f, DeviceKind::gpu, Tier::scale_up), std::pair(6U, 6U));
  EXPECT_EQ(cables(f, Tier::scale_up), 24U);
}

}  // namespace
}  // namespace traingraph::topology::test
