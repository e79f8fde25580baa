#include "workloads/transformer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <vector>

#include "workload_cases.h"
#include "workloads/flops.h"
#include "workloads/rank_streams.h"

namespace traingraph::workloads {
namespace {

using sim::RankId;
using sim::TemplateId;
using test::build_step;
using test::error_of;
using test::gpt3;
using test::llama405b;
using test::network_use;
using test::step_of;

TransformerSpec gpt3_1024() {
  TransformerSpec s = step_of(gpt3(), 8, 8, 16, 1, 96);
  s.recompute = Recompute::full;
  return s;
}

TransformerSpec llama_2048() {
  TransformerSpec s = step_of(llama405b(), 8, 16, 16, 1, 16);
  s.precision = Precision::bf16;
  s.attention = Attention::flash;
  s.recompute = Recompute::full;
  s.parallel.sequence_parallel = true;
  s.parallel.distributed_optimizer = true;
  s.parallel.layers_per_stage.assign(16, 8);
  s.parallel.layers_per_stage.front() = 7;
  s.parallel.layers_per_stage.back() = 7;
  return s;
}

// Executed arithmetic, summed over all ranks, is Narayanan's 96·B·s·n_l·h²·(...) exactly: every product of the formula is a
// kernel, and no other kernel is counted as arithmetic. (Causal fused attention would do half of the scores: tested
// elsewhere.)
TEST(Transformer, ExecutedArithmeticOfGpt3IsTheMegatronFormula) {
  const TransformerSpec s = gpt3_1024();
  const Workload w = build_step(s);
  double sum = 0;
  for (const sim::Rank& rank : w.program.ranks) sum += w.roles[rank.role].flop.count();
  const double h = 12288, layers = 96, seq = 2048, V = 51200, B = 1536;
  EXPECT_NEAR(sum / (96 * B * seq * layers * h * h * (1 + seq / (6 * h) + V / (16 * layers * h))), 1, 1e-12);
  EXPECT_NEAR(w.hardware_flop_per_step.count() / sum, 1, 1e-12);
  EXPECT_EQ(w.flop_convention, "megatron");
  EXPECT_EQ(w.tokens_per_step, B * seq);
}

// Causal flash attention executes half the scores forward and 2.5/2 of that half backward, so less than the convention
// counts: per token and layer 3·4sAd + 4sAd (recomputed) become (1 + 1 + 2.5)/2·4sAd.
TEST(Transformer, CausalFlashAttentionExecutesLessThanTheConventionCounts) {
  const TransformerSpec s = llama_2048();
  const Workload w = build_step(s);
  double sum = 0;
  for (const sim::Rank& rank : w.program.ranks) sum += w.roles[rank.role].flop.count();
  const double scores = 4.0 * 8192 * 16384 * 126 * w.tokens_per_step;
  EXPECT_NEAR((w.hardware_flop_per_step.count() - sum) / ((4 - 2.25) * scores), 1, 1e-9);
}

TEST(Transformer, RanksShareOneTemplatePerStage) {
  const Workload w = build_step(gpt3_1024());
  EXPECT_EQ(w.program.ranks.size(), 1024U);
  EXPECT_EQ(w.program.templates.size(), 8U);
  w.program.check();
  for (std::uint32_t r = 0; r < 1024; ++r) {
    EXPECT_EQ(index(w.program.ranks[RankId{r}].role), w.coordinates[RankId{r}].pp);
    EXPECT_EQ(index(w.program.ranks[RankId{r}].endpoint), r);
  }
}

// GPT-3, stage 3 of 8: per micro-batch 12 layers with 2 all-reduces of s·h·2 bytes forward, 2 recomputed, 2 backward;
// hand-offs of s·h·2 each way; at the end one fp32 gradient all-reduce of the stage's 12·(12h² + 13h)-ish parameters / 8.
TEST(Transformer, BytesOfAMiddleStage) {
  const Workload w = build_step(gpt3_1024());
  auto use = network_use(w.program, TemplateId{3});
  const double buffer = 2048.0 * 12288 * 2;
  double tp = 0;
  for (const char* name :
       {"attention_output_all_reduce", "mlp_down_all_reduce", "recompute_attention_output_all_reduce",
        "recompute_mlp_down_all_reduce", "qkv_input_gradient_all_reduce", "mlp_up_input_gradient_all_reduce"}) {
    EXPECT_EQ(use[name].count, 96U * 12) << name;
    tp += use[name].bytes;
  }
  EXPECT_EQ(tp, 6.0 * 96 * 12 * buffer);
  EXPECT_EQ(use["forward_send"].bytes, 96 * buffer);
  EXPECT_EQ(use["backward_send"].bytes, 96 * buffer);
  // 12h²/8 weights, biases 3h/8 + 4h/8 sharded and 2h not, two layernorms 4h.
  const double h = 12288;
  EXPECT_EQ(use["gradient_all_reduce"].count, 1U);
  EXPECT_EQ(use["gradient_all_reduce"].bytes, 12 * (12 * h * h / 8 + 7 * h / 8 + 6 * h) * 4);
  EXPECT_EQ(use["gradient_norm_all_reduce"].bytes, 4);
  EXPECT_EQ(use.count("embedding_gradient_all_reduce"), 0U);
  EXPECT_EQ(use.count("loss_all_reduce"), 0U);
}

// First and last stage: one of them sends only forward, the other only back; both reduce the tied table; the last one the
// loss.
TEST(Transformer, BytesOfTheEndStages) {
  const Workload w = build_step(gpt3_1024());
  auto first = network_use(w.program, TemplateId{0});
  auto last = network_use(w.program, TemplateId{7});
  EXPECT_EQ(first["forward_send"].count, 96U);
  EXPECT_EQ(first.count("backward_send"), 0U);
  EXPECT_EQ(last["backward_send"].count, 96U);
  EXPECT_EQ(last.count("forward_send"), 0U);
  EXPECT_EQ(first["embedding_gradient_all_reduce"].bytes, 51200.0 / 8 * 12288 * 4);
  EXPECT_EQ(last["embedding_gradient_all_reduce"].bytes, 51200.0 / 8 * 12288 * 4);
  EXPECT_EQ(first["embedding_all_reduce"].bytes, 96 * 2048.0 * 12288 * 2);
  EXPECT_EQ(last["loss_maximum_all_reduce"].bytes, 96 * 2048.0 * 4);
  EXPECT_EQ(last["logits_input_gradient_all_reduce"].bytes, 96 * 2048.0 * 12288 * 2);
  EXPECT_EQ(last["loss_all_reduce"].bytes, 4);
}

// With SP each rank has seen a share of the tokens only: what is not sharded over TP is summed over it. GPT-3: two
// layernorms of 2h and two biases of h behind row-parallel products (Megatron-LM marks them so), the final norm, BLOOM's at
// the embedding.
TEST(Transformer, BytesOfWhatIsWholeOnEveryTensorParallelRank) {
  TransformerSpec s = gpt3_1024();
  s.parallel.sequence_parallel = true;
  s.model.embedding_norm = true;
  const Workload w = build_step(s);
  const double h = 12288;
  EXPECT_EQ(network_use(w.program, TemplateId{0})["norm_gradient_all_reduce"].bytes, (12 * (4 + 2) + 2) * h * 4);
  EXPECT_EQ(network_use(w.program, TemplateId{3})["norm_gradient_all_reduce"].bytes, 12 * (4 + 2) * h * 4);
  EXPECT_EQ(network_use(w.program, TemplateId{7})["norm_gradient_all_reduce"].bytes, (12 * (4 + 2) + 2) * h * 4);
}

// Llama-3 405B: stages of 7, 8 x 14 and 7 layers; with SP hand-offs are 1/8; ZeRO-1 moves the parameters in 16 bits after a
// reduce-scatter of fp32 gradients; the norms' gradients are summed over TP.
TEST(Transformer, BytesWithSequenceParallelismAndDistributedOptimizer) {
  const TransformerSpec s = llama_2048();
  const Workload w = build_step(s);
  const double h = 16384;
  const double layer = (h * 144 * 128 + 128 * 128 * h + 3 * h * 53248) / 8 + 2 * h;
  for (const std::uint32_t stage : {0U, 5U, 15U}) {
    auto use = network_use(w.program, TemplateId{stage});
    const double layers = stage == 5 ? 8 : 7;
    double parameters = layers * layer;
    double norms = layers * 2 * h;
    if (stage == 0) parameters += 129024.0 / 8 * h;  // 128256 padded to a multiple of 1024
    if (stage == 15) parameters += 129024.0 / 8 * h + h;
    if (stage == 15) norms += h;
    EXPECT_EQ(use["gradient_reduce_scatter"].bytes, parameters * 4) << stage;
    EXPECT_EQ(use["parameter_all_gather"].bytes, parameters * 2) << stage;
    EXPECT_EQ(use["norm_gradient_all_reduce"].bytes, norms * 4) << stage;
    EXPECT_EQ(use["qkv_all_gather"].bytes, 16 * layers * 8192 * h * 2) << stage;
    EXPECT_EQ(use["attention_output_reduce_scatter"].bytes, 16 * layers * 8192 * h * 2) << stage;
    if (stage != 15) {
      EXPECT_EQ(use["forward_send"].bytes, 16 * 8192 * h * 2 / 8) << stage;
    }
  }
  // The gradient norm is summed over the world: each rank holds its own shard.
  const auto& communicators = w.program.communicators;
  const auto norm =
      std::find_if(communicators.begin(), communicators.end(), [](const auto& c) { return c.name == "norm[0]"; });
  ASSERT_NE(norm, communicators.end());
  EXPECT_EQ(norm->members.size(), 2048U);
}

// Scatter-gather: 1/TP is sent, and the receivers gather the whole over TP, forward and backward.
TEST(Transformer, ScatterGather) {
  TransformerSpec s = step_of(test::tiny_gpt(), 4, 2, 1, 1, 4);
  s.parallel.scatter_gather = true;
  const Workload w = build_step(s);
  const double buffer = 128.0 * 256 * 2;
  auto first = network_use(w.program, TemplateId{0});
  auto last = network_use(w.program, TemplateId{1});
  EXPECT_EQ(first["forward_send"].bytes, 4 * buffer / 4);
  EXPECT_EQ(last["forward_receive_all_gather"].bytes, 4 * buffer);
  EXPECT_EQ(last["backward_send"].bytes, 4 * buffer / 4);
  EXPECT_EQ(first["backward_receive_all_gather"].bytes, 4 * buffer);
}

// Buckets: the same bytes in more calls, each bucket but the last at least bucket_size; 16-bit gradients halve them.
TEST(Transformer, Buckets) {
  TransformerSpec s = step_of(test::tiny_gpt(), 1, 2, 4, 1, 4);
  const double whole = network_use(build_step(s).program, TemplateId{0})["gradient_all_reduce"].bytes;
  s.parallel.bucket_size = sim::Bytes{1e6};
  for (const bool overlap : {false, true}) {
    s.parallel.overlap_grad_reduce = overlap;
    const Workload w = build_step(s);
    auto use = network_use(w.program, TemplateId{0})["gradient_all_reduce"];
    EXPECT_EQ(use.bytes, whole);
    EXPECT_GT(use.count, 5U);
    EXPECT_LE(use.count, static_cast<std::uint32_t>(std::ceil(whole / 1e6)));
  }
  s.gradient_type = GradientType::same_as_weights;
  EXPECT_EQ(network_use(build_step(s).program, TemplateId{0})["gradient_all_reduce"].bytes, whole / 2);
}

// Options that only move communication under compute: the same bytes, no more time when played, and less where there is
// something to hide.
TEST(Transformer, OverlapHidesCommunication) {
  const auto time = [](const TransformerSpec& s) {
    const Workload w = build_step(s, 3);
    const test::StarRouter star{8, 2e9, sim::Duration::us(1)};
    return sim::simulate(star.links(), star, w.program, {}).step_time();
  };
  TransformerSpec s = step_of(test::tiny_gpt(), 2, 1, 4, 4, 4);
  s.parallel.distributed_optimizer = true;
  s.parallel.bucket_size = sim::Bytes{1e6};
  const sim::Duration plain = time(s);
  s.parallel.overlap_grad_reduce = true;
  const sim::Duration reduce = time(s);
  s.parallel.overlap_param_gather = true;
  const sim::Duration both = time(s);
  s.parallel.overlap_tp_backward = true;
  const sim::Duration all = time(s);
  EXPECT_LT(reduce, plain);
  EXPECT_LT(both, reduce);
  EXPECT_LT(all, both);
}

// One data-parallel rank more than once: a communicator's members are the ranks that differ in that coordinate only, and
// every rank finds itself there under its slot.
TEST(Transformer, SlotsAndCommunicatorsAgree) {
  for (const char* order : {"tp-cp-ep-dp-pp", "tp-pp-dp", "pp-dp-tp"}) {
    TransformerSpec s = step_of(test::tiny_gpt(), 2, 4, 3, 1, 4);
    s.parallel.order = order;
    const Workload w = build_step(s);
    w.program.check();
    for (std::uint32_t r = 0; r < w.program.ranks.size(); ++r) {
      const sim::Rank& rank = w.program.ranks[RankId{r}];
      for (const sim::Op& op : w.program.templates[rank.role].ops) {
        const sim::Slot slot = w.program.slots[rank.first_slot + op.slot];
        const std::string& name = w.program.labels[op.label].name;
        if (op.kind == sim::OpKind::collective) {
          EXPECT_EQ(w.program.communicators[sim::CommunicatorId{slot.target}].members[slot.member], RankId{r}) << name;
        } else if (op.kind == sim::OpKind::send) {
          const sim::Channel& c = w.program.channels[sim::ChannelId{slot.target}];
          EXPECT_EQ(c.source, RankId{r});
          const Coordinates to = w.coordinates[c.destination];
          const Coordinates here = w.coordinates[RankId{r}];
          EXPECT_EQ(to.tp, here.tp);
          EXPECT_EQ(to.dp, here.dp);
          EXPECT_EQ(to.pp, name == "forward_send" ? here.pp + 1 : here.pp - 1);
        } else if (op.kind == sim::OpKind::receive) {
          EXPECT_EQ(w.program.channels[sim::ChannelId{slot.target}].destination, RankId{r});
        }
      }
    }
  }
}

// The facts of a role are sums over the very kernels that its template holds.
TEST(Transformer, KernelSumIsTheTemplatesComputeTime) {
  for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
    TransformerSpec s = step_of(test::tiny_gpt(), 2, 2, 2, 2, 5);
    s.recompute = recompute;
    s.parallel.sequence_parallel = true;
    const Workload w = build_step(s);
    for (const std::uint32_t stage : {0U, 1U}) {
      sim::Duration sum;
      for (const sim::Op& op : w.program.templates[TemplateId{stage}].ops) {
        if (op.kind == sim::OpKind::compute && op.stream == 0) sum += w.program.durations[op.argument];
      }
      EXPECT_EQ(w.roles[TemplateId{stage}].kernels, sum);
    }
  }
}

TEST(Transformer, WhatDoesNotDivideIsNamed) {
  const auto message = [](auto&& change) {
    TransformerSpec s = step_of(gpt3(), 8, 8, 16, 1, 96);
    change(s);
    const std::uint32_t gpus = 1024;
    return error_of([&] { return build(test::workload_of(s), test::round_gpu(), regular_cluster(gpus, 8)); });
  };
  EXPECT_EQ(message([](auto&) {}), "");
  EXPECT_EQ(message([](auto& s) { s.parallel.dp = 15; }), "global_batch 1536 is not divisible by dp x micro_batch 15");
  EXPECT_EQ(message([](auto& s) { s.parallel.dp = 8; }),
            "tp x pp x dp = 512, but the GPUs used are 1024 (in the fabric; state gpus to leave some idle)");
  EXPECT_EQ(message([](auto& s) {
              s.parallel.dp = 8;
              s.parallel.gpus = 512;
            }),
            "");
  EXPECT_EQ(message([](auto& s) { s.parallel.gpus = 512; }), "tp x pp x dp = 1024, but the GPUs used are 512 (stated)");
  EXPECT_EQ(message([](auto& s) { s.parallel.dp = 32; }),
            "tp x pp x dp = 2048, but the GPUs used are 1024 (in the fabric; state gpus to leave some idle)");
  EXPECT_EQ(message([](auto& s) { s.parallel.tp = 5; }), "heads 96 is not divisible by tp 5");
  EXPECT_EQ(message([](auto& s) { s.model.kv_heads = 4; }), "kv_heads 4 is not divisible by tp 8");
  EXPECT_EQ(message([](auto& s) { s.model.ffn = 49153; }), "ffn 49153 is not divisible by tp 8");
  EXPECT_EQ(message([](auto& s) { s.parallel.pp = 7; }),
            "96 layers are not divisible by 7 pipeline stages; state layers_per_stage");
  EXPECT_EQ(message([](auto& s) {
              s.parallel.layers_per_stage = {12, 12};
            }),
            "layers_per_stage lists 2 stages, but pp is 8");
  EXPECT_EQ(message([](auto& s) { s.parallel.layers_per_stage.assign(8, 11); }),
            "layers_per_stage adds up to 88 layers, but the model has 96");
  EXPECT_EQ(message([](auto& s) { s.micro_batch = 5; }), "global_batch 1536 is not divisible by dp x micro_batch 80");
  EXPECT_EQ(message([](auto& s) { s.micro_batch = 0; }), "micro_batch must be at least 1");
  EXPECT_EQ(message([](auto& s) { s.parallel.tp = 0; }), "tp must be at least 1");
  EXPECT_EQ(message([](auto& s) {
              s.parallel.sequence_parallel = true;
              s.model.sequence = 2047;
            }),
            "sequence 2047 is not divisible by tp (sequence_parallel) 8");
  EXPECT_EQ(message([](auto& s) { s.parallel.sequence_parallel = s.parallel.scatter_gather = true; }),
            "scatter_gather has no effect with sequence_parallel, which already sends 1/tp; leave one out");
  EXPECT_EQ(message([](auto& s) { s.parallel.overlap_param_gather = true; }),
            "overlap_param_gather needs distributed_optimizer: otherwise no parameters are gathered");
  EXPECT_EQ(message([](auto& s) { s.algorithms.dp_all_reduce = Algorithm::pairwise; }).substr(0, 6), "dp[0]:");
}

TEST(Transformer, SlowGpusScaleTheirRank) {
  const TransformerSpec s = step_of(test::tiny_gpt(), 2, 2, 2, 1, 2);
  WorkloadSpec w = test::workload_of(s);
  w.placement = {.kind = PlacementKind::list, .gpus = {7, 6, 5, 4, 3, 2, 1, 0}};
  w.slow_gpus = {{.gpu = 6, .factor = 1.25}};
  const Workload built = build(w, test::round_gpu(), regular_cluster(8, 8));
  for (std::uint32_t r = 0; r < 8; ++r) EXPECT_EQ(built.program.ranks[RankId{r}].compute_scale, r == 1 ? 1.25 : 1.0);
  w.slow_gpus = {{.gpu = 8, .factor = 1.25}};
  EXPECT_EQ(error_of([&] { return build(w, test::round_gpu(), regular_cluster(8, 8)); }),
            "slow GPU 8 does not exist; the fabric has 8 GPUs");
  w.slow_gpus = {{.gpu = 1, .factor = 0}};
  EXPECT_EQ(error_of([&] { return build(w, test::round_gpu(), regular_cluster(8, 8)); }),
            "slow GPU 1: factor 0 must be positive");
}

// The hierarchical algorithm takes its domains from the placement: DP groups of 4 ranks, 2 in each of 2 domains of 4 GPUs.
TEST(Transformer, HierarchicalAlgorithmNeedsRegularDomains) {
  TransformerSpec s = step_of(test::tiny_gpt(), 2, 1, 4, 1, 2);
  s.algorithms.dp_all_reduce = Algorithm::hierarchical;
  WorkloadSpec w = test::workload_of(s);
  EXPECT_NO_THROW((void)build(w, test::round_gpu(), regular_cluster(8, 4)));
  w.placement = {.kind = PlacementKind::list, .gpus = {0, 1, 4, 5, 2, 3, 6, 7}};
  EXPECT_EQ(error_of([&] { return build(w, test::round_gpu(), regular_cluster(8, 4)); }),
            "all_reduce on dp[0]: the hierarchical algorithm needs the same number of consecutive members in each scale-up "
            "domain, "
            "which this placement does not give");
}

// What follows the last gradients (sums of norms over TP, of a tied embedding over the pipeline's ends) waits for them too,
// but that wait is data parallelism's: rank 0 reduces the same gradients with and without, so it is exposed as long.
TEST(Transformer, TheWaitForGradientsIsDataParallelisms) {
  const auto exposed_dp = [](const TransformerSpec& s) {
    const Workload w = build_step(s);
    const test::StarRouter star{s.parallel.tp * s.parallel.pp * s.parallel.dp, 1e8, {}};
    const sim::Record record = sim::simulate(star.links(), star, w.program, {});
    return record.splits[RankId{0}].by_category[static_cast<std::size_t>(TimeCategory::exposed_dp)];
  };
  TransformerSpec norms = step_of(test::tiny_gpt(), 2, 1, 2, 1, 2);
  const sim::Duration without_norms = exposed_dp(norms);
  norms.parallel.sequence_parallel = true;
  EXPECT_GT(without_norms, sim::Duration{});
  EXPECT_GE(exposed_dp(norms), without_norms.scaled(0.95));

  TransformerSpec embedding = step_of(test::tiny_gpt(), 1, 2, 2, 1, 2);
  embedding.model.tied_embeddings = false;
  const sim::Duration untied = exposed_dp(embedding);
  embedding.model.tied_embeddings = true;
  EXPECT_GT(untied, sim::Duration{});
  EXPECT_GE(exposed_dp(embedding), untied.scaled(0.95));
}

// A collective may be the first operation of a pass (the gather of a gradient under sequence parallelism, the exchange of
// Ulysses): it has nothing to work on before the pass's input has come.
TEST(Transformer, NoCollectiveOfAPassComesBeforeItsInput) {
  for (const ContextParallelKind attention : {ContextParallelKind::ring, ContextParallelKind::ulysses}) {
    TransformerSpec s = step_of(llama405b(), 2, 2, 1, 1, 4);  // and CP 2: of 8 GPUs
    s.precision = Precision::bf16;
    s.attention = Attention::flash;
    s.recompute = Recompute::none;
    s.parallel.sequence_parallel = true;
    s.parallel.cp = 2;
    s.parallel.cp_attention = attention;
    s.parallel.layers_per_stage.assign(2, 63);
    const Workload w = build_step(s);
    for (const sim::Template& role : w.program.templates) {
      std::vector<std::vector<std::uint32_t>> streams(role.streams);
      // Of every operation: how many receives of each kind have ended before it starts, at least.
      std::vector<std::array<std::uint32_t, 2>> received(role.ops.size());
      std::array<std::uint32_t, 2> posted{};
      std::uint32_t collectives = 0;
      for (std::uint32_t i = 0; i < role.ops.size(); ++i) {
        const sim::Op& op = role.ops[i];
        auto& mine = received[i];
        const auto learn = [&](std::uint32_t before) {
          for (std::size_t k = 0; k < 2; ++k) mine[k] = std::max(mine[k], received[before][k]);
        };
        if (!streams[op.stream].empty()) learn(streams[op.stream].back());
        for (std::uint32_t d = 0; d < op.dependencies; ++d) {
          const sim::Dependency& dep = role.dependencies[op.first_dependency + d];
          learn(streams[dep.stream][dep.position]);
        }
        if (op.kind == sim::OpKind::receive)
          mine[op.stream == static_cast<std::uint16_t>(Stream::forward_receive) ? 0 : 1] =
              ++posted[op.stream == static_cast<std::uint16_t>(Stream::forward_receive) ? 0 : 1];
        if (op.kind == sim::OpKind::collective && op.stream == static_cast<std::uint16_t>(Stream::blocking)) {
          ++collectives;
          EXPECT_EQ(mine, posted) << role.name << ", operation " << i;
        }
        streams[op.stream].push_back(i);
      }
      EXPECT_GT(collectives, 0U);
    }
  }
}

}  // namespace
}  // namespace traingraph::workloads
