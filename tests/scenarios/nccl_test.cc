// NCCL's cost model, the traffic of its algorithms, tables of collectives, logs of nccl-tests and what is said of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "scenarios/collective_table.h"
#include "scenarios/diagnostics.h"
#include "scenarios/log_comparison.h"
#include "scenarios/nccl_facts.h"
#include "scenarios/nccl_log.h"
#include "scenarios/scenario.h"
#include "workloads/nccl/traffic.h"

namespace traingraph::scenarios {
namespace {

using testing::HasSubstr;
using workloads::BytesMatrix;
using workloads::CollectiveKind;
using workloads::NcclAlgorithm;
using workloads::NcclCostModel;
using workloads::NcclJob;
using workloads::NcclProtocol;

// NVLink nodes of 8, Intel, no NIC latency; microseconds by protocol LL, LL128, Simple (NVLS, NVLSTree: Simple), before the
// plateau's factor. Evaluated from the formulas of NCCL 2.30.7 by hand.
TEST(NcclCostModelTest, LatenciesAreThoseOfTheFormulas) {
  struct Row {
    std::uint32_t nodes;
    double ring[3], tree[3], nvls_tree, gather[3];
  };
  const Row rows[] = {{1, {15.0, 40.6, 56.0}, {15.2, 31.5, 64.4}, 0, {10.8, 27.3, 32.2}},
                      {2, {40.0, 75.2, 131.6}, {25.2, 48.5, 92.4}, 66.8, {23.3, 44.6, 70.0}},
                      {4, {78.8, 144.4, 282.8}, {35.2, 65.5, 120.4}, 108.6, {42.7, 79.2, 145.6}},
                      {16, {311.6, 559.6, 1190.0}, {55.2, 99.5, 176.4}, 192.2, {159.1, 286.8, 599.2}},
                      {128, {2484.4, 4434.8, 9657.2}, {85.2, 150.5, 260.4}, 317.6, {1245.5, 2224.4, 4832.8}}};
  const auto constants = load_nccl_constants();
  for (const Row& row : rows) {
    const NcclCostModel reduce{constants, nullptr, {CollectiveKind::all_reduce, row.nodes * 8, row.nodes, true}};
    const NcclCostModel gather{constants, nullptr, {CollectiveKind::all_gather, row.nodes * 8, row.nodes, true}};
    for (std::size_t p = 0; p < 3; ++p) {
      const NcclProtocol protocol = workloads::kNcclProtocols[p];
      EXPECT_NEAR(reduce.latency_s(NcclAlgorithm::ring, protocol, 8) * 1e6, row.ring[p], 0.05) << row.nodes << " " << p;
      EXPECT_NEAR(reduce.latency_s(NcclAlgorithm::tree, protocol, 8) * 1e6, row.tree[p], 0.05) << row.nodes << " " << p;
      EXPECT_NEAR(gather.latency_s(NcclAlgorithm::ring, protocol, 8) * 1e6, row.gather[p], 0.05) << row.nodes << " " << p;
    }
    const double nvls = reduce.latency_s(NcclAlgorithm::nvls, NcclProtocol::simple, 8) * 1e6;
    EXPECT_NEAR(nvls, row.nodes == 1 ? 25 : 43, 0.05);
    if (row.nodes > 1) {
      EXPECT_NEAR(reduce.latency_s(NcclAlgorithm::nvls_tree, NcclProtocol::simple, 8) * 1e6, row.nvls_tree, 0.05);
    }
  }
  const NcclCostModel pat{constants, nullptr, {CollectiveKind::all_gather, 16, 16, true}};
  EXPECT_NEAR(pat.latency_s(NcclAlgorithm::pat, NcclProtocol::simple, 8) * 1e6, 68.8, 0.05);
}

// 8 NVLS channels of 40 GB/s, 0.85 of it, 7/8, twice for all-reduce: 476 GB/s of bus bandwidth; NVIDIA says about 480.
TEST(NcclCostModelTest, OneHopperNodeTakesNvlsForLargeSizes) {
  const auto constants = load_nccl_constants();
  const auto node = load_nccl_node("hopper_8_nvswitch");
  const NcclCostModel m{constants, &node, {CollectiveKind::all_reduce, 8, 1, true}};
  const auto large = m.table(1e9), small = m.table(1024);
  EXPECT_EQ(large.front().algorithm, NcclAlgorithm::nvls);
  EXPECT_NEAR(large.front().bandwidth * 1.75, 476e9, 1e9);
  EXPECT_EQ(small.front().protocol, NcclProtocol::ll);
  for (std::size_t i = 1; i < large.size(); ++i) EXPECT_LE(large[i - 1].time_s, large[i].time_s);
}

workloads::NcclGroups groups(std::uint32_t nodes, std::uint32_t per_node) {
  workloads::NcclGroups g;
  for (std::uint32_t n = 0; n < nodes; ++n) {
    g.nodes.emplace_back();
    for (std::uint32_t r = 0; r < per_node; ++r) g.nodes.back().push_back(n * per_node + r);
  }
  return g;
}

/// Bytes that leave node n.
double out_of(const BytesMatrix& m, std::uint32_t n, std::uint32_t per_node) {
  double sum = 0;
  for (std::uint32_t r = n * per_node; r < (n + 1) * per_node; ++r) {
    for (const auto& to : m[r]) sum += to.destination / per_node == n ? 0 : to.bytes.count();
  }
  return sum;
}

// A node sends 2(n-1)/n S in a ring. In the double tree it sends S on two nodes: that is why a tree beats the wire there;
// and no node more than 2 S on any number of them.
TEST(NcclTraffic, ATreeOnTwoNodesSendsHalfOfWhatARingSends) {
  for (const std::uint32_t nodes : {2U, 3U, 4U, 7U, 16U}) {
    const auto g = groups(nodes, 4);
    const double n = nodes * 4;
    const auto ring = workloads::nccl_traffic(CollectiveKind::all_reduce, NcclAlgorithm::ring, g, 1000);
    const auto tree = workloads::nccl_traffic(CollectiveKind::all_reduce, NcclAlgorithm::tree, g, 1000);
    double sum = 0;
    for (std::uint32_t k = 0; k < nodes; ++k) {
      EXPECT_NEAR(out_of(ring, k, 4), 2 * (n - 1) / n * 1000, 1e-9);
      EXPECT_LE(out_of(tree, k, 4), 2000 + 1e-9);
      sum += out_of(tree, k, 4);
    }
    EXPECT_NEAR(sum, 2.0 * (nodes - 1) * 1000, 1e-9) << "two halves, each up and down every edge of a tree";
  }
  EXPECT_NEAR(out_of(workloads::nccl_traffic(CollectiveKind::all_reduce, NcclAlgorithm::tree, groups(2, 4), 1000), 0, 4),
              1000, 1e-9);
}

CollectiveTable table(const std::string& cluster, const std::vector<std::string>& set, CollectiveKind kind,
                      std::vector<double> sizes, std::optional<NcclAlgorithm> algorithm,
                      std::optional<NcclProtocol> protocol) {
  CollectiveRequest r;
  r.cluster = load_cluster_preset(cluster, set);
  r.kind = kind;
  r.sizes = std::move(sizes);
  r.algorithm = algorithm;
  r.protocol = protocol;
  return run_collective_table(r);
}

// Without the node's facts the bandwidth is the fabric's: a ring over 4 nodes fills the NICs, 8 x 50 GB/s; on a single node
// NVLink, 370.8 GB/s. All-to-all over two nodes of 8: 8 of 15 shares leave over 50 GB/s.
TEST(CollectiveTables, BandwidthIsThatOfTheBusiestLink) {
  const double big = 1e13;  // latency vanishes
  const auto ring = [](CollectiveTable t) { return t.rows.front().busbw; };
  EXPECT_NEAR(ring(table("azure_nd_h100_v5", {"nodes=1"}, CollectiveKind::all_reduce, {big}, NcclAlgorithm::ring,
                         NcclProtocol::simple)),
              370.8e9, 1e8);
  EXPECT_NEAR(
      ring(table("gcp_a3_mega", {"nodes=4"}, CollectiveKind::all_reduce, {big}, NcclAlgorithm::ring, NcclProtocol::simple)),
      200e9, 1e8);
  EXPECT_NEAR(
      ring(table("gcp_a3_mega", {"nodes=2"}, CollectiveKind::all_gather, {big}, NcclAlgorithm::ring, NcclProtocol::ll128)),
      0.92 * 200e9, 1e8);
  EXPECT_NEAR(ring(table("azure_nd_h100_v5", {"nodes=2"}, CollectiveKind::all_to_all, {big}, {}, NcclProtocol::simple)),
              50e9 * 15 / 8, 1e8);
  EXPECT_NEAR(
      ring(table("mi300x_rail", {"nodes=1"}, CollectiveKind::all_reduce, {big}, NcclAlgorithm::ring, NcclProtocol::simple)),
      336e9, 1e8)
      << "seven links of 48 GB/s";
  const auto one_of_four =
      table("dgx_h100_superpod", {"nodes=2"}, CollectiveKind::send_recv, {big}, {}, NcclProtocol::simple);
  EXPECT_GT(one_of_four.load.front().utilization, 0.99);
}

TEST(CollectiveTables, TheChoiceNeedsTheNodesFacts) {
  const auto refused = [](std::optional<NcclAlgorithm> a, std::optional<NcclProtocol> p, CollectiveKind k) -> std::string {
    try {
      static_cast<void>(table("gcp_a3_mega", {"nodes=2"}, k, {8}, a, p));
    } catch (const sim::InputError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(refused({}, {}, CollectiveKind::all_reduce),
              HasSubstr("NCCL's own choice needs the channels and graph speeds"));
  EXPECT_THAT(refused(NcclAlgorithm::tree, NcclProtocol::ll, CollectiveKind::all_gather),
              HasSubstr("Tree with LL is not what NCCL has for this collective"));
  EXPECT_EQ(refused(NcclAlgorithm::ring, {}, CollectiveKind::all_reduce), "");
}

std::string content(const std::string& name) {
  std::ifstream in{std::string{TRAINGRAPH_TEST_DATA} + "/nccl_logs/" + name, std::ios::binary};
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// Ranks, hosts, rows and the last row as they stand in the files.
TEST(NcclLogs, AreReadInAllTheirForms) {
  struct Expected {
    const char* file;
    std::uint32_t ranks, hosts;
    std::size_t rows;
    double last_us, last_busbw;
  };
  for (const Expected& e : {Expected{"nccl_a100_8gpu_alltoall.txt", 8, 1, 29, 33508, 224.31},
                            Expected{"nccl_a100_polaris_2node_8gpu_all_reduce.txt", 8, 2, 29, 198842, 9.45},
                            Expected{"nccl_h100_2node_2gpu_roce_all_reduce_debug_info.txt", 2, 2, 0, 0, 0},
                            Expected{"nccl_b200_2node_2gpu_gib_all_gather.txt", 2, 2, 26, 0, 0},
                            Expected{"nccl_h100_8gpu_all_reduce.txt", 8, 1, 32, 62648, 479.90},
                            Expected{"rccl_mi300x_2node_16gpu_all_reduce.txt", 16, 2, 32, 0, 0},
                            Expected{"rccl_mi300x_8gpu_all_reduce.txt", 8, 1, 31, 47617, 315.69}}) {
    const NcclLog log = read_nccl_log(e.file, content(e.file));
    EXPECT_EQ(log.ranks, e.ranks) << e.file;
    EXPECT_EQ(log.hosts, e.hosts) << e.file;
    if (e.rows > 0) {
      EXPECT_EQ(log.rows.size(), e.rows) << e.file;
    }
    if (e.last_us > 0) {
      EXPECT_DOUBLE_EQ(log.rows.back().time_s, e.last_us * 1e-6) << e.file;
      EXPECT_DOUBLE_EQ(log.rows.back().busbw, e.last_busbw * 1e9) << e.file;
    }
    for (std::size_t i = 1; i < log.rows.size(); ++i) EXPECT_GT(log.rows[i].bytes, log.rows[i - 1].bytes) << e.file;
    ASSERT_TRUE(log.kind.has_value()) << e.file;
  }
  EXPECT_EQ(*read_nccl_log("x", content("nccl_h100_8gpu_all_reduce.txt")).kind, CollectiveKind::all_reduce)
      << "by its factor";
  EXPECT_THROW(static_cast<void>(read_nccl_log("x", "nothing\n")), ScenarioError);
}

// The healthy H100 node is not flagged; Polaris with its slow setting (9.45 GB/s where 2 x 25 are there) is.
TEST(LogComparisons, FlagTheSlowOnes) {
  const auto compare = [](const char* file, const char* cluster, std::vector<std::uint32_t> gpus, const char* facts) {
    const NcclLog log = read_nccl_log(file, content(file));
    CollectiveRequest r;
    r.cluster = load_cluster_preset(cluster, {"nodes=2"});
    r.kind = *log.kind;
    r.gpus = std::move(gpus);
    if (*facts != 0)
      r.node = load_nccl_node(facts);
    else
      r.algorithm = NcclAlgorithm::ring;
    for (const NcclLogRow& row : log.rows) r.sizes.push_back(row.bytes);
    return compare_log(log, run_collective_table(r));
  };
  const LogComparison healthy =
      compare("nccl_h100_8gpu_all_reduce.txt", "azure_nd_h100_v5", {0, 1, 2, 3, 4, 5, 6, 7}, "hopper_8_nvswitch");
  EXPECT_FALSE(healthy.flagged);
  EXPECT_NEAR(healthy.large_ratio, 1, 0.07);
  const LogComparison slow = compare("nccl_a100_polaris_2node_8gpu_all_reduce.txt", "polaris", {0, 1, 2, 3, 4, 5, 6, 7}, "");
  EXPECT_TRUE(slow.flagged);
  EXPECT_FALSE(slow.cause.empty());
}

}  // namespace
}  // namespace traingraph::scenarios
