// ZeRO and FSDP: bytes on every communicator, memory by the ZeRO paper's formulas, overlap from dependencies alone.
#include "workloads/sharding.h"

#include <gtest/gtest.h>

#include <map>

#include "workload_cases.h"
#include "workloads/kernel_time.h"
#include "workloads/memory.h"
#include "workloads/stage_shape.h"

namespace traingraph::workloads {
namespace {

using sim::TemplateId;
using test::build_step;
using test::error_of;
using test::network_use;

TransformerSpec step_of_stage(std::uint32_t zero_stage, std::uint32_t dp = 4, std::uint32_t microbatches = 3) {
  TransformerSpec s = test::step_of(test::tiny_gpt(), 1, 1, dp, 1, microbatches);
  s.model.tied_embeddings = false;
  s.parallel.zero_stage = zero_stage;
  if (zero_stage == 2) s.parallel.bucket_size = sim::Bytes{1e6};
  return s;
}

double parameters_of(const TransformerSpec& s) {
  const KernelModel model{test::round_gpu(), s.precision};
  return stage_parameters(LayerKernels{s, model}, stage_shapes(s)[0]).total();
}

std::map<std::string, double> memory_of(const TransformerSpec& s) {
  std::map<std::string, double> result;
  const KernelModel model{test::round_gpu(), s.precision};
  for (const MemoryTerm& t : memory_terms(s, LayerKernels{s, model}, stage_shapes(s)[0])) result[t.name] = t.bytes.count();
  return result;
}

// Rajbhandari et al. 2020, figure 1, K = 12: (2 + 2 + K)P, 2P + 2P + KP/N, 2P + (2+K)P/N, (2+2+K)P/N.
TEST(Sharding, MemoryOfTheZeroStages) {
  for (const double N : {4.0, 64.0}) {
    const double expected[] = {16, 4 + 12 / N, 2 + 14 / N, 16 / N};
    for (std::uint32_t stage = 0; stage <= 3; ++stage) {
      TransformerSpec s = step_of_stage(stage, static_cast<std::uint32_t>(N));
      s.gradient_type = GradientType::same_as_weights;
      auto terms = memory_of(s);
      const double states = terms["parameters"] + terms["gradients"] + terms["optimizer states"];
      EXPECT_NEAR(states / parameters_of(s), expected[stage], 1e-12) << stage;
    }
  }
}

// What is whole for a while: the embedding (1024 + 128 positions of 256) and a layer with one layer prefetched, all without
// resharding; gradients of one unit, or one bucket.
TEST(Sharding, MemoryOfWhatIsGathered) {
  TransformerSpec s = step_of_stage(3);
  const double layer = 12.0 * 256 * 256 + 13 * 256;
  auto terms = memory_of(s);
  EXPECT_EQ(terms["gathered parameters"], 2 * 2 * layer);
  EXPECT_EQ(terms["gradient buckets"], 4 * layer);
  s.parallel.prefetch_layers = 2;
  EXPECT_EQ(memory_of(s)["gathered parameters"], 2 * 3 * layer);
  s.parallel.reshard_after_forward = false;
  EXPECT_EQ(memory_of(s)["gathered parameters"], 2 * parameters_of(s));
  s = step_of_stage(2);
  EXPECT_EQ(memory_of(s)["gradient buckets"], 1e6);
  s.parallel.gradient_reduction = GradientReduction::step;
  EXPECT_EQ(memory_of(s)["gradients"], 4 * parameters_of(s));
  EXPECT_EQ(memory_of(s).count("gradient buckets"), 0U);
}

// Bytes of one step with 3 micro-batches, P parameters: gradients in fp32, parameters in fp16. ZeRO paper, section 7: stages
// 1 and 2 move what an all-reduce does (for each reduction), stage 3 half as much again.
TEST(Sharding, BytesOfTheZeroStages) {
  const double P = parameters_of(step_of_stage(0));
  const auto use = [](std::uint32_t stage, auto&& change) {
    TransformerSpec s = step_of_stage(stage);
    change(s);
    const Workload w = build_step(s);
    w.program.check();
    return network_use(w.program, TemplateId{0});
  };
  const auto as_is = [](TransformerSpec&) {};
  const auto by_step = [](TransformerSpec& s) { s.parallel.gradient_reduction = GradientReduction::step; };
  const auto by_microbatch = [](TransformerSpec& s) { s.parallel.gradient_reduction = GradientReduction::microbatch; };
  const auto whole = [](TransformerSpec& s) { s.parallel.reshard_after_forward = false; };
  EXPECT_EQ(use(0, as_is)["gradient_all_reduce"].bytes, 4 * P);
  EXPECT_EQ(use(0, by_microbatch)["gradient_all_reduce"].bytes, 3 * 4 * P);
  EXPECT_EQ(use(1, as_is)["gradient_reduce_scatter"].bytes, 4 * P);
  EXPECT_EQ(use(1, as_is)["parameter_all_gather"].bytes, 2 * P);
  EXPECT_EQ(use(2, as_is)["gradient_reduce_scatter"].bytes, 3 * 4 * P);
  EXPECT_EQ(use(2, by_step)["gradient_reduce_scatter"].bytes, 4 * P);
  EXPECT_EQ(use(2, as_is)["parameter_all_gather"].bytes, 2 * P);
  EXPECT_EQ(use(3, as_is)["gradient_reduce_scatter"].bytes, 3 * 4 * P);
  EXPECT_EQ(use(3, by_step)["gradient_reduce_scatter"].bytes, 4 * P);
  EXPECT_EQ(use(3, as_is)["parameter_all_gather"].bytes, 2 * 3 * 2 * P);
  EXPECT_EQ(use(3, whole)["parameter_all_gather"].bytes, 3 * 2 * P);
  EXPECT_EQ(use(3, as_is)["parameter_all_gather"].count, 2U * 3 * 10);  // embedding, 8 layers, head
  EXPECT_EQ(use(3, as_is)["gradient_reduce_scatter"].count, 3U * 10);
}

// distributed_optimizer is stage 1: the same program.
TEST(Sharding, StageOneIsTheDistributedOptimizer) {
  TransformerSpec s = step_of_stage(1);
  const auto time = [&] { return test::run_free(build_step(s, 3).program).step_time(); };
  const sim::Duration one = time();
  s.parallel.zero_stage = 0;
  s.parallel.distributed_optimizer = true;
  EXPECT_EQ(time(), one);
}

// Parameters that stay whole after forward are not gathered for the micro-batches in flight: on the first of 2 stages 1F1B
// runs F0 F1 B0 F2 B1 B2, and backward reshards: gathered for F0, F2 and B2.
TEST(Sharding, WhatIsWholeIsNotGatheredAgain) {
  TransformerSpec s = test::step_of(test::tiny_gpt(), 1, 2, 2, 1, 3);
  s.parallel.zero_stage = 3;
  s.parallel.reshard_after_forward = false;
  EXPECT_EQ(network_use(build_step(s).program, TemplateId{0})["parameter_all_gather"].count, 3U * 5);
  s.parallel.reshard_after_forward = true;
  EXPECT_EQ(network_use(build_step(s).program, TemplateId{0})["parameter_all_gather"].count, 6U * 5);
}

// HSDP on 8 ranks, 4 to a copy: shards of consecutive ranks, replicas across; the shards' all-reduce is a quarter.
TEST(Sharding, HybridShardsInsideAndReplicatesOutside) {
  for (const std::uint32_t stage : {1U, 2U, 3U}) {
    TransformerSpec s = step_of_stage(stage, 8);
    s.parallel.shard_group = 4;
    const Workload w = build_step(s, 2);
    w.program.check();
    std::map<std::string, std::vector<std::uint32_t>> groups;
    for (const auto& c : w.program.communicators) {
      for (const sim::RankId r : c.members) groups[c.name].push_back(index(r));
    }
    EXPECT_EQ(groups["shard[1]"], (std::vector<std::uint32_t>{4, 5, 6, 7}));
    EXPECT_EQ(groups["replicas[2]"], (std::vector<std::uint32_t>{2, 6}));
    EXPECT_EQ(groups["norm[0]"].size(), 4U);
    auto use = network_use(w.program, TemplateId{0});
    EXPECT_EQ(use["gradient_shard_all_reduce"].bytes, use["gradient_reduce_scatter"].bytes / 4);
    EXPECT_EQ(memory_of(s)["optimizer states"], 12 * parameters_of(s) / 4);
    EXPECT_GT(test::run_free(w.program).step_time(), sim::Duration{});
  }
}

// On a free fabric nothing but the kernels is left, whatever is sharded: every gather and reduction is beside or between
// them.
TEST(Sharding, OnAFreeFabricOnlyKernelsRemain) {
  for (std::uint32_t stage = 0; stage <= 3; ++stage) {
    for (const bool overlap : {false, true}) {
      TransformerSpec s = step_of_stage(stage);
      s.parallel.overlap_grad_reduce = overlap;
      const Workload w = build_step(s, 3);
      EXPECT_EQ(test::run_free(w.program).step_time(), w.roles[TemplateId{0}].kernels) << stage;
    }
  }
}

// The earlier a layer is gathered, the less it is waited for, until nothing is left to hide; reductions beside backward cost
// less than those that backward waits for.
TEST(Sharding, OverlapFollowsFromDependencies) {
  TransformerSpec s = step_of_stage(3, 8);
  s.micro_batch = 16;
  s.global_batch *= 16;
  const auto time = [&](double bytes_per_s) {
    const test::StarRouter star{8, bytes_per_s, sim::Duration::us(1)};
    return sim::simulate(star.links(), star, build_step(s, 2).program, {}).step_time();
  };
  s.parallel.prefetch_layers = 0;
  const sim::Duration exposed = time(50e9);
  s.parallel.prefetch_layers = 1;
  const sim::Duration prefetched = time(50e9);
  EXPECT_LT(prefetched, exposed);
  s.parallel.overlap_grad_reduce = true;
  const sim::Duration overlapped = time(50e9);
  EXPECT_LT(overlapped, prefetched);
  const sim::Duration twice = time(2e9);
  s.parallel.reshard_after_forward = false;
  EXPECT_LT(time(2e9), twice);
}

// Without prefetching, every gather stands between two units: the step is kernels plus all collectives, each alone. 2 ranks
// on a star: a ring all-gather or reduce-scatter of S bytes takes S/2 over the port, and two link latencies.
TEST(Sharding, WithoutPrefetchEverythingIsExposed) {
  TransformerSpec s = step_of_stage(3, 2, 1);
  s.parallel.prefetch_layers = 0;
  const Workload w = build_step(s, 1);
  const double bandwidth = 10e9;
  const test::StarRouter star{2, bandwidth, sim::Duration::us(1)};
  const double time = sim::simulate(star.links(), star, w.program, {}).step_time().in_seconds();
  auto use = network_use(w.program, TemplateId{0});
  double expected = w.roles[TemplateId{0}].kernels.in_seconds() + 2 * 2e-6;  // the norm's tree: up and down
  for (const char* name : {"parameter_all_gather", "gradient_reduce_scatter"}) {
    expected += use[name].bytes / 2 / bandwidth + use[name].count * 2e-6;
  }
  EXPECT_NEAR(time / expected, 1, 0.01);
}

TEST(Sharding, WhatHasNoEffectIsRefused) {
  const auto message = [](std::uint32_t stage, auto&& change) {
    TransformerSpec s = step_of_stage(stage);
    change(s.parallel);
    return error_of([&] { return build_step(s); });
  };
  EXPECT_EQ(message(4, [](auto&) {}), "zero_stage is 4; allowed: 0 to 3");
  EXPECT_EQ(message(2, [](auto& p) { p.distributed_optimizer = true; }),
            "zero_stage and distributed_optimizer (ZeRO stage 1) are both set; leave one out");
  EXPECT_EQ(message(2, [](auto& p) { p.bucket_size.reset(); }),
            "zero_stage 2 needs bucket_size: with one bucket for all, gradients would not be sharded");
  EXPECT_EQ(message(0, [](auto& p) { p.shard_group = 2; }),
            "shard_group needs zero_stage 1, 2 or 3: otherwise nothing is sharded");
  EXPECT_EQ(message(1, [](auto& p) { p.shard_group = 3; }), "shard_group is 3; allowed: a divisor of dp 4, more than 1");
  EXPECT_EQ(message(1, [](auto& p) { p.reshard_after_forward = false; }),
            "reshard_after_forward needs zero_stage 3: otherwise parameters are never sharded");
  EXPECT_EQ(message(1, [](auto& p) { p.prefetch_layers = 2; }),
            "prefetch_layers needs zero_stage 3: otherwise parameters are not gathered layer by layer");
  EXPECT_EQ(
      message(3, [](auto& p) { p.overlap_param_gather = true; }),
      "overlap_param_gather has no effect with zero_stage 3, which gathers each layer; prefetch_layers says how early");
  EXPECT_EQ(message(3, [](auto& p) { p.bucket_size = sim::Bytes{1e6}; }),
            "bucket_size has no effect with zero_stage 3, which reduces layer by layer; leave it out");
}

}  // namespace
}  // namespace traingraph::workloads
