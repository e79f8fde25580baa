// The closed-form step model on a scenario: what it sees of a cluster, what it makes of a layout, and how it stands to the
// simulation of the workload that it was made for.
#include "analysis/theory/scenario_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/bound_report.h"
#include "analysis/theory/two_level_network.h"
#include "scenarios/run_scenario.h"

namespace traingraph::analysis::theory {
namespace {

using ::testing::HasSubstr;

scenarios::Scenario example(const std::string& name, const std::vector<std::string>& overrides = {}) {
  return scenarios::load(std::string{TRAINGRAPH_SOURCE_DIR} + "/scenarios/examples/" + name + ".yaml", overrides);
}

ScenarioStepAnswer answer(const scenarios::Scenario& s, std::uint64_t ranks) {
  return scenario_step(s.cluster, s.hardware, s.workload, ranks);
}

TEST(TwoLevelNetwork, ADgxIsSeenWithBothDirectionsOfItsPorts) {
  const TwoLevelNetwork network = two_level_network(example("linear_blocks_two_level").cluster);
  ASSERT_EQ(network.levels.size(), 2U);
  EXPECT_EQ(network.levels[0].bytes_per_s, 2 * 370.8e9);  // what NCCL counts on
  EXPECT_EQ(network.levels[0].fan_out, 8);
  EXPECT_EQ(network.levels[1].bytes_per_s, 2 * 50e9);
}

TEST(TwoLevelNetwork, GpusThatShareANicShareItsBandwidth) {
  topology::ClusterSpec cluster = example("linear_blocks_two_level").cluster;
  cluster.nic.per_node = 4;
  EXPECT_EQ(two_level_network(cluster).levels[1].bytes_per_s, 2 * 25e9);
}

TEST(TwoLevelNetwork, ATorusIsNot) {
  EXPECT_THAT(two_level_network(scenarios::load_cluster_preset("tpu_v4_pod")).why_not, HasSubstr("switches and NICs"));
}

// The layout of the example: TP 8 inside the node, 2 beyond it, PP 4, DP 2, 16 microbatches.
TEST(ScenarioStep, LinearBlocksAreTakenAsTheyAre) {
  const ScenarioStepAnswer a = answer(example("linear_blocks_two_level"), 128);
  ASSERT_TRUE(a.step.has_value()) << a.why_not;
  const Degrees& d = a.step->degrees;
  EXPECT_EQ(d.levels[kTensorHidden][0], 8);
  EXPECT_EQ(d.levels[kTensorModel][1], 2);
  EXPECT_EQ(d.total(kPipeline), 4);
  EXPECT_EQ(d.total(kData), 2);
  EXPECT_EQ(d.gpus(), 128);
  EXPECT_EQ(d.microbatches, 16);
  // 6 x 2 x 16384 x 81920 x 16 blocks x 2^20 tokens over the sustained rate of 128 GPUs
  const double flop = 6 * 2.0 * 16384 * 81920 * 16 * 1048576;
  EXPECT_NEAR(a.step->hidden.ideal_s, flop / 128 / a.step->gpu.sustained_flop_per_s(), 1e-9);
}

// The simulation of that workload on that fabric lies between hiding all communication and hiding none.
TEST(ScenarioStep, TheSimulationLiesBetweenAllHiddenAndAllExposed) {
  const scenarios::Scenario s = example("linear_blocks_two_level");
  const scenarios::Prepared prepared = scenarios::prepare(s);
  const double simulated = scenarios::simulate_scenario(s, prepared).result.step_time / sim::Duration::seconds(1);
  const ScenarioStepAnswer a = answer(s, 128);
  ASSERT_TRUE(a.step.has_value());
  EXPECT_LE(a.step->hidden.step_s, simulated);
  EXPECT_GE(a.step->exposed.step_s, simulated);
  EXPECT_LT(a.step->exposed.step_s, 1.2 * simulated);
}

// GPT-3 175B: layers of 12 h^2 weights and some, so ff is 6 h; TP inside the node, 96 microbatches.
TEST(ScenarioStep, ATransformerIsSeenAsBlocksOfItsWeights) {
  const ScenarioStepAnswer a = answer(example("gpt3_175b_1024_a100"), 1024);
  ASSERT_TRUE(a.step.has_value()) << a.why_not;
  EXPECT_EQ(a.step->degrees.levels[kTensorHidden][0], 8);
  EXPECT_EQ(a.step->degrees.levels[kData][1], 16);
  EXPECT_EQ(a.step->degrees.levels[kPipeline][1], 8);
  EXPECT_EQ(a.step->degrees.microbatches, 96);
  const double flop = 6 * 12 * 12288.0 * 12288 * 96 * 1536 * 2048;
  EXPECT_NEAR(a.step->hidden.ideal_s * 1024 * a.step->gpu.sustained_flop_per_s() / flop, 1, 1e-3);
}

TEST(ScenarioStep, WhatTheModelDoesNotKnowIsSaid) {
  EXPECT_EQ(answer(example("ring_8"), 8).why_not, "the model knows training steps only");
  scenarios::Scenario s = example("linear_blocks_two_level");
  s.hardware.matmul.reset();
  EXPECT_THAT(answer(s, 128).why_not, HasSubstr("has no matmul section"));
  EXPECT_THAT(answer(example("gpt3_175b_1024_a100"), 2048).why_not, HasSubstr("1024 of the 2048 ranks"));
  s = example("linear_blocks_two_level");
  s.cluster.scale_out = topology::NoScaleOut{};
  EXPECT_THAT(answer(s, 128).why_not, HasSubstr("2 network levels"));
}

Bound bound(const std::string& name, double seconds, bool reported = true) {
  Bound b;
  b.name = name;
  b.value = sim::Duration::seconds(seconds);
  b.of_reported_step = reported;
  return b;
}

// 4 s, 2 s, 1.6 s: the first may become 2 times faster before the second binds, that one 1.25 times.
TEST(BoundReport, BoundsStandInOrderWithTheRoomBetweenThem) {
  const BoundReport report = bound_report(
      {bound("link", 1.6), bound("pipeline", 9, false), bound("chain", 4), bound("arithmetic", 2)}, {{}, "none"});
  ASSERT_EQ(report.bounds.size(), 4U);
  EXPECT_EQ(report.bounds[0].name, "chain");
  EXPECT_EQ(report.bounds[0].headroom, 2);
  EXPECT_EQ(report.bounds[1].name, "arithmetic");
  EXPECT_EQ(report.bounds[1].headroom, 1.25);
  EXPECT_EQ(report.bounds[2].name, "link");
  EXPECT_EQ(report.bounds[2].headroom, 0);
  EXPECT_EQ(report.bounds[3].name, "pipeline");  // speaks of the first step only
  EXPECT_THAT(to_text(report), HasSubstr("2x, then arithmetic"));
  EXPECT_THAT(to_text(report), HasSubstr("none: none"));
}

// No bound is above what the simulation of the same scenario takes, and the largest is the result's own.
TEST(BoundReport, IsBelowTheSimulation) {
  const scenarios::Scenario s = example("linear_blocks_two_level");
  const scenarios::Prepared prepared = scenarios::prepare(s);
  const Result result = scenarios::simulate_scenario(s, prepared).result;
  const BoundReport report = scenarios::bounds_of(s, prepared);
  EXPECT_EQ(report.bounds.front().seconds, result.lower_bound / sim::Duration::seconds(1));
  EXPECT_THAT(result.binding_bound, ::testing::StartsWith(report.bounds.front().name));
  EXPECT_LE(report.bounds.front().seconds, result.step_time / sim::Duration::seconds(1));
}

}  // namespace
}  // namespace traingraph::analysis::theory
