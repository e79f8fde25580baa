#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "scenarios/diagnostics.h"
#include "scenarios/scenario.h"
#include "tests/scenarios/schema_cases.h"

namespace traingraph::scenarios {
namespace {

Scenario with(const std::vector<std::string>& overrides) { return load_text(test::kTransformer, "base.yaml", overrides); }
const workloads::TransformerSpec& job(const Scenario& s) { return std::get<workloads::TransformerSpec>(s.workload.job); }

TEST(Override, ChangesOneValueOfAPresetThatTheFileNamesByAWord) {
  const Scenario s = with({"hardware.memory_size=96 GB"});
  EXPECT_EQ(s.hardware.memory_size, sim::Bytes{96e9});
  EXPECT_EQ(s.hardware.name, "A100 SXM4 40GB");
  EXPECT_EQ(to_string(s.provenance.origin("hardware.memory_size")), "--set hardware.memory_size=96 GB");
}

TEST(Override, ReachesThroughAPresetIntoThePresetThatItNames) {
  const auto cluster = load_cluster_preset("dgx_h100_superpod", {"node.scale_up.planes=7"});
  EXPECT_EQ(std::get<topology::NvSwitch>(cluster.scale_up).planes, 7U);
  EXPECT_EQ(std::get<topology::NvSwitch>(cluster.scale_up).bandwidth, sim::Bandwidth::bytes_per_s(370.8e9));
}

TEST(Override, APresetReplacesWhatTheFileSays) {
  const Scenario s = with({"workload.model=llama3_8b", "workload.model.layers=16"});
  EXPECT_EQ(job(s).model.layers, 16U);
  EXPECT_EQ(job(s).model.hidden, 4096U);
}

TEST(Override, TheLastOfTwoWins) {
  EXPECT_EQ(job(with({"workload.micro_batch=2", "workload.micro_batch=4"})).micro_batch, 4U);
}

TEST(Override, NothingAfterTheEqualsSignRemovesTheKey) {
  EXPECT_THROW(static_cast<void>(with({"workload.attention="})), ScenarioError);
  EXPECT_EQ(with({"cluster.node.nic.latency="}).cluster.nic.latency, sim::Duration{});
}

TEST(Override, TheValueIsYaml) {
  const Scenario s = with({"cluster.node.nic={bandwidth: 100 Gb/s, overhead: 2 us}"});
  EXPECT_EQ(s.cluster.nic.bandwidth, sim::Bandwidth::gbit_per_s(100));
  EXPECT_EQ(s.cluster.nic.latency, sim::Duration{});  // the whole map was replaced
  EXPECT_EQ(with({"name=\"a=b: c\""}).name, "a=b: c");
}

// The map of another kind replaces the preset's, key by key it would be nonsense.
TEST(Override, AnotherKindReplacesTheMapOfAPreset) {
  const auto cluster = load_cluster_preset("dgx_h100_superpod", {"scale_out={kind: single_switch}"});
  EXPECT_TRUE(std::holds_alternative<topology::SingleSwitch>(cluster.scale_out));
}

TEST(Override, AClusterPresetThatDoesNotExistIsAnErrorWithTheNearestName) {
  try {
    static_cast<void>(load_cluster_preset("dgx_h100_superpot"));
    FAIL();
  } catch (const ScenarioError& e) {
    EXPECT_EQ(std::string{e.what()},
              "dgx_h100_superpot: cluster: no preset 'dgx_h100_superpot' in clusters; did you mean 'dgx_h100_superpod'?");
  }
}

TEST(Override, TheNameOfAScenarioIsItsFilesUnlessGiven) {
  const std::string text = std::string{test::kTransformer}.substr(std::string{"name: base\n"}.size());
  EXPECT_EQ(load_text(text, "dir/my_run.yaml").name, "my_run");
  EXPECT_EQ(load_text(text, "-").name, "stdin");
  EXPECT_EQ(load_text(test::kTransformer, "dir/my_run.yaml").name, "base");
}

}  // namespace
}  // namespace traingraph::scenarios
