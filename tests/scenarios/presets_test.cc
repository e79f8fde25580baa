// The presets: all of them load, every number has its source beside it, and what is published of the clusters comes out.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <variant>

#include "scenarios/diagnostics.h"
#include "scenarios/limits_config.h"
#include "scenarios/preset_store.h"
#include "scenarios/scenario.h"
#include "scenarios/yaml_reader.h"
#include "topology/build.h"
#include "workloads/model_spec.h"

namespace traingraph::scenarios {
namespace {

const std::string kCluster = "cluster: {node: {gpus: 1}}\n";

Scenario with_hardware(const std::string& preset) {
  return load_text(kCluster + "hardware: " + preset + "\nworkload: {kind: collective, collective: barrier}\n", "t.yaml");
}
Scenario with_model(const std::string& preset) {
  return load_text(kCluster + "hardware: a100_80gb\nworkload: {kind: transformer, model: " + preset +
                       ", global_batch: 1, attention: unfused}\n",
                   "t.yaml");
}
const workloads::ModelSpec& model_of(const Scenario& s) {
  return std::get<workloads::TransformerSpec>(s.workload.job).model;
}

TEST(Presets, AllAreThere) {
  std::map<std::string_view, int> count;
  for (const PresetFile& p : all_presets()) ++count[p.folder];
  EXPECT_EQ(count["hardware"], 11);
  EXPECT_EQ(count["nodes"], 28);
  EXPECT_EQ(count["clusters"], 33);
  EXPECT_EQ(count["models"], 48);
  EXPECT_EQ(count["software"], 3);
  EXPECT_EQ(count["theory"], 15);
  EXPECT_TRUE(std::is_sorted(all_presets().begin(), all_presets().end(), [](const PresetFile& a, const PresetFile& b) {
    return std::pair{a.folder, a.name} < std::pair{b.folder, b.name};
  }));
}

TEST(Presets, AllLoad) {
  for (const PresetFile& p : all_presets()) {
    SCOPED_TRACE(std::string{p.folder} + "/" + std::string{p.name});
    const std::string name{p.name};
    try {
      if (p.folder == "hardware") static_cast<void>(with_hardware(name));
      if (p.folder == "models") static_cast<void>(with_model(name));
      if (p.folder == "theory") static_cast<void>(load_limits_preset(name));
      if (p.folder == "clusters") static_cast<void>(load_cluster_preset(name));
      if (p.folder == "nodes") static_cast<void>(load_cluster_preset("fat_tree", {"node=" + name}));
      if (p.folder == "software") {
        static_cast<void>(
            load_text(kCluster +
                          "hardware: a100_80gb\nworkload: {kind: transformer, model: gpt2_small, global_batch: 1, "
                          "attention: unfused, software: " +
                          name + "}\n",
                      "t.yaml"));
      }
    } catch (const sim::InputError& e) {
      const bool chip_without_nics = name.starts_with("tpu_") && p.folder == "nodes";
      EXPECT_TRUE(chip_without_nics) << e.what();
    }
  }
}

bool is_number(const Value& v) {
  return v.kind == ValueKind::scalar && !v.quoted && !v.text.empty() &&
         (v.text[0] == '-' || (v.text[0] >= '0' && v.text[0] <= '9'));
}

/// The numbers below `v` that have no source beside them.
void numbers_without_source(const Value& v, bool sourced, std::vector<std::string>& found) {
  if (is_number(v) && !sourced) found.push_back(to_string(v.origin) + ": " + v.text);
  for (const Value& item : v.items) numbers_without_source(item, sourced, found);
  const Entry* const source = v.find("source");
  const bool here = v.find("value") != nullptr && source != nullptr && source->value.text.size() > 3;
  for (const Entry& e : v.entries) {
    if (!(here && e.key == "source")) numbers_without_source(e.value, here && e.key == "value", found);
  }
}

TEST(Presets, EveryNumberHasItsSourceBesideIt) {
  for (const PresetFile& p : all_presets()) {
    Diagnostics diagnostics;
    const std::string name = std::string{p.folder} + "/" + std::string{p.name};
    const Value root = read_yaml(p.text, {OriginKind::preset, name, 0, 0}, diagnostics);
    EXPECT_TRUE(diagnostics.empty()) << diagnostics.text();
    std::vector<std::string> found;
    numbers_without_source(root, false, found);
    EXPECT_TRUE(found.empty()) << found.front();
  }
}

TEST(Presets, ANumberWithoutSourceWouldBeFound) {
  Diagnostics diagnostics;
  std::vector<std::string> found;
  numbers_without_source(read_yaml("a: 1\nb: {value: 2, source: book}\nc: {value: [3, 4]}\nd: {source: book, e: 5}\n",
                                   {OriginKind::preset, "x", 0, 0}, diagnostics),
                         false, found);
  EXPECT_EQ(found,
            std::vector<std::string>({"preset x:1:4: 1", "preset x:3:13: 3", "preset x:3:16: 4", "preset x:4:22: 5"}));
}

// Parameter counts as computed from the shapes independently.
TEST(Presets, ModelsHaveTheirNumberOfParameters) {
  const std::map<std::string, std::uint64_t> expected{{"gpt2_xl", 1557611200},           {"gpt3_175b", 174604259328},
                                                      {"megatron_1008b", 1008038758400}, {"korthikanti_530b", 529600819200},
                                                      {"llama1_65b", 65285660672},       {"llama2_70b", 68976648192},
                                                      {"llama3_8b", 8030261248},         {"llama3_70b", 70553706496},
                                                      {"llama3_405b", 405853388800},     {"nemotron_4_340b", 341029195776},
                                                      {"mixtral_8x7b", 46702792704},     {"mixtral_8x22b", 140630071296}};
  for (const auto& [name, parameters] : expected)
    EXPECT_EQ(workloads::parameter_count(model_of(with_model(name))), parameters) << name;
}

TEST(Presets, PeaksAreThoseOfTheDataSheets) {
  const auto bf16 = [](const std::string& name) {
    return with_hardware(name).hardware.peaks.at(workloads::Precision::bf16).flop_per_s();
  };
  EXPECT_EQ(bf16("a100_80gb"), 312e12);
  EXPECT_EQ(bf16("h100_sxm"), 989e12);
  EXPECT_EQ(bf16("h200_sxm"), 989e12);
  EXPECT_EQ(bf16("b200"), 2250e12);
  EXPECT_EQ(bf16("gb200"), 2500e12);
  EXPECT_EQ(bf16("mi300x"), 1307e12);
  EXPECT_EQ(bf16("tpu_v4"), 275e12);
  EXPECT_EQ(bf16("tpu_v5p"), 459e12);
  EXPECT_EQ(with_hardware("v100_32gb").hardware.peaks.at(workloads::Precision::fp16).flop_per_s(), 125e12);
  EXPECT_FALSE(with_hardware("v100_32gb").hardware.peaks.contains(workloads::Precision::bf16));
}

// The table of the paper's hardware (arXiv 2411.01137), typed from its description.
TEST(Presets, TheMatmulModelOfH100IsThePapers) {
  const auto h = with_hardware("h100_sxm").hardware;
  ASSERT_TRUE(h.matmul.has_value());
  EXPECT_EQ(h.matmul->flop_per_clock_per_sm, 4096.0);
  EXPECT_EQ(h.matmul->sms, 132.0);
  EXPECT_EQ(h.matmul->clock_hz, 1830e6);
  EXPECT_EQ(h.matmul->sustained_clock_fraction, 0.70);
  EXPECT_EQ(h.matmul->register_block, sim::Bytes{65536});
  EXPECT_EQ(h.matmul->l2_bandwidth, sim::Bandwidth::bytes_per_s(6441e9));
  EXPECT_EQ(h.matmul->l2_size, sim::Bytes{52428800});
  EXPECT_EQ(h.matmul->memory_bandwidth, sim::Bandwidth::bytes_per_s(3352e9));
  EXPECT_EQ(h.matmul->matmul_latency_s, 4.5e-6);
  EXPECT_TRUE(h.matmul->distributed_shared_memory);
}

std::map<topology::DeviceKind, std::size_t> counts(const std::string& preset,
                                                   const std::vector<std::string>& overrides = {}) {
  const topology::Fabric fabric = topology::build(load_cluster_preset(preset, overrides));
  std::map<topology::DeviceKind, std::size_t> n;
  for (const topology::Device& d : fabric.devices) ++n[d.kind];
  return n;
}

using topology::DeviceKind;

// Leaves and spines of the reference architectures.
TEST(Presets, SuperPodsHaveThePublishedSwitches) {
  auto h100 = counts("dgx_h100_superpod");
  EXPECT_EQ(h100[DeviceKind::gpu], 1016U);
  EXPECT_EQ(h100[DeviceKind::leaf], 32U);
  EXPECT_EQ(h100[DeviceKind::spine], 16U);
  auto one = counts("dgx_h100_superpod", {"nodes=31"});
  EXPECT_EQ(one[DeviceKind::leaf], 8U);
  EXPECT_EQ(one[DeviceKind::spine], 4U);
  auto a100 = counts("dgx_a100_superpod");
  EXPECT_EQ(a100[DeviceKind::gpu], 1120U);
  EXPECT_EQ(a100[DeviceKind::leaf], 56U);
  EXPECT_EQ(a100[DeviceKind::spine], 80U);
  EXPECT_EQ(a100[DeviceKind::core], 28U);
  auto b200 = counts("dgx_b200_superpod", {"nodes=512", "scale_out.tiers=3"});
  EXPECT_EQ(b200[DeviceKind::leaf], 128U);
  EXPECT_EQ(b200[DeviceKind::spine], 128U);
  EXPECT_EQ(b200[DeviceKind::core], 64U);
}

TEST(Presets, OtherClustersHaveThePublishedSizes) {
  auto spectrum = counts("spectrum_x_4096");
  EXPECT_EQ(spectrum[DeviceKind::gpu], 4096U);
  EXPECT_EQ(spectrum[DeviceKind::leaf], 64U);
  EXPECT_EQ(spectrum[DeviceKind::spine], 64U);
  auto hpn = counts("hpn_7");
  EXPECT_EQ(hpn[DeviceKind::gpu], 15360U);
  EXPECT_EQ(hpn[DeviceKind::leaf], 240U);
  EXPECT_EQ(hpn[DeviceKind::spine], 120U);
  auto nvl72 = counts("gb200_nvl72_superpod");
  EXPECT_EQ(nvl72[DeviceKind::gpu], 576U);
  EXPECT_EQ(nvl72[DeviceKind::nvswitch], 8U * 18U);
  EXPECT_EQ(counts("tpu_v4_pod")[DeviceKind::gpu], 4096U);
  EXPECT_EQ(counts("tpu_v5p_pod")[DeviceKind::gpu], 8960U);
}

// 24,576 GPUs in 1,536 racks and eight pods; a pod sends out a seventh of what its GPUs can.
TEST(Presets, MetasClusterIsOneToSevenAboveItsPods) {
  const topology::Fabric fabric = topology::build(load_cluster_preset("meta_24k_roce"));
  EXPECT_EQ(fabric.gpus(), 24576U);
  std::map<DeviceKind, std::size_t> n;
  std::int32_t pods = 0;
  for (const topology::Device& d : fabric.devices) {
    ++n[d.kind];
    pods = std::max(pods, d.pod + 1);
  }
  EXPECT_EQ(n[DeviceKind::leaf], 1536U);
  EXPECT_EQ(pods, 8);
  double up = 0.0;
  double nic = 0.0;
  for (std::uint32_t i = 0; i < fabric.link_info.size(); ++i) {
    const sim::LinkId link{i};
    const topology::LinkInfo& info = fabric.link_info[link];
    const topology::Device& source = fabric.devices[info.source];
    if (source.pod != 0) continue;
    if (info.tier == topology::Tier::spine_core && source.kind == DeviceKind::spine)
      up += fabric.links[link].capacity.bytes_per_s();
    if (info.tier == topology::Tier::nic && source.kind != DeviceKind::leaf)
      nic += fabric.links[link].capacity.bytes_per_s();
  }
  EXPECT_DOUBLE_EQ(nic, 3072 * 50e9);
  EXPECT_NEAR(nic / up, 7.0, 1e-9);
}

}  // namespace
}  // namespace traingraph::scenarios
