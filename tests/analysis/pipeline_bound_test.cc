// Bound 5 against simulations of linear_blocks: on a network that costs nothing it is the step, on one that does it is
// below.
#include "analysis/pipeline_bound.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "analysis/result.h"
#include "scenarios/run_scenario.h"
#include "scenarios/scenario.h"

namespace traingraph::analysis {
namespace {

struct Pipelined {
  std::string network = "1000000 GB/s";
  std::string schedule = "1f1b";
  std::uint32_t virtual_stages = 1;
  std::uint32_t microbatches = 8;
  bool defers = true;
};

/// Four stages of 8 blocks, one GPU each.
Result simulated(const Pipelined& p) {
  const std::string text = fmt::format(
      R"(
cluster:
  nodes: 4
  node: {{gpus: 1, nic: {{bandwidth: {}, latency: 0 us}}}}
  scale_out: {{kind: single_switch}}
hardware: h100_sxm
workload:
  {{kind: linear_blocks, hidden: 8192, ff: 32768, blocks: 32, batch_tokens: 32768, microbatches: {}, tp_ff: [1], tp_hidden: [1],
   pp: [4], dp: [1], schedule: {}, virtual_stages: {}, defer_weight_gradients: {}, steps: 1}}
)",
      p.network, p.microbatches, p.schedule, p.virtual_stages, p.defers);
  const scenarios::Scenario scenario = scenarios::load_text(text, "t.yaml");
  return scenarios::simulate_scenario(scenario, scenarios::prepare(scenario)).result;
}

const Bound& pipeline_of(const Result& result) {
  for (const Bound& b : result.bounds)
    if (b.name == "pipeline") return b;
  throw std::runtime_error{"no bound of the pipeline"};
}

std::vector<Pipelined> cases() {
  std::vector<Pipelined> all;
  for (const bool defers : {true, false}) {
    for (const std::uint32_t m : {4U, 12U}) {
      for (const std::uint32_t v : {1U, 2U, 8U}) all.push_back({.virtual_stages = v, .microbatches = m, .defers = defers});
      all.push_back({.schedule = "gpipe", .microbatches = m, .defers = defers});
    }
  }
  return all;
}

TEST(PipelineBound, IsTheStepWhenMessagesAreFree) {
  for (const Pipelined& p : cases()) {
    const Result result = simulated(p);
    const Bound& bound = pipeline_of(result);
    const double ratio = result.step_time / bound.value;
    EXPECT_GE(ratio, 1) << p.schedule << " x " << p.virtual_stages;
    EXPECT_LT(ratio, 1.001) << p.schedule << " x " << p.virtual_stages << " of " << p.microbatches << ", " << p.defers;
  }
}

TEST(PipelineBound, IsBelowTheStepWhenTheyAreNot) {
  for (Pipelined p : cases()) {
    p.network = "25 GB/s";
    const Result result = simulated(p);
    EXPECT_GT(result.step_time, pipeline_of(result).value) << p.schedule << " x " << p.virtual_stages;
  }
}

// Facts of a pipeline whose chunks are not equal: only the first of each stage is known. P = 2, F+B = 4, W = 1, first chunks
// of 1: stage 1 begins after 1 and has 4 + 1 per micro-batch, the last gradient's weights excepted.
TEST(PipelineBound, OfUnequalChunksKnowsTheFirst) {
  workloads::PipelineFacts p;
  p.stages = p.chunks = 2;
  p.microbatches = 4;
  p.schedule = "1f1b";
  p.forward.assign(2, sim::Duration::ms(1));
  p.backward.assign(2, sim::Duration::ms(3));
  p.after_hand_off.assign(2, sim::Duration::ms(1));
  p.first_chunk.assign(2, sim::Duration::ms(1));
  EXPECT_EQ(pipeline_bound(p)->time, sim::Duration::ms(4 * 4 + 4 * 1));
  p.first_chunk.assign(2, sim::Duration::ms(2));
  EXPECT_EQ(pipeline_bound(p)->time, sim::Duration::ms(2 + 4 * 4 + 3 * 1));
}

}  // namespace
}  // namespace traingraph::analysis
