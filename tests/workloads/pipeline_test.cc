// Pipelines played by the engine on a fabric that costs nothing: what is left is the bubble, whose closed forms are known.
#include <gtest/gtest.h>

#include <algorithm>

#include "workload_cases.h"

namespace traingraph::workloads {
namespace {

using sim::Duration;
using test::build_step;
using test::run_free;
using test::step_of;

Workload pipeline_of(ScheduleKind schedule, std::uint32_t stages, std::uint32_t microbatches) {
  TransformerSpec s = step_of(test::tiny_gpt(), 1, stages, 1, 1, microbatches);
  s.parallel.schedule = schedule;
  return build_step(s);
}

Duration forward_of(const Workload& w, std::uint32_t stage) { return w.pipeline.forward[stage]; }
Duration backward_of(const Workload& w, std::uint32_t stage) { return w.pipeline.backward[stage]; }

// Time from zero to the end of the last backward on stage 0, from the schedule alone: a max-plus program over the passes,
// written without the engine. Stage s may run its next pass when it is free and its input is there.
Duration pipeline_span(const Workload& w, ScheduleKind kind) {
  const std::uint32_t P = w.pipeline.stages;
  const std::uint32_t M = w.pipeline.microbatches;
  std::vector<std::vector<Duration>> forward_end(P, std::vector<Duration>(M));
  std::vector<std::vector<Duration>> backward_end(P, std::vector<Duration>(M));
  std::vector<std::vector<std::pair<bool, std::uint32_t>>> order(P);
  for (std::uint32_t s = 0; s < P; ++s) {
    const std::uint32_t ahead = kind == ScheduleKind::gpipe ? M : std::min(M, P - s);
    std::uint32_t f = 0;
    for (; f < ahead; ++f) order[s].push_back({true, f});
    for (std::uint32_t b = 0; b < M; ++b) {
      order[s].push_back({false, b});
      if (f < M) order[s].push_back({true, f++});
    }
  }
  std::vector<std::size_t> next(P, 0);
  std::vector<Duration> free(P);
  std::vector<std::vector<int>> done(2, std::vector<int>(P * M, 0));
  for (bool moved = true; moved;) {
    moved = false;
    for (std::uint32_t s = 0; s < P; ++s) {
      while (next[s] < order[s].size()) {
        const auto [forward, m] = order[s][next[s]];
        Duration ready = free[s];
        if (forward && s > 0) {
          if (done[0][(s - 1) * M + m] == 0) break;
          ready = std::max(ready, forward_end[s - 1][m]);
        }
        if (!forward && s + 1 < P) {
          if (done[1][(s + 1) * M + m] == 0) break;
          ready = std::max(ready, backward_end[s + 1][m]);
        }
        free[s] = ready + (forward ? forward_of(w, s) : backward_of(w, s));
        (forward ? forward_end : backward_end)[s][m] = free[s];
        done[forward ? 0 : 1][s * M + m] = 1;
        ++next[s];
        moved = true;
      }
    }
  }
  for (std::uint32_t s = 0; s < P; ++s) EXPECT_EQ(next[s], order[s].size()) << "the reference got stuck";
  return *std::max_element(free.begin(), free.end());
}

Duration longest_optimizer(const Workload& w) {
  Duration most;
  for (std::uint32_t s = 0; s < w.pipeline.stages; ++s) {
    const Duration passes = (forward_of(w, s) + backward_of(w, s)) * w.pipeline.microbatches;
    most = std::max(most, w.roles[sim::TemplateId{s}].kernels - passes);
  }
  return most;
}

// Unequal stages (the first has the embedding, the last the head) against the independent program above. After the last pass
// come the norm kernel, a reduction over all stages, and the update: the gap is at most the longest stage's optimizer.
TEST(Pipeline, StepTimeIsTheScheduleAlone) {
  for (const ScheduleKind kind : {ScheduleKind::one_f_one_b, ScheduleKind::gpipe}) {
    for (const std::uint32_t stages : {1U, 2U, 4U, 8U}) {
      for (const std::uint32_t microbatches : {1U, 3U, 8U, 20U}) {
        const Workload w = pipeline_of(kind, stages, microbatches);
        const sim::Record record = run_free(w.program);
        const Duration span = pipeline_span(w, kind);
        EXPECT_GE(record.step_time(), span) << stages << " stages, " << microbatches << " micro-batches";
        EXPECT_LE(record.step_time(), span + longest_optimizer(w) * 2) << stages << " stages, " << microbatches;
      }
    }
  }
}

// linear_blocks has equal stages by construction: T = (M + P - 1)(F + B) for 1F1B and GPipe, M(F + B) + (P-1)(F + B)/v
// interleaved.
LinearBlocksSpec blocks_of(std::uint32_t stages, std::uint32_t microbatches, std::uint32_t chunks) {
  LinearBlocksSpec s;
  s.hidden = 1000.5;
  s.ff = 4002;
  s.blocks = 8;
  s.batch_tokens = 1024.0 * microbatches;
  s.microbatches = microbatches;
  s.pp = {stages};
  s.virtual_stages = chunks;
  s.defer_weight_gradients = false;
  return s;
}

HardwareSpec paper_gpu() {
  HardwareSpec h = test::round_gpu();
  h.matmul = MatmulSpec{.word_bytes = 2,
                        .flop_per_clock_per_sm = 1000,
                        .sms = 100,
                        .clock_hz = 1e9,
                        .sustained_clock_fraction = 1,
                        .register_block = sim::Bytes{65536},
                        .l2_size = sim::Bytes{5e7},
                        .l2_bandwidth = sim::Bandwidth::bytes_per_s(1e15),
                        .memory_bandwidth = sim::Bandwidth::bytes_per_s(1e15),
                        .memory_size = sim::Bytes{80e9},
                        .distributed_shared_memory = true,
                        .matmul_latency_s = 4.5e-6};
  return h;
}

Workload build_blocks(const LinearBlocksSpec& s, std::uint32_t gpus, std::uint32_t steps = 1) {
  WorkloadSpec w;
  w.job = s;
  w.steps = steps;
  return build(w, paper_gpu(), regular_cluster(gpus, 8));
}

TEST(Pipeline, BubbleOfOneForwardOneBackwardAndGPipe) {
  for (const ScheduleKind kind : {ScheduleKind::one_f_one_b, ScheduleKind::gpipe}) {
    for (const std::uint32_t stages : {1U, 2U, 4U, 8U}) {
      for (const std::uint32_t microbatches : {1U, 3U, 8U, 16U}) {
        LinearBlocksSpec s = blocks_of(stages, microbatches, 1);
        s.schedule = kind;
        const Workload w = build_blocks(s, stages);
        const Duration both = forward_of(w, 0) + backward_of(w, 0);
        EXPECT_EQ(run_free(w.program).step_time(), both * (microbatches + stages - 1)) << stages << " " << microbatches;
      }
    }
  }
}

TEST(Pipeline, BubbleOfTheInterleavedScheduleIsDividedByTheChunks) {
  for (const std::uint32_t stages : {2U, 4U}) {
    for (const std::uint32_t chunks : {2U, 8U / stages}) {
      for (const std::uint32_t rounds : {1U, 2U, 4U}) {
        const std::uint32_t microbatches = stages * rounds;
        const Workload w = build_blocks(blocks_of(stages, microbatches, chunks), stages);
        const Duration both = forward_of(w, 0) + backward_of(w, 0);
        EXPECT_EQ(run_free(w.program).step_time().count_ps() * chunks,
                  both.count_ps() * (microbatches * chunks + stages - 1))
            << stages << " stages, " << chunks << " chunks, " << microbatches << " micro-batches";
      }
    }
  }
}

// Deferred weight gradients: a stage hands its gradient on before its last weight gradient W, so that each of the P - 1
// hand-overs of the drain comes W earlier.
TEST(Pipeline, DeferredWeightGradientsShortenTheBubble) {
  LinearBlocksSpec s = blocks_of(4, 8, 1);
  const Duration plain = run_free(build_blocks(s, 4).program).step_time();
  s.defer_weight_gradients = true;
  const Workload w = build_blocks(s, 4);
  EXPECT_GT(w.pipeline.after_hand_off[0], Duration{});
  EXPECT_EQ(run_free(w.program).step_time(), plain - w.pipeline.after_hand_off[0] * 3);
}

// The bubble is charged to `bubble`: (P-1)(F+B) on every stage of a cold step, and nothing is charged to waiting for the
// wire.
TEST(Pipeline, BubbleTimeIsChargedToBubble) {
  TransformerSpec s = step_of(test::tiny_gpt(), 1, 4, 1, 1, 8);
  const Workload w = build_step(s, 3);
  const sim::Record record = run_free(w.program);
  for (std::uint32_t r = 0; r < 4; ++r) {
    const auto& split = record.splits[sim::RankId{r}].by_category;
    Duration sum;
    for (const Duration d : split) sum += d;
    EXPECT_EQ(sum, record.step_time());
    EXPECT_GT(split[static_cast<std::size_t>(TimeCategory::bubble)], Duration{}) << r;
    EXPECT_EQ(split[static_cast<std::size_t>(TimeCategory::wait)], Duration{}) << r;
    EXPECT_EQ(split[static_cast<std::size_t>(TimeCategory::exposed_tp)], Duration{}) << r;
    // Kernels of the rank are all there: step time = kernels + bubble + idle.
    const Duration kernels = split[static_cast<std::size_t>(TimeCategory::compute)] +
                             split[static_cast<std::size_t>(TimeCategory::memory_bound)] +
                             split[static_cast<std::size_t>(TimeCategory::optimizer)];
    EXPECT_EQ(kernels, w.roles[sim::TemplateId{r}].kernels);
  }
}

// Llama-like uneven stages, 14 layers as 3, 4, 4, 3: the ends carry embedding and head, and the kernels per stage say so.
TEST(Pipeline, UnevenStages) {
  ModelSpec m = test::tiny_gpt();
  m.layers = 14;
  TransformerSpec s = step_of(m, 1, 4, 1, 1, 8);
  s.parallel.layers_per_stage = {3, 4, 4, 3};
  const Workload w = build_step(s);
  EXPECT_EQ(forward_of(w, 1), forward_of(w, 2));
  EXPECT_GE(run_free(w.program).step_time(), pipeline_span(w, ScheduleKind::one_f_one_b));
  std::vector<std::int32_t> seen;  // layers of the operations of stage 3
  for (const sim::Op& op : w.program.templates[sim::TemplateId{3}].ops) {
    if (op.layer >= 0) seen.push_back(op.layer);
  }
  EXPECT_EQ(*std::min_element(seen.begin(), seen.end()), 11);
  EXPECT_EQ(*std::max_element(seen.begin(), seen.end()), 13);
}

// A straggler of factor 2 on one GPU of a lone rank doubles the step.
TEST(Pipeline, AStragglerTakesItsFactor) {
  WorkloadSpec spec = test::workload_of(step_of(test::tiny_gpt(), 1, 1, 1, 1, 2));
  const auto time = [&] { return run_free(build(spec, test::round_gpu(), regular_cluster(1, 8)).program).step_time(); };
  const Duration alone = time();
  spec.slow_gpus = {{.gpu = 0, .factor = 2}};
  EXPECT_EQ(time(), alone * 2);
}

// Launch floor: on a GPU that needs no time, a pass takes launches x cost. A layer of the tiny GPT launches 14 kernels
// forward (2 norms, 6 products, softmax, score dropout, transpose, GELU, 2 residuals), the embedding 1, the head 3 (norm,
// product, loss).
TEST(Pipeline, LaunchBoundLayersTakeLaunchesTimesCost) {
  TransformerSpec s = step_of(test::tiny_gpt(), 1, 1, 1, 1, 1);
  HardwareSpec fast = test::round_gpu();
  for (auto& [precision, peak] : fast.peaks) peak = sim::FlopRate::flop_per_s(1e24);
  fast.memory_bandwidth = sim::Bandwidth::bytes_per_s(1e24);
  const auto time = [&](double forward_us, double backward_us) {
    s.software.launch_forward = Duration::us(forward_us);
    s.software.launch_backward = Duration::us(backward_us);
    return run_free(build_step(s, 1, fast).program).step_time();
  };
  const Duration none = time(0, 0);
  EXPECT_LT(none, Duration::ns(1));
  const Duration forward = time(10, 0);
  const Duration backward = time(0, 10);
  EXPECT_EQ(time(10, 10).count_ps() / 1000, (forward + backward).count_ps() / 1000);
  EXPECT_NEAR(forward.in_seconds(), 10e-6 * (8 * 14 + 1 + 3), 1e-9);
}

// A GPU slower than its host does not notice it but at the pass's end.
TEST(Pipeline, AFastHostCostsNothing) {
  TransformerSpec s = step_of(test::tiny_gpt(), 2, 2, 1, 8, 4);
  const Duration none = run_free(build_step(s).program).step_time();
  s.software.launch_forward = s.software.launch_backward = Duration::ns(1);
  EXPECT_EQ(run_free(build_step(s).program).step_time(), none);
}

// linear_blocks: 6·N FLOP a token over all GPUs; tensor-parallel reductions of b·d1 and b·d2 words, four per block and
// micro-batch.
TEST(LinearBlocks, ArithmeticAndBytes) {
  LinearBlocksSpec s = blocks_of(1, 4, 1);
  s.tp_ff = {2, 2};
  s.tp_hidden = {2, 1};
  s.pp = {1, 2};
  s.dp = {1, 3};
  const Workload w = build_blocks(s, 48);
  double sum = 0;
  for (const sim::Rank& rank : w.program.ranks) sum += w.roles[rank.role].flop.count();
  EXPECT_NEAR(sum / w.model_flop_per_step.count(), 1, 1e-12);
  EXPECT_NEAR(w.model_flop_per_step.count() / (6 * 2 * 1000.5 * 4002 * 8 * 4096), 1, 1e-12);
  auto use = test::network_use(w.program, sim::TemplateId{0});
  const double tokens = 4096.0 / (3 * 4);
  EXPECT_NEAR(use["inner_all_reduce"].bytes, 4 * 4 * 2 * tokens * 4002 / 4 * 2, 1e-3);    // b·d1 words, 2 a block
  EXPECT_NEAR(use["outer_all_reduce"].bytes, 4 * 4 * 2 * tokens * 1000.5 / 2 * 2, 1e-3);  // b·d2 words
  EXPECT_NEAR(use["forward_send"].bytes, 4 * tokens * 1000.5 / 2 / 4 * 2, 1e-6);
  EXPECT_NEAR(use["gradient_all_reduce"].bytes, 2 * 1000.5 * 4002 * 8 / (2 * 4 * 2) * 2, 1e-3);
  w.program.check();
}

// Eight experts on four expert-parallel ranks, two active: twice the arithmetic of a dense model of one expert's size, and
// four all-to-alls of b·k/EP·d2/TF words a block and micro-batch.
TEST(LinearBlocks, ExpertsShareTheTokens) {
  LinearBlocksSpec s = blocks_of(1, 4, 1);
  s.tp_ff = {2, 1};
  s.tp_hidden = {1, 1};
  s.ep = {2, 2};
  s.pp = {1, 2};
  s.dp = {1, 3};
  s.experts = 8;
  s.active_experts = 2;
  const Workload w = build_blocks(s, 48);
  double sum = 0;
  for (const sim::Rank& rank : w.program.ranks) sum += w.roles[rank.role].flop.count();
  EXPECT_NEAR(sum / w.model_flop_per_step.count(), 1, 1e-12);
  EXPECT_NEAR(w.model_flop_per_step.count() / (6 * 2 * 1000.5 * 4002 * 8 * 2 * 4096), 1, 1e-12);
  EXPECT_NEAR(static_cast<double>(w.parameters) / (2 * 1000.5 * 4002 * 8 * 8), 1, 1e-6);
  auto use = test::network_use(w.program, sim::TemplateId{0});
  const double tokens = 4096.0 / (3 * 4);
  const double exchanged =
      4 * 4 * 2 * tokens * 2 / 4 * 1000.5 / 2 * 2;  // blocks, micro-batches, two calls, b·k/EP·d2/TF words
  EXPECT_NEAR(use["expert_dispatch"].bytes, exchanged, 1e-3);
  EXPECT_NEAR(use["expert_combine"].bytes, exchanged, 1e-3);
  EXPECT_NEAR(use["outer_all_reduce"].bytes, 4 * 4 * 2 * tokens * 2 / 4 * 1000.5 * 2, 1e-3);
  EXPECT_NEAR(use["forward_send"].bytes, 4 * tokens / 4 * 1000.5 / 2 * 2, 1e-6);
  EXPECT_NEAR(use["gradient_all_reduce"].bytes, 2 * 1000.5 * 4002 * 8 * 8 / (2 * 2 * 4) * 2, 1e-3);
  w.program.check();
}

// Deferred weight gradients run beside the all-reduce of their input gradient: faster when that takes time, the same when
// not.
TEST(LinearBlocks, DeferredWeightGradientsHideCommunication) {
  LinearBlocksSpec s = blocks_of(1, 2, 1);
  s.tp_ff = {2};
  s.tp_hidden = {2};
  const auto time = [&](bool defer, bool free) {
    s.defer_weight_gradients = defer;
    const Workload w = build_blocks(s, 4);
    const test::StarRouter star{4, 50e9, Duration::us(1)};
    return free ? run_free(w.program).step_time() : sim::simulate(star.links(), star, w.program, {}).step_time();
  };
  EXPECT_EQ(time(true, true), time(false, true));
  EXPECT_LT(time(true, false), time(false, false));
}

TEST(LinearBlocks, WhatDoesNotFitIsNamed) {
  const auto message = [](auto&& change, std::uint32_t gpus) {
    LinearBlocksSpec s = blocks_of(4, 4, 1);
    change(s);
    return test::error_of([&] { return build_blocks(s, gpus); });
  };
  EXPECT_EQ(message([](auto&) {}, 4), "");
  EXPECT_EQ(message([](auto&) {}, 5),
            "tp_ff x tp_hidden x pp x dp = 4, but the GPUs used are 5 (in the fabric; state gpus to leave some idle)");
  EXPECT_EQ(message([](auto& s) { s.blocks = 9; }, 4), "9 blocks are not divisible by 4 pipeline stages");
  EXPECT_EQ(message([](auto& s) { s.virtual_stages = 4; }, 4), "2 blocks per stage are not divisible by 4 virtual stages");
  EXPECT_EQ(message(
                [](auto& s) {
                  s.dp = {1, 2};
                },
                4),
            "linear_blocks: tp_ff, tp_hidden, pp and dp must list one degree per network level; they list 1, 1, 1 and 2");
  EXPECT_EQ(message([](auto& s) { s.experts = 8, s.ep = {3}; }, 12), "linear_blocks: ep 3 does not divide the 8 experts");
  EXPECT_EQ(message([](auto& s) { s.active_experts = 2; }, 4),
            "linear_blocks: active_experts is 2; allowed: up to the 1 experts");
  EXPECT_EQ(message([](auto& s) { s.hidden = 0; }, 4), "linear_blocks: hidden must be positive");
  EXPECT_EQ(test::error_of([] {
              WorkloadSpec w;
              w.job = blocks_of(1, 1, 1);
              return build(w, test::round_gpu(), regular_cluster(1, 1));
            }),
            "hardware 'round' has no matmul section, which linear_blocks needs");
}

}  // namespace
}  // namespace traingraph::workloads
