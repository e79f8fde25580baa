// The shipped examples say what the program's description promises, and survive being printed and read again.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include "scenarios/scenario.h"
#include "scenarios/yaml_reader.h"

namespace traingraph::scenarios {
namespace {

std::filesystem::path folder() { return std::filesystem::path{TRAINGRAPH_SOURCE_DIR} / "scenarios" / "examples"; }
Scenario example(const std::string& name) { return load(folder() / (name + ".yaml")); }
const workloads::TransformerSpec& job(const Scenario& s) { return std::get<workloads::TransformerSpec>(s.workload.job); }

TEST(Examples, Gpt3OnAThousandGpus) {
  const Scenario s = example("gpt3_175b_1024_a100");
  const auto& t = job(s);
  EXPECT_EQ(gpu_count(s.cluster), 1024U);
  EXPECT_EQ(s.cluster.nodes, 128U);
  EXPECT_EQ(s.cluster.nic.bandwidth, sim::Bandwidth::gbit_per_s(200));
  EXPECT_EQ(s.hardware.memory_size, sim::Bytes{80e9});
  EXPECT_EQ(std::get<topology::Clos>(s.cluster.scale_out).tiers, 2U);
  EXPECT_EQ(std::get<topology::Clos>(s.cluster.scale_out).wiring, topology::Clos::Wiring::rail_optimized);
  EXPECT_EQ(t.model.layers, 96U);
  EXPECT_EQ(t.model.hidden, 12288U);
  EXPECT_EQ(t.model.sequence, 2048U);
  EXPECT_EQ(t.model.vocabulary, 51200U);
  EXPECT_EQ(t.global_batch, 1536U);
  EXPECT_EQ(t.micro_batch, 1U);
  EXPECT_EQ(t.parallel.tp, 8U);
  EXPECT_EQ(t.parallel.pp, 8U);
  EXPECT_EQ(t.parallel.dp, 16U);
  EXPECT_EQ(t.parallel.schedule, workloads::ScheduleKind::one_f_one_b);
  EXPECT_FALSE(t.parallel.sequence_parallel);
  EXPECT_EQ(t.precision, workloads::Precision::fp16);
  EXPECT_EQ(t.gradient_type, workloads::GradientType::fp32);
  EXPECT_EQ(t.recompute, workloads::Recompute::full);
  EXPECT_EQ(t.attention, workloads::Attention::unfused);
  EXPECT_EQ(t.mfu, workloads::FlopConvention::megatron);
}

void expect_llama(const std::string& name, std::uint32_t gpus, std::uint32_t dp, std::uint32_t batch, bool rails) {
  SCOPED_TRACE(name);
  const Scenario s = example(name);
  const auto& t = job(s);
  EXPECT_EQ(gpu_count(s.cluster), gpus);
  EXPECT_EQ(t.model.layers, 126U);
  EXPECT_EQ(t.model.sequence, 8192U);
  EXPECT_EQ(t.micro_batch, 1U);
  EXPECT_EQ(t.global_batch, batch);
  EXPECT_EQ(t.parallel.tp, 8U);
  EXPECT_EQ(t.parallel.pp, 16U);
  EXPECT_EQ(t.parallel.dp, dp);
  EXPECT_TRUE(t.parallel.sequence_parallel);
  EXPECT_TRUE(t.parallel.distributed_optimizer);
  EXPECT_EQ(t.attention, workloads::Attention::flash);
  EXPECT_EQ(t.precision, workloads::Precision::bf16);
  EXPECT_EQ(t.gradient_type, workloads::GradientType::fp32);
  EXPECT_EQ(t.recompute, workloads::Recompute::full);
  const auto& stages = t.parallel.layers_per_stage;
  ASSERT_EQ(stages.size(), 16U);
  EXPECT_EQ(stages.front(), 7U);
  EXPECT_EQ(stages.back(), 7U);
  EXPECT_EQ(std::count(stages.begin(), stages.end(), 8U), 14);
  const auto& clos = std::get<topology::Clos>(s.cluster.scale_out);
  if (rails) {
    EXPECT_EQ(clos.wiring, topology::Clos::Wiring::rail_optimized);
  } else {
    EXPECT_EQ(clos.tiers, 3U);
    EXPECT_EQ(clos.nodes_per_unit * clos.units_per_pod * s.cluster.gpus_per_node, 3072U);
    EXPECT_EQ(clos.spine_core.oversubscription, 7.0);
  }
}

TEST(Examples, Llama405bInFourWays) {
  expect_llama("llama3_405b_2048_h100", 2048, 16, 256, false);
  expect_llama("llama3_405b_2048_h100_rail", 2048, 16, 256, true);
  expect_llama("llama3_405b_16384_h100", 16384, 128, 2048, false);
  expect_llama("llama3_405b_16384_h100_rail", 16384, 128, 2048, true);
}

TEST(Examples, TheSmallOnes) {
  const Scenario ring = example("ring_8");
  const auto& c = std::get<workloads::CollectiveRunSpec>(ring.workload.job);
  EXPECT_EQ(gpu_count(ring.cluster), 8U);
  EXPECT_EQ(c.collective, workloads::CollectiveKind::all_reduce);
  EXPECT_EQ(c.algorithm, workloads::Algorithm::ring);
  const Scenario graph = example("custom_graph_5");
  EXPECT_EQ(std::get<topology::Custom>(graph.cluster.scale_out).devices.size(), 5U);
  const Scenario blocks = example("linear_blocks_two_level");
  EXPECT_EQ(std::get<workloads::LinearBlocksSpec>(blocks.workload.job).dp.size(), 2U);
  EXPECT_EQ(gpu_count(blocks.cluster), 128U);
}

TEST(Examples, AllLoadAndReadBackAsPrinted) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator{folder()}) {
    if (entry.path().extension() != ".yaml") continue;
    ++count;
    const Scenario s = load(entry.path());
    EXPECT_EQ(s.source_text, read_text(entry.path()));
    const std::string first = effective_yaml(load_text(effective_yaml(s), "e.yaml"));
    EXPECT_EQ(effective_yaml(load_text(first, "e.yaml")), first) << entry.path();
  }
  EXPECT_GE(count, 8U);
}

}  // namespace
}  // namespace traingraph::scenarios
