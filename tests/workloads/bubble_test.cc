// Bubbles of the pipeline schedules against the formulas of their papers: first of the order of passes alone, then of whole
// programs in the engine.
#include <gtest/gtest.h>

#include <set>

#include "schedule_cases.h"
#include "workload_cases.h"
#include "workloads/kernel_time.h"
#include "workloads/layer_kernels.h"
#include "workloads/stage_shape.h"

namespace traingraph::workloads {
namespace {

using sim::RankId;
using sim::TemplateId;
using test::PassTimes;
using test::play;
using test::ScheduleCase;

constexpr PassTimes kTimes[] = {{10, 10, 10}, {10, 10, 5}, {8, 8, 3}};

// F, B and W of a whole stage.
std::int64_t whole(const PassTimes& t) { return t.forward + t.input + t.weight; }

TEST(Bubble, NoScheduleGetsStuck) {
  for (const ScheduleCase& c : test::schedule_cases()) EXPECT_TRUE(play(c, {7, 9, 5})) << c.name();
}

// Narayanan et al. 2021, section 2.2: (P-1)(F+B+W)/v of M(F+B+W), a fraction of (P-1)/(v·M).
TEST(Bubble, Interleaved) {
  for (const PassTimes& t : kTimes) {
    for (const std::uint32_t P : {2U, 4U, 8U}) {
      for (const std::uint32_t v : {1U, 2U, 4U}) {
        for (const std::uint32_t M : {P, 2 * P, 5 * P}) {
          const auto played = play({ScheduleKind::one_f_one_b, {P, M, v}}, t);
          EXPECT_EQ(played->end - M * v * whole(t), (P - 1) * whole(t)) << P << " " << v << " " << M;
        }
      }
    }
  }
}

// Qi et al. 2023, table 2: (P-1)(F+B-W).
TEST(Bubble, ZeroBubbleH1) {
  for (const PassTimes& t : kTimes) {
    for (const std::uint32_t P : {2U, 4U, 8U}) {
      for (const std::uint32_t M : {P, 2 * P, 5 * P + 1}) {
        const auto played = play({ScheduleKind::zb_h1, {P, M, 1}}, t);
        EXPECT_EQ(played->end - M * whole(t), (P - 1) * (t.forward + t.input - t.weight)) << P << " " << M;
      }
    }
  }
}

// Qi et al. 2023, section 6: zero for F = B = W, when each stage is timed from its own first pass to its own last (the
// optimizer steps of the stages are not synchronized there).
TEST(Bubble, ZeroBubbleV) {
  for (const std::uint32_t P : {2U, 3U, 4U, 8U}) {
    for (const std::uint32_t M : {2 * P - 1, 2 * P, 5 * P}) {
      const auto played = play({ScheduleKind::zb_v, {P, M, 1}}, {10, 10, 10});
      EXPECT_EQ(played->longest, 2 * M * 30) << P << " " << M;
      EXPECT_EQ(played->end, 2 * M * 30 + (P - 1) * 10) << P << " " << M;  // the last stage begins that much later
    }
  }
}

// DeepSeek-V3 technical report 2024, table 2: (P/2-1)(F&B + B - 3W), with B the whole backward, and F&B = F + B on a single
// stream. It is exact for F = input gradient; with a longer input gradient the schedule does a little better.
TEST(Bubble, DualPipe) {
  for (const std::uint32_t P : {2U, 4U, 6U, 8U}) {
    for (const std::uint32_t M : {2 * P, 2 * P + 2, 6 * P}) {
      const auto formula = [&](const PassTimes& t) {
        const std::int64_t backward = t.input + t.weight;
        return (P / 2 - 1) * (t.forward + backward + backward - 3 * t.weight);
      };
      for (const PassTimes& t : kTimes) {
        EXPECT_EQ(play({ScheduleKind::dualpipe, {P, M, 1}}, t)->end - M * whole(t), formula(t)) << P << " " << M;
      }
      const PassTimes longer{10, 12, 8};
      EXPECT_LE(play({ScheduleKind::dualpipe, {P, M, 1}}, longer)->end - M * whole(longer), formula(longer));
    }
  }
}

// Whole programs: the tiny GPT with 16 layers, embedding and head made negligible, so that stages are nearly equal.
TransformerSpec even_step(const ScheduleCase& c) {
  ModelSpec m = test::tiny_gpt();
  m.layers = c.shape.stages * (c.shape.chunks > 1 ? c.shape.chunks : 2);
  m.vocabulary = 8;
  m.position = Position::none;
  TransformerSpec s = test::step_of(m, 1, c.shape.stages, 1, 1, c.shape.microbatches);
  s.vocabulary_multiple = 8;
  s.parallel.schedule = c.kind;
  s.parallel.virtual_stages = c.shape.chunks;
  return s;
}

// The engine's step is what the order of passes says, with the layer's own kernel times, but for embedding, head and
// optimizer.
TEST(Bubble, TheEnginePlaysTheSchedule) {
  for (const ScheduleCase& c : {ScheduleCase{ScheduleKind::one_f_one_b, {4, 8, 2}},
                                {ScheduleKind::one_f_one_b, {2, 4, 3}},
                                {ScheduleKind::gpipe, {4, 8, 2}},
                                {ScheduleKind::zb_h1, {4, 9, 1}},
                                {ScheduleKind::zb_v, {4, 9, 1}},
                                {ScheduleKind::zb_v, {4, 3, 1}},
                                {ScheduleKind::dualpipe, {4, 12, 1}},
                                {ScheduleKind::dualpipe, {6, 12, 1}}}) {
    const TransformerSpec spec = even_step(c);
    const Workload w = test::build_step(spec);
    w.program.check();
    const KernelModel model{test::round_gpu(), spec.precision};
    const LayerKernels kernels{spec, model};
    const std::int64_t layers = stage_shapes(spec)[1].chunks[0].layers;
    const BackwardHalves halves = split_backward(kernels.layer_backward());
    const PassTimes times{layers * kernel_time(kernels.layer_forward()).count_ps(),
                          layers * kernel_time(halves.input_gradient).count_ps(),
                          layers * kernel_time(halves.weight_gradient).count_ps()};
    const double expected = static_cast<double>(play(c, times)->end);
    const double step = static_cast<double>(test::run_free(w.program).step_time().count_ps());
    EXPECT_GE(step, expected) << c.name();
    // Embedding and head of every micro-batch, and the optimizer, which waits for the slowest stage in its middle.
    sim::Duration ends;
    for (const LayerOps& ops :
         {kernels.embedding_forward(), kernels.embedding_backward(), kernels.head_forward(), kernels.head_backward()}) {
      ends += kernel_time(ops);
    }
    sim::Duration optimizer;
    for (std::uint32_t s = 0; s < c.shape.stages; ++s) {
      const auto& p = w.pipeline;
      const sim::Duration passes = (p.forward[s] + p.backward[s] + p.after_hand_off[s]) * std::int64_t{p.microbatches};
      optimizer = std::max(optimizer, w.roles[TemplateId{s}].kernels - passes);
    }
    EXPECT_LE(step, expected + static_cast<double>((ends * std::int64_t{c.shape.microbatches} + optimizer * 2).count_ps()))
        << c.name();
  }
}

// Every hand-off is a message: (positions - 1) of each micro-batch and direction, but for the V's turn on one stage.
TEST(Bubble, EveryHandOffIsAMessage) {
  for (const ScheduleCase& c : {ScheduleCase{ScheduleKind::one_f_one_b, {4, 8, 2}},
                                {ScheduleKind::zb_h1, {4, 8, 1}},
                                {ScheduleKind::zb_v, {4, 8, 1}},
                                {ScheduleKind::dualpipe, {4, 8, 1}}}) {
    const Workload w = test::build_step(even_step(c));
    const PipelineMap map{c.kind, c.shape.stages, c.shape.chunks};
    double bytes = 0;
    for (std::uint32_t s = 0; s < c.shape.stages; ++s) {
      auto use = test::network_use(w.program, TemplateId{s});
      bytes += use["forward_send"].bytes + use["backward_send"].bytes;
    }
    const std::uint32_t turns = map.form() == PipelineMap::Form::v_shape ? 1 : 0;
    EXPECT_EQ(bytes, 2.0 * 8 * (map.positions() - 1 - turns) * 128 * 256 * 2) << c.name();
  }
}

// Every layer of the model is on exactly `copies` stages, and runs once forward for each micro-batch.
TEST(Bubble, EveryLayerRunsOncePerMicrobatch) {
  for (const ScheduleCase& c : {ScheduleCase{ScheduleKind::one_f_one_b, {4, 8, 2}},
                                {ScheduleKind::zb_h1, {4, 8, 1}},
                                {ScheduleKind::zb_v, {4, 8, 1}},
                                {ScheduleKind::dualpipe, {4, 8, 1}}}) {
    const TransformerSpec spec = even_step(c);
    const Workload w = test::build_step(spec);
    std::map<std::pair<std::int32_t, std::int32_t>, int> forwards, weights;  // by (layer, micro-batch)
    for (std::uint32_t s = 0; s < c.shape.stages; ++s) {
      for (const sim::Op& op : w.program.templates[TemplateId{s}].ops) {
        const std::string& name = w.program.labels[op.label].name;
        if (name == "mlp_up") ++forwards[{op.layer, op.microbatch}];
        if (name == "mlp_up_weight_gradient") ++weights[{op.layer, op.microbatch}];
      }
    }
    for (const auto* seen : {&forwards, &weights}) {
      EXPECT_EQ(seen->size(), std::size_t{spec.model.layers} * 8) << c.name();
      for (const auto& [at, times] : *seen) EXPECT_EQ(times, 1) << c.name() << " layer " << at.first;
    }
  }
}

// Gradients: each stage reduces its own parameters once, whatever the schedule; a bidirectional pipeline holds all twice and
// reduces each position over its 2·DP copies.
TEST(Bubble, GradientsAreReducedOnce) {
  for (const bool overlap : {false, true}) {
    for (const ScheduleCase& c : {ScheduleCase{ScheduleKind::one_f_one_b, {4, 8, 2}},
                                  {ScheduleKind::zb_h1, {4, 8, 1}},
                                  {ScheduleKind::zb_v, {4, 8, 1}},
                                  {ScheduleKind::dualpipe, {4, 8, 1}}}) {
      if (overlap && c.kind == ScheduleKind::dualpipe) continue;
      TransformerSpec spec = even_step(c);
      spec.parallel.dp = 2;
      spec.global_batch *= 2;
      spec.parallel.bucket_size = sim::Bytes{1e6};
      spec.parallel.overlap_grad_reduce = overlap;
      const Workload w = test::build_step(spec, 2);
      w.program.check();
      const std::uint32_t copies = PipelineMap{spec.parallel}.copies();
      const KernelModel model{test::round_gpu(), spec.precision};
      const LayerKernels kernels{spec, model};
      double parameters = 0, reduced = 0;
      for (const StageShape& shape : stage_shapes(spec)) {
        parameters += stage_parameters(kernels, shape).total();
        reduced += test::network_use(w.program, TemplateId{shape.stage})["gradient_all_reduce"].bytes;
      }
      EXPECT_EQ(reduced, parameters * 4) << c.name();
      for (const auto& group : w.program.communicators) {
        if (group.name.starts_with("dp[")) {
          EXPECT_EQ(group.members.size(), 2U * copies) << c.name();
        }
      }
      EXPECT_GT(test::run_free(w.program).step_time(), sim::Duration{}) << c.name();
    }
  }
}

// A tied table is on one stage in a V and in both directions: no all-reduce between stages, and it is counted once.
TEST(Bubble, TiedEmbeddingsMeetWhereTheEndsDo) {
  for (const ScheduleKind kind : {ScheduleKind::zb_v, ScheduleKind::dualpipe}) {
    TransformerSpec spec = even_step({kind, {4, 8, 1}});
    const Workload tied = test::build_step(spec);
    EXPECT_EQ(test::network_use(tied.program, TemplateId{0}).count("embedding_gradient_all_reduce"), 0U);
    const auto parameters = [&] { return test::build_step(spec).roles[TemplateId{0}].memory[0].bytes.count(); };
    const double once = parameters();
    spec.model.tied_embeddings = false;
    EXPECT_EQ(parameters() - once, 2.0 * 8 * 256);
  }
}

// A step of parameters gathered during the first forward passes of all chunks is no slower than one that waits for them.
TEST(Bubble, GatheredParametersAreAwaitedByChunk) {
  TransformerSpec spec = even_step({ScheduleKind::one_f_one_b, {2, 4, 4}});
  spec.parallel.dp = 2;
  spec.micro_batch = 8;
  spec.global_batch *= 16;
  spec.parallel.distributed_optimizer = true;
  spec.parallel.bucket_size = sim::Bytes{1e6};
  const test::StarRouter star{4, 2e9, sim::Duration::us(1)};
  const auto time = [&] { return sim::simulate(star.links(), star, test::build_step(spec, 3).program, {}).step_time(); };
  const sim::Duration waits = time();
  spec.parallel.overlap_param_gather = true;
  EXPECT_LT(time(), waits);
}

}  // namespace
}  // namespace traingraph::workloads
