// Context parallelism: bytes by formula, arithmetic conserved, overlap of the ring from dependencies alone.
#include <gtest/gtest.h>

#include <map>

#include "workload_cases.h"
#include "workloads/kernel_time.h"
#include "workloads/memory.h"

namespace traingraph::workloads {
namespace {

using sim::TemplateId;
using test::error_of;
using test::network_use;

constexpr ContextParallelKind kKinds[] = {ContextParallelKind::ring, ContextParallelKind::all_gather,
                                          ContextParallelKind::ulysses};

/// The tiny GPT with 4 key/value heads of 8, sequences of 128.
TransformerSpec step_of(std::uint32_t tp, std::uint32_t cp, std::uint32_t dp, ContextParallelKind kind) {
  TransformerSpec s = test::step_of(test::tiny_gpt(), tp, 1, dp, 2, 3);
  s.model.kv_heads = 4;
  s.attention = Attention::flash;
  s.parallel.cp = cp;
  s.parallel.cp_attention = kind;
  return s;
}

Workload build_step(const TransformerSpec& s, std::uint32_t steps = 1) {
  const ParallelSpec& p = s.parallel;
  return build(test::workload_of(s, steps), test::round_gpu(), regular_cluster(p.tp * p.cp * p.pp * p.dp, 8));
}

// Per layer and micro-batch, n = 2·128/4 tokens of a rank, kv = 2·n·G·d elements of 2 bytes. Ring: c-1 hops forward, and
// twice that backward; the model's other collectives stay as they are.
TEST(ContextParallel, Bytes) {
  const double calls = 8 * 3, n = 2 * 128 / 4.0, d = 32;
  const double kv = 2 * n * 4 * d * 2, q = n * 8 * d * 2;
  auto use = network_use(build_step(step_of(1, 4, 2, ContextParallelKind::ring)).program, TemplateId{0});
  EXPECT_EQ(use["attention_ring"].bytes, calls * 3 * kv);
  EXPECT_EQ(use["attention_backward_ring"].bytes, calls * 2 * 3 * kv);
  use = network_use(build_step(step_of(1, 4, 2, ContextParallelKind::all_gather)).program, TemplateId{0});
  EXPECT_EQ(use["attention_kv_all_gather"].bytes, calls * 4 * kv);
  EXPECT_EQ(use["attention_backward_kv_all_gather"].bytes, calls * 4 * kv);
  EXPECT_EQ(use["attention_kv_gradient_reduce_scatter"].bytes, calls * 4 * kv);
  use = network_use(build_step(step_of(1, 4, 2, ContextParallelKind::ulysses)).program, TemplateId{0});
  EXPECT_EQ(use["attention_scatter_heads"].bytes, calls * (q + kv));
  EXPECT_EQ(use["attention_gather_heads"].bytes, calls * q);
  EXPECT_EQ(use["attention_backward_scatter_heads"].bytes, calls * q);
  EXPECT_EQ(use["attention_backward_gather_heads"].bytes, calls * (q + kv));
}

// All ranks together execute what one rank without context parallelism does, causal or not: zig-zag order halves each block.
TEST(ContextParallel, ArithmeticIsConserved) {
  for (const bool causal : {false, true}) {
    for (const ContextParallelKind kind : kKinds) {
      TransformerSpec s = step_of(2, 1, 1, ContextParallelKind::ring);
      s.model.causal = causal;
      const double alone = build_step(s).roles[TemplateId{0}].flop.count();
      s.parallel.cp_attention = kind;
      s.parallel.cp = 2;
      EXPECT_NEAR(2 * build_step(s).roles[TemplateId{0}].flop.count() / alone, 1, 1e-12) << name_of(kind);
    }
  }
}

// Groups: cp inside dp; gradients are reduced over both, whole on every context-parallel rank.
TEST(ContextParallel, GradientsAreReducedOverAllReplicas) {
  TransformerSpec s = step_of(2, 2, 2, ContextParallelKind::ring);
  s.parallel.zero_stage = 1;
  const Workload w = build_step(s, 2);
  w.program.check();
  std::map<std::string, std::vector<std::uint32_t>> groups;
  for (const auto& c : w.program.communicators) {
    for (const sim::RankId r : c.members) groups[c.name].push_back(index(r));
  }
  EXPECT_EQ(groups["cp[0]"], (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(groups["dp[1]"], (std::vector<std::uint32_t>{1, 3, 5, 7}));
  EXPECT_EQ(groups["norm[0]"].size(), 8U);
  TransformerSpec alone = s;
  alone.parallel.cp = 1;
  EXPECT_EQ(network_use(w.program, TemplateId{0})["gradient_reduce_scatter"].bytes,
            network_use(build_step(alone).program, TemplateId{0})["gradient_reduce_scatter"].bytes);
  EXPECT_EQ(w.coordinates[sim::RankId{6}].cp, 1U);
  EXPECT_EQ(w.coordinates[sim::RankId{6}].dp, 1U);
}

TEST(ContextParallel, ActivationsAreDivided) {
  TransformerSpec s = step_of(1, 1, 1, ContextParallelKind::ring);
  const double whole = stored_activations(s).count();
  s.parallel.cp = 4;
  EXPECT_EQ(stored_activations(s).count(), whole / 4);
}

// The ring hides behind the blocks where they take longer than a hop; the gathered variant waits for its all-gather.
TEST(ContextParallel, TheRingHidesBehindItsBlocks) {
  const auto time = [](ContextParallelKind kind, double bytes_per_s) {
    TransformerSpec s = step_of(1, 4, 1, kind);
    s.model.sequence = 4096;
    const test::StarRouter star{4, bytes_per_s, sim::Duration::ns(10)};
    const Workload w = build_step(s, 1);
    return sim::simulate(star.links(), star, w.program, {}).step_time() - test::run_free(w.program).step_time();
  };
  const double fast = 100e9;
  EXPECT_LT(time(ContextParallelKind::ring, fast).in_seconds(),
            0.35 * time(ContextParallelKind::all_gather, fast).in_seconds());
}

TEST(ContextParallel, GoesWithExpertsAndSharding) {
  for (const ContextParallelKind kind : kKinds) {
    for (const std::uint32_t zero : {0U, 1U, 3U}) {
      TransformerSpec s = step_of(1, 2, 2, kind);
      s.parallel.zero_stage = zero;
      EXPECT_GT(test::run_free(build_step(s, 2).program).step_time(), sim::Duration{});
      if (zero == 3) continue;
      s.model.moe = {.experts = 4, .experts_per_token = 2, .ffn = 512};
      s.parallel.ep = 2;
      const Workload w = build_step(s, 2);
      w.program.check();
      EXPECT_GT(test::run_free(w.program).step_time(), sim::Duration{});
    }
  }
}

TEST(ContextParallel, WhatDoesNotFitIsNamed) {
  const auto message = [](auto&& change) {
    TransformerSpec s = step_of(1, 4, 1, ContextParallelKind::ring);
    change(s);
    return error_of([&] { return build_step(s); });
  };
  EXPECT_EQ(message([](auto&) {}), "");
  EXPECT_EQ(message([](auto& s) { s.attention = Attention::unfused; }), "cp needs fused attention: flash or cudnn");
  EXPECT_EQ(message([](auto& s) { s.model.sequence = 132; }), "cp 4 x 2 (zig-zag) does not divide the sequence of 132");
  EXPECT_EQ(message([](auto& s) {
              s.parallel.cp_attention = ContextParallelKind::ulysses;
              s.model.kv_heads = 2;
            }),
            "cp_attention ulysses needs heads (8) and key/value heads (2) that tp x cp = 4 divides");
  EXPECT_EQ(message([](auto& s) {
              s.parallel.cp = 1;
              s.parallel.cp_attention = ContextParallelKind::ulysses;
            }),
            "cp_attention needs cp above 1");
}

}  // namespace
}  // namespace traingraph::workloads
