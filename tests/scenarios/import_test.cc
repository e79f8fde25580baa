// Importers on published files: what must come out is counted in the files by eye or with grep, never taken from an
// importer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "scenarios/cluster_yaml.h"
#include "scenarios/diagnostics.h"
#include "scenarios/import_request.h"
#include "scenarios/scenario.h"
#include "scenarios/yaml_reader.h"
#include "topology/build.h"
#include "topology/describe.h"
#include "topology/import/hostlist.h"
#include "topology/routing.h"

namespace traingraph::scenarios {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using topology::DeviceKind;
using topology::Tier;

const std::string kData = std::string{TRAINGRAPH_TEST_DATA} + "/import";

topology::Imported imported(const std::vector<std::string>& files, const std::vector<std::string>& set = {},
                            const std::string& kind = "auto") {
  return run_import(import_request(kind, files, set), kData);
}

struct Expected {
  std::vector<std::string> files;
  std::vector<std::string> set;
  std::map<DeviceKind, std::size_t> devices;
  std::map<Tier, std::size_t> cables;
};

void PrintTo(const Expected& e, std::ostream* out) { *out << e.files.front(); }

class PublishedFile : public testing::TestWithParam<Expected> {};

TEST_P(PublishedFile, HasItsDevicesAndCables) {
  const Expected& e = GetParam();
  const topology::Imported read = imported(e.files, e.set);
  const auto& custom = std::get<topology::Custom>(read.cluster.scale_out);
  std::map<DeviceKind, std::size_t> devices;
  std::map<Tier, std::size_t> cables;
  for (const auto& d : custom.devices) ++devices[d.kind];
  for (const auto& l : custom.links) cables[l.tier] += l.parallel;
  for (const auto& [kind, n] : e.devices) EXPECT_EQ(devices[kind], n) << to_string(kind);
  for (const auto& [tier, n] : e.cables) EXPECT_EQ(cables[tier], n) << to_string(tier);
}

// Import, write as YAML, read as a scenario's cluster, build: the same graph.
TEST_P(PublishedFile, IsTheSameGraphAfterARoundTrip) {
  const Expected& e = GetParam();
  const topology::Imported read = imported(e.files, e.set);
  const Scenario again = load_text(
      cluster_yaml(read.cluster, read.notes) + "workload: {kind: collective, collective: barrier}\n", "again.yaml");
  const topology::Fabric before = topology::build(read.cluster), after = topology::build(again.cluster);
  EXPECT_EQ(topology::to_json(before, topology::describe(before, read.cluster)),
            topology::to_json(after, topology::describe(after, again.cluster)));
}

INSTANTIATE_TEST_SUITE_P(
    Import, PublishedFile,
    testing::Values(
        // 8 GPUs with two links to each of 6 switches; 12 <net>
        Expected{{"dgx_a100_dump_keysight.xml"},
                 {},
                 {{DeviceKind::gpu, 8}, {DeviceKind::nvswitch, 6}, {DeviceKind::nic, 12}},
                 {{Tier::scale_up, 96}}},
        Expected{{"dgx_a100_dump_keysight.xml"},
                 {"nodes=3"},
                 {{DeviceKind::gpu, 24}, {DeviceKind::nic, 36}, {DeviceKind::switch_, 1}},
                 {{Tier::nic, 36}}},
        Expected{{"azure_ndv5_h100.xml"}, {}, {{DeviceKind::gpu, 8}, {DeviceKind::nic, 8}, {DeviceKind::host, 2}}, {}},
        Expected{{"aws_p4d_a100.xml"}, {}, {{DeviceKind::gpu, 8}, {DeviceKind::nic, 4}, {DeviceKind::pcie_switch, 4}}, {}},
        // 56 <xgmi>: every pair from both sides
        Expected{{"rccl_8p_gfx940_mi300.xml"}, {}, {{DeviceKind::gpu, 8}, {DeviceKind::nic, 8}}, {{Tier::scale_up, 28}}},
        // 10 Ca sections, 8 Switch sections, of which 5 next to hosts, 2 above, 1 on top
        Expected{{"superbench_ibnetdiscover.txt"},
                 {},
                 {{DeviceKind::gpu, 10},
                  {DeviceKind::nic, 10},
                  {DeviceKind::leaf, 5},
                  {DeviceKind::spine, 2},
                  {DeviceKind::core, 1}},
                 {{Tier::nic, 10}, {Tier::leaf_spine, 5}, {Tier::spine_core, 2}}},
        // two switches joined by two cables
        Expected{{"ibsim_net.2sw2path4hca"}, {}, {{DeviceKind::gpu, 4}, {DeviceKind::leaf, 2}}, {{Tier::nic, 6}}},
        // four hosts on one switch; the aggregation node is none
        Expected{{"iblinkinfo_nccl-tests-71.txt"}, {}, {{DeviceKind::gpu, 4}, {DeviceKind::leaf, 1}}, {{Tier::nic, 4}}},
        // 400 nodes, 20 leaves, 2 groups, 1 root
        Expected{{"slurm_test133_case3.topology.conf"},
                 {"gpus_per_node=4", "scale_up=300 GB/s"},
                 {{DeviceKind::gpu, 1600},
                  {DeviceKind::nvswitch, 400},
                  {DeviceKind::leaf, 20},
                  {DeviceKind::spine, 2},
                  {DeviceKind::core, 1}},
                 {{Tier::nic, 1600}, {Tier::leaf_spine, 20}, {Tier::spine_core, 2}}},
        Expected{{"topograph_slinky_oci_tree.conf"},
                 {"gpus_per_node=1"},
                 {{DeviceKind::gpu, 96}, {DeviceKind::leaf, 12}, {DeviceKind::spine, 6}, {DeviceKind::core, 1}},
                 {}},
        Expected{{"slurm_check.topology.conf"},
                 {"gpus_per_node=1"},
                 {{DeviceKind::gpu, 32}, {DeviceKind::leaf, 8}, {DeviceKind::spine, 1}},
                 {}},
        Expected{{"slurm_topology.manpage.yaml"},
                 {"gpus_per_node=2", "topology=topo2"},
                 {{DeviceKind::gpu, 32}, {DeviceKind::leaf, 4}},
                 {}},
        Expected{{"slurm_topology.oci-oke.yaml"}, {"gpus_per_node=2"}, {{DeviceKind::gpu, 8}, {DeviceKind::leaf, 2}}, {}},
        // NV4 between 4 GPUs is a mesh: 6 pairs of 4 links; NV18 between 8 needs a switch
        Expected{{"a100x4_nccl-595.txt"}, {}, {{DeviceKind::gpu, 4}, {DeviceKind::nvswitch, 0}}, {{Tier::scale_up, 24}}},
        Expected{{"b200x8_gcp_a4.txt"},
                 {"nodes=2"},
                 {{DeviceKind::gpu, 16}, {DeviceKind::nvswitch, 2}, {DeviceKind::nic, 16}},
                 {{Tier::scale_up, 288}, {Tier::nic, 16}}},
        Expected{{"h100x8_dstack.txt"}, {}, {{DeviceKind::gpu, 8}, {DeviceKind::nic, 1}, {DeviceKind::nvswitch, 1}}, {}},
        // 4 servers of 4 xpu, 4 leaves and 3 spines with 1 asic and 16 ports each
        Expected{{"two-tier-clos-fabric-infrastructure.yaml", "two-tier-clos-fabric-server.yaml",
                  "two-tier-clos-fabric-switch.yaml"},
                 {},
                 {{DeviceKind::gpu, 16}, {DeviceKind::nvswitch, 4}, {DeviceKind::nic, 16}, {DeviceKind::switch_, 7 * 17}},
                 {}},
        Expected{{"dgxa100.yaml"}, {}, {{DeviceKind::gpu, 8}, {DeviceKind::host, 2}, {DeviceKind::pcie_switch, 4}}, {}},
        Expected{{"scaleup-scaleout.yaml"}, {}, {{DeviceKind::gpu, 8}}, {}},
        Expected{{"Ring_FullyConnected_Switch.yml", "Ring_4chunks.json"},
                 {},
                 {{DeviceKind::gpu, 64}, {DeviceKind::switch_, 16}},
                 {{Tier::torus, 32 + 8 * 28}, {Tier::other, 64}}},
        // "48 8 4 12 96": 48 nodes, of which 4 NVSwitches and 12 switches; 96 links
        Expected{{"simai_spectrum_x_32g.txt"},
                 {},
                 {{DeviceKind::gpu, 32}, {DeviceKind::nvswitch, 4}, {DeviceKind::switch_, 12}},
                 {{Tier::scale_up, 32}, {Tier::nic, 32}, {Tier::leaf_spine, 32}}},
        Expected{{"simai_hpn_64g.txt"},
                 {},
                 {{DeviceKind::gpu, 64}, {DeviceKind::nvswitch, 8}, {DeviceKind::switch_, 32}},
                 {{Tier::nic, 128}}},
        Expected{{"7_nodes_3_switch_topology.txt"}, {}, {{DeviceKind::gpu, 4}, {DeviceKind::switch_, 3}}, {{Tier::nic, 8}}},
        // 8 hosts, 2 below a leaf; pods of 4 with 2 spines; a spine's 4 links up, 2 to each of 2 cores
        Expected{{"astra_htsim_8nodes.topo"},
                 {},
                 {{DeviceKind::gpu, 8}, {DeviceKind::leaf, 4}, {DeviceKind::spine, 4}, {DeviceKind::core, 4}},
                 {{Tier::nic, 8}, {Tier::leaf_spine, 8}, {Tier::spine_core, 16}}}),
    [](const auto& i) {
      std::string name = i.param.files.front() + "_" + std::to_string(i.index);
      for (char& c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
      }
      return name;
    });

// ASTRA-sim's own unit tests of its congestion-unaware network, a chunk of 1 MiB: whole ns.
TEST(ImportAstraSim, GivesItsUnitTestsDelays) {
  struct Case {
    const char* file;
    std::uint32_t from, to;
    double ns;
  };
  for (const Case& c :
       {Case{"Ring.yml", 1, 4, 21031}, Case{"FullyConnected.yml", 1, 4, 20031}, Case{"Switch.yml", 1, 4, 20531},
        Case{"Ring_FullyConnected_Switch.yml", 0, 1, 4932}, Case{"Ring_FullyConnected_Switch.yml", 37, 41, 10265},
        Case{"Ring_FullyConnected_Switch.yml", 26, 42, 23531}}) {
    const topology::ClusterSpec cluster = imported({c.file}).cluster;
    const topology::Fabric fabric = topology::build(cluster);
    const auto router = topology::make_router(fabric, cluster);
    const sim::Path path = router->route(sim::EndpointId{c.from}, sim::EndpointId{c.to}, 0);
    const double drain = 1048576 / sim::rate_alone(fabric.links, path).bytes_per_s() * 1e9;
    EXPECT_EQ(std::floor(static_cast<double>(path.latency.count_ps()) / 1e3 + drain), c.ns) << c.file << " " << c.from;
  }
}

// Data rates of four lanes: HDR 200, EDR 100 Gb/s.
TEST(ImportInfiniBand, SpeedsAreDataRates) {
  for (const auto& [file, gbit] :
       {std::pair{"superbench_ibnetdiscover.txt", 200.0}, std::pair{"iblinkinfo_nccl-tests-71.txt", 100.0}}) {
    for (const auto& l : std::get<topology::Custom>(imported({file}).cluster.scale_out).links) {
      EXPECT_DOUBLE_EQ(l.bandwidth.bytes_per_s(), gbit * 1.25e8) << file << " " << l.source << " " << l.target;
    }
  }
}

// A way between GPUs of one node leads over NVLink, never over PCIe, however near the two are there.
TEST(ImportNcclXml, GpusMeetOverNvlink) {
  const topology::ClusterSpec cluster = imported({"dgx_a100_dump_keysight.xml"}, {"nodes=2"}).cluster;
  const topology::Fabric fabric = topology::build(cluster);
  const auto router = topology::make_router(fabric, cluster);
  for (std::uint32_t a = 0; a < 8; ++a) {
    for (std::uint32_t b = 0; b < 8; ++b) {
      if (a == b) continue;
      const sim::Path path = router->route(sim::EndpointId{a}, sim::EndpointId{b}, 0);
      for (const sim::PathLink& l : path.links) EXPECT_EQ(fabric.link_info[l.link].tier, Tier::scale_up);
      EXPECT_DOUBLE_EQ(sim::rate_alone(fabric.links, path).bytes_per_s(), 240e9) << "12 links of 20 GB/s";
    }
  }
}

TEST(ImportNotes, SayWhatWasNotInTheFile) {
  const auto notes = imported({"azure_ndv5_h100.xml"}).notes;
  EXPECT_THAT(notes, testing::Contains(HasSubstr("speed of the NICs: not in the file, taken as 400 Gb/s")));
  EXPECT_THAT(notes, testing::Contains(HasSubstr("NVLinks: none in the file")));
  EXPECT_TRUE(imported({"simai_hpn_64g.txt"}).notes.empty()) << "everything is in this file";
}

TEST(ImportHostlist, Expands) {
  const auto names = [](std::string_view text) { return std::get<0>(topology::imports::expand_hostlist(text)); };
  EXPECT_THAT(names("n[08-11],m"), ElementsAre("n08", "n09", "n10", "n11", "m"));
  EXPECT_THAT(names("r[1-2]n[1,3]-x"), ElementsAre("r1n1-x", "r1n3-x", "r2n1-x", "r2n3-x"));
  for (const char* bad : {"n[1-", "n[a]", "n[3-1]", "a,,b", "a,", "n[0-9999999]", "n]", "n[1-2][0-999999]"}) {
    EXPECT_EQ(topology::imports::expand_hostlist(bad).index(), 1U) << bad;
  }
}

std::string refusal(const std::string& kind, const std::string& text) {
  const topology::ImportFile file{"f", text};
  const ImportRequest request = import_request("auto", {"f"}, {});
  for (const topology::ImportKind k : topology::kImportKinds) {
    if (to_string(k) != kind) continue;
    try {
      static_cast<void>(topology::import_cluster(k, std::span{&file, 1}, request.options,
                                                 [](const topology::ImportFile&) { return topology::TreeNode{}; }));
    } catch (const topology::ImportError& e) {
      return e.what();
    }
  }
  return "accepted";
}

// Every fault is one line that begins with its place.
TEST(ImportErrors, NameTheirPlaceWhatWasFoundAndWhatIsAllowed) {
  EXPECT_THAT(refusal("nccl_xml", "<system>\n<cpu>\n</system>"), HasSubstr("f:3:"));
  EXPECT_EQ(refusal("nccl_xml", "<system version='1'>\n <cpu/>\n</system>"), "f:1:2: there is no GPU in this topology");
  EXPECT_EQ(refusal("nccl_xml", "<system><cpu><pci busid='a' class='0x030200' link_speed='fast'/></cpu></system>"),
            "f:1:15: <pci> link_speed: found 'fast', allowed: such as '16 GT/s'");
  EXPECT_EQ(refusal("ibnetdiscover", "Switch 2 \"S-1\"\n[1] \"H-1\"\n"), "f:2:10: a port such as [1] is missing");
  EXPECT_EQ(refusal("ibnetdiscover", "Switch 2 \"S-1\"\nhello\n"),
            "f:2:1: found 'hello', allowed: a node (Switch, Ca or Rt), a port ([1] \"id\"[2]), or key=value");
  EXPECT_THAT(refusal("iblinkinfo", "CA: a:\n 0x1 3 1[ ] ==( 4X 77 Gbps Active/ LinkUp)==> 4 1[ ] \"b\"\n"),
              HasSubstr("f:2:20: found a lane of 77 Gbps"));
  EXPECT_EQ(refusal("slurm", "SwitchName=a Node=n1\n"),
            "f:1:14: unknown key 'Node'; allowed: SwitchName, Switches, Nodes, LinkSpeed, BlockName, BlockSizes");
  EXPECT_EQ(refusal("slurm", "SwitchName=a Nodes=n[1-\n"), "f:1:21: a bracket that is not closed");
  EXPECT_EQ(refusal("slurm", "SwitchName=a Switches=b\n"), "f:1:12: no switch 'b' below 'a'");
  EXPECT_EQ(refusal("slurm", "SwitchName=a Switches=b\nSwitchName=b Switches=a\n"), "f:1:12: 'a' is below itself");
  EXPECT_EQ(refusal("nvidia_smi", "GPU0 GPU1 CPU Affinity\nGPU0 X NV4\nGPU1 NV3\n"),
            "f:3:1: GPU1 has 1 cells for 2 columns");
  EXPECT_EQ(refusal("nvidia_smi", "GPU0 GPU1 CPU\nGPU0 X NV4\nGPU1 NV3 X\n"),
            "f:1:1: GPU0 and GPU1 differ in what joins them");
  EXPECT_EQ(refusal("ns3", "3 1 2\n2\n0 2 100Gbps 1us 0\n1 7 100Gbps 1us 0\n"),
            "f:4:3: found '7', allowed: a whole number from 0 to 2");
  EXPECT_EQ(refusal("ns3", "3 1 2\n2\n0 2 100Gbps 1us 0\n"), "f:1:1: the first line announces 2 links, but there are 1");
  EXPECT_EQ(refusal("ns3", "3 1 1\n2\n0 2 fast 1us 0\n"), "f:3:5: found 'fast', allowed: a rate such as 400Gbps");
  EXPECT_EQ(refusal("htsim", "Nodes 8\nTiers 4\n"), "f:2:7: found '4', allowed: a whole number from 2 to 3");
  EXPECT_EQ(refusal("ns3", "# nThread 1 nGpus 8\n"),
            "f:1:1: this is an nccl-tests log (see `traingraph compare`), not an ns-3 topology (ns3)");
  EXPECT_EQ(refusal("htsim", "3 1 2\n2\n"), "f:1:1: this looks like an ns-3 topology (ns3), not an htsim topology (htsim)");
}

// A scenario may name the files itself; its own keys are laid over what they say.
TEST(ImportInAScenario, IsLikeAPreset) {
  const std::string file = kData + "/astra_htsim_8nodes.topo";
  const Scenario s =
      load_text("cluster: {import: " + file +
                    ", routing: {policy: ecmp}}\nworkload: {kind: collective, collective: all_reduce, bytes: 1 MiB}\n",
                "s.yaml");
  EXPECT_EQ(gpu_count(s.cluster), 8U);
  EXPECT_EQ(s.cluster.routing.policy, topology::RoutingPolicy::ecmp);
  const Scenario t = load_text("cluster: {import: {kind: slurm, files: [" + kData +
                                   "/slurm_check.topology.conf], gpus_per_node: 2}}\n"
                                   "workload: {kind: collective, collective: barrier}\n",
                               "s.yaml");
  EXPECT_EQ(gpu_count(t.cluster), 64U);
  try {
    static_cast<void>(load_text("cluster: {import: {files: [" + file + "], bandwith: 1 Gb/s}}\nworkload: {}\n", "s.yaml"));
    FAIL();
  } catch (const ScenarioError& e) {
    EXPECT_THAT(e.what(), HasSubstr("unknown key 'bandwith'"));
  }
}

}  // namespace
}  // namespace traingraph::scenarios
