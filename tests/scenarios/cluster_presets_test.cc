// Totals of the cluster presets against what the clusters' makers and operators publish, typed from the source named at each
// row; never from what a builder says.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/scenario.h"
#include "topology/build.h"

namespace traingraph::scenarios {
namespace {

using topology::DeviceKind;
using topology::Tier;

struct Totals {
  const char* preset;
  std::vector<std::string> overrides;
  std::uint32_t gpus;
  std::size_t leaves, spines, cores;
};

std::size_t devices(const topology::Fabric& f, DeviceKind kind) {
  std::size_t n = 0;
  for (const topology::Device& d : f.devices) n += d.kind == kind ? 1 : 0;
  return n;
}

class ClusterTotals : public testing::TestWithParam<Totals> {};

TEST_P(ClusterTotals, AreThePublishedOnes) {
  const Totals& t = GetParam();
  const topology::Fabric f = topology::build(load_cluster_preset(t.preset, t.overrides));
  EXPECT_EQ(f.gpus(), t.gpus);
  EXPECT_EQ(devices(f, DeviceKind::leaf), t.leaves);
  EXPECT_EQ(devices(f, DeviceKind::spine), t.spines);
  EXPECT_EQ(devices(f, DeviceKind::core), t.cores);
}

// DGX SuperPOD B300: Table 3 (512, 2048, 8192 GPUs). B300 XDR page: 8/4, 32/18, 144/72. SimAI Tutorial: DCN+ pods of 512
// GPUs with 4 PSW, or 8 with dual ToR. GB200 NVL72: 72
// GPUs.
INSTANTIATE_TEST_SUITE_P(Switched, ClusterTotals,
                         testing::Values(Totals{"dgx_b300_superpod", {"nodes=64"}, 512, 16, 8, 0},
                                         Totals{"dgx_b300_superpod", {}, 2048, 64, 32, 0},
                                         Totals{"dgx_b300_superpod", {"nodes=1024"}, 8192, 256, 128, 0},
                                         Totals{"dgx_b300_xdr_superpod", {"nodes=72"}, 576, 8, 4, 0},
                                         Totals{"dgx_b300_xdr_superpod", {}, 2304, 32, 18, 0},
                                         Totals{"dgx_b300_xdr_superpod", {"nodes=1296"}, 10368, 144, 72, 0},
                                         Totals{"dcn_plus", {}, 512, 8, 4, 0}, Totals{"dcn_plus_dual_tor", {}, 512, 8, 8, 0},
                                         Totals{"hgx_h100_roce", {}, 1024, 32, 16, 0},

                                         Totals{"gb200_nvl72_rack", {}, 72, 0, 0, 0}),
                         [](const auto& i) { return std::string{i.param.preset} + "_" + std::to_string(i.index); });

// A leaf of MegaScale has 64 ports of 200 Gb/s down (32 of 400 Gb/s, split) and 32 of 400 Gb/s up: 1:1 at every level.
TEST(ClusterPresets, MegaScaleIsNotOversubscribed) {
  const topology::Fabric f = topology::build(load_cluster_preset("megascale"));
  EXPECT_EQ(f.gpus(), 12288U);
  EXPECT_EQ(devices(f, DeviceKind::leaf), 24U * 8) << "64 servers below 8 rail leaves";
  double nic = 0, leaf_up = 0, spine_up = 0;
  for (std::uint32_t i = 0; i < f.links.size(); ++i) {
    const sim::LinkId id{i};
    const double b = f.links[id].capacity.bytes_per_s();
    const DeviceKind from = f.devices[f.link_info[id].source].kind;
    if (f.link_info[id].tier == Tier::nic && from == DeviceKind::gpu) nic += b;
    if (f.link_info[id].tier == Tier::leaf_spine && from == DeviceKind::leaf) leaf_up += b;
    if (f.link_info[id].tier == Tier::spine_core && from == DeviceKind::spine) spine_up += b;
  }
  EXPECT_DOUBLE_EQ(nic, 12288 * 25e9);
  EXPECT_DOUBLE_EQ(leaf_up, nic);
  EXPECT_DOUBLE_EQ(spine_up, nic);
}

struct NodeTotals {
  const char* preset;
  std::uint32_t gpus_per_node, nics;
  double gbit_per_nic;
};

class NodeNetwork : public testing::TestWithParam<NodeTotals> {};

TEST_P(NodeNetwork, HasThePublishedNics) {
  const NodeTotals& t = GetParam();
  const topology::ClusterSpec c = load_cluster_preset(t.preset);
  EXPECT_EQ(c.gpus_per_node, t.gpus_per_node);
  EXPECT_EQ(c.nic.per_node == 0 ? c.gpus_per_node : c.nic.per_node, t.nics);
  EXPECT_DOUBLE_EQ(c.nic.bandwidth.bytes_per_s(), t.gbit_per_nic * 1.25e8);
}

// The providers' pages, as quoted in each node preset.
INSTANTIATE_TEST_SUITE_P(Published, NodeNetwork,
                         testing::Values(NodeTotals{"aws_p4d", 8, 4, 100}, NodeTotals{"aws_p5", 8, 32, 100},
                                         NodeTotals{"aws_p5en", 8, 16, 200}, NodeTotals{"azure_nd_a100_v4", 8, 8, 200},
                                         NodeTotals{"azure_nd_h100_v5", 8, 8, 400}, NodeTotals{"gcp_a3_mega", 8, 8, 200},
                                         NodeTotals{"gcp_a3_ultra", 8, 8, 400}, NodeTotals{"gcp_a4", 8, 8, 400},
                                         NodeTotals{"oci_a100", 8, 16, 100}, NodeTotals{"oci_h100", 8, 16, 200},
                                         NodeTotals{"polaris", 4, 2, 200}, NodeTotals{"dgx_b300_superpod", 8, 8, 800},
                                         NodeTotals{"megascale", 8, 8, 200}),
                         [](const auto& i) { return std::string{i.param.preset}; });

// Polaris: 560 nodes, 2,240 GPUs, 40 racks of 14 nodes, 64-port switches.
TEST(ClusterPresets, PolarisIsADragonflyOfFortyRacks) {
  const topology::Fabric f = topology::build(load_cluster_preset("polaris"));
  EXPECT_EQ(f.gpus(), 2240U);
  std::int32_t racks = 0;
  for (const topology::Device& d : f.devices) racks = std::max(racks, d.rack + 1);
  EXPECT_EQ(racks, 40);
  std::vector<std::size_t> ports(f.devices.size());
  for (const topology::LinkInfo& l : f.link_info) ports[sim::index(l.source)] += l.cables;
  for (std::uint32_t i = 0; i < f.devices.size(); ++i) {
    if (f.devices[topology::DeviceId{i}].kind == DeviceKind::switch_) {
      EXPECT_LE(ports[i], 64U);
    }
  }
}

// TPU v5e and v6e pods: 256 chips on a 16 x 16 torus; v5e's published bisection is 1.6 TB/s (at 50 GB/s a link; 45 GB/s is
// what the links carry), v6e's 3.2 TB/s. A torus of k x k is halved by 2k links each way.
TEST(ClusterPresets, TpuPodsOfTwoDimensions) {
  for (const auto& [preset, bisection] : {std::pair{"tpu_v5e_pod", 1.6e12}, std::pair{"tpu_v6e_pod", 3.2e12}}) {
    const topology::Fabric f = topology::build(load_cluster_preset(preset));
    EXPECT_EQ(f.gpus(), 256U);
    const topology::Cut& half = f.cuts.back();
    ASSERT_EQ(half.kind, "bisection");
    EXPECT_NEAR(half.capacity_out.bytes_per_s(), bisection, 0.11 * bisection);
  }
}

}  // namespace
}  // namespace traingraph::scenarios
