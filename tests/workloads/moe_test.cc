// Mixture of experts: arithmetic and weights by formula, bytes on every communicator, loads by routing, overlap from
// dependencies.
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

#include "workload_cases.h"
#include "workloads/expert_routing.h"
#include "workloads/flops.h"
#include "workloads/kernel_time.h"
#include "workloads/memory.h"
#include "workloads/stage_shape.h"

namespace traingraph::workloads {
namespace {

using sim::TemplateId;
using test::build_step;
using test::error_of;
using test::network_use;

/// 8 layers of hidden 256; the first is dense, the others have 8 experts of 512, of which 2 are used.
ModelSpec tiny_moe() {
  ModelSpec m = test::tiny_gpt();
  m.gated = true;
  m.bias = false;
  m.tied_embeddings = false;
  m.moe = {.experts = 8, .experts_per_token = 2, .ffn = 512, .shared_ffn = 384, .dense_layers = 1, .every = 1};
  return m;
}

TransformerSpec step_of(std::uint32_t tp, std::uint32_t pp, std::uint32_t dp, std::uint32_t ep) {
  TransformerSpec s = test::step_of(tiny_moe(), tp, pp, dp, 2, 4);
  s.parallel.ep = ep;
  s.parallel.sequence_parallel = tp > 1;
  return s;
}

// Mixtral 8x7B: the released checkpoint has 46,702,792,704 weights, of which a token passes 12.88 billion.
TEST(Moe, MixtralHasThePublishedWeights) {
  ModelSpec m;
  m.layers = 32;
  m.hidden = 4096;
  m.heads = 32;
  m.kv_heads = 8;
  m.ffn = 14336;
  m.vocabulary = 32000;
  m.sequence = 4096;
  m.gated = true;
  m.bias = false;
  m.tied_embeddings = false;
  m.norm = Norm::rmsnorm;
  m.position = Position::rotary;
  m.moe = {.experts = 8, .experts_per_token = 2, .ffn = 14336};
  EXPECT_EQ(parameter_count(m), 46'702'792'704ULL);
  EXPECT_NEAR(static_cast<double>(active_parameter_count(m)), 12.88e9, 0.01e9);
}

TEST(Moe, LayersWithExpertsFollowThePattern) {
  ModelSpec m = tiny_moe();
  const auto layers = [&] {
    std::string s;
    for (std::uint32_t l = 0; l < m.layers; ++l) s += m.is_moe_layer(l) ? 'E' : 'd';
    return s;
  };
  EXPECT_EQ(layers(), "dEEEEEEE");
  EXPECT_EQ(m.moe_layers(), 7U);
  m.moe.dense_layers = 0;
  m.moe.every = 2;
  EXPECT_EQ(layers(), "dEdEdEdE");
  EXPECT_EQ(m.moe_layers(), 4U);
}

// Weights of all ranks: dense ones on every replica, each expert on DP/EP ranks.
TEST(Moe, EveryExpertIsOnItsCopies) {
  for (const std::uint32_t ep : {1U, 2U, 4U}) {
    const TransformerSpec s = step_of(1, 1, 4, ep);
    const KernelModel model{test::round_gpu(), s.precision};
    const StageParameters p = stage_parameters(LayerKernels{s, model}, stage_shapes(s)[0]);
    EXPECT_EQ(p.experts * ep, 7.0 * 8 * 3 * 256 * 512);
    EXPECT_EQ(p.dense + p.experts * ep, static_cast<double>(parameter_count(s.model)));  // the vocabulary needs no padding
  }
}

// Executed arithmetic over all ranks is the convention's, whatever the experts' load: tokens are neither lost nor copied.
TEST(Moe, ExecutedArithmeticIsTheConvention) {
  for (const RoutingDistribution d : {RoutingDistribution::uniform, RoutingDistribution::zipf}) {
    for (const std::uint32_t tp : {1U, 2U}) {
      TransformerSpec s = step_of(tp, 2, 4, 4);
      s.routing.distribution = d;
      s.recompute = Recompute::full;
      const Workload w = build_step(s);
      w.program.check();
      double sum = 0;
      for (const sim::Rank& rank : w.program.ranks) sum += w.roles[rank.role].flop.count();
      // The router runs on each TP rank's own tokens, so it is counted once.
      EXPECT_NEAR(sum / w.hardware_flop_per_step.count(), 1, 1e-9) << tp;
    }
  }
}

// Bytes of one micro-batch and MoE layer: n·K·h·w in each of four all-to-alls (÷ TP with sequence parallelism).
TEST(Moe, BytesOfDispatchAndCombine) {
  for (const std::uint32_t tp : {1U, 2U}) {
    auto use = network_use(build_step(step_of(tp, 1, 4, 4)).program, TemplateId{0});
    const double buffer = 2.0 * 128 * 2 * 256 * 2;
    for (const char* name : {"expert_dispatch", "expert_combine", "expert_combine_backward", "expert_dispatch_backward"}) {
      EXPECT_EQ(use[name].count, 4U * 7) << name;
      EXPECT_EQ(use[name].bytes, 4 * 7 * buffer / tp) << name;
    }
    EXPECT_EQ(use["expert_all_gather"].bytes, tp == 1 ? 0 : 4 * 7 * buffer);
  }
}

// Dense gradients over DP, experts' over the DP/EP copies; nothing where there is one copy.
TEST(Moe, GradientsOfExpertsAreReducedOverTheirCopies) {
  for (const std::uint32_t ep : {2U, 4U}) {
    for (const std::uint32_t zero : {0U, 1U}) {
      TransformerSpec s = step_of(1, 1, 4, ep);
      s.parallel.zero_stage = zero;
      const Workload w = build_step(s, 2);
      w.program.check();
      auto use = network_use(w.program, TemplateId{0});
      const KernelModel model{test::round_gpu(), s.precision};
      const StageParameters p = stage_parameters(LayerKernels{s, model}, stage_shapes(s)[0]);
      const std::string call = zero == 0 ? "gradient_all_reduce" : "gradient_reduce_scatter";
      EXPECT_EQ(use[call].bytes, p.dense * 4);
      EXPECT_EQ(use["expert_" + call].bytes, ep == 4 ? 0 : p.experts * 4);
      EXPECT_EQ(use["expert_parameter_all_gather"].bytes, ep == 4 || zero == 0 ? 0 : p.experts * 2);
      std::map<std::string, std::vector<std::uint32_t>> groups;
      for (const auto& c : w.program.communicators) {
        for (const sim::RankId r : c.members) groups[c.name].push_back(index(r));
      }
      if (ep == 2) {
        EXPECT_EQ(groups["ep[1]"], (std::vector<std::uint32_t>{2, 3}));
        EXPECT_EQ(groups["edp[1]"], (std::vector<std::uint32_t>{1, 3}));
      }
      EXPECT_EQ(test::run_free(w.program).step_time(), w.roles[TemplateId{0}].kernels);
    }
  }
}

// Optimizer states of ZeRO-1: dense ÷ DP, experts ÷ their copies.
TEST(Moe, MemoryOfStatesAndActivations) {
  TransformerSpec s = step_of(1, 1, 4, 2);
  s.parallel.zero_stage = 1;
  s.attention = Attention::flash;
  const KernelModel model{test::round_gpu(), s.precision};
  const LayerKernels kernels{s, model};
  const StageParameters p = stage_parameters(kernels, stage_shapes(s)[0]);
  std::map<std::string, double> terms;
  for (const MemoryTerm& t : memory_terms(s, kernels, stage_shapes(s)[0])) terms[t.name] = t.bytes.count();
  EXPECT_EQ(terms["parameters"], 2 * p.total());
  EXPECT_EQ(terms["optimizer states"], 12 * (p.dense / 4 + p.experts / 2));
  // Per token: 4·2·h + 2h of masks outside; Q, K, V, O 4·2h; (gate, up, product) of 2 experts and the shared ones; 2 hidden
  // states in and 2 out.
  const double moe = 10.0 * 256 + 2 * (4 * 256 + 3 * (2 * 512 + 384) + 4 * 256);
  EXPECT_EQ(stored_activations(s, true).count(), 2 * 128 * moe);
  EXPECT_EQ(terms["activations"], stored_activations(s).count() + 7 * stored_activations(s, true).count());
}

// Shares of a layer sum to 1, and every token that is sent is received.
TEST(Moe, RoutingConservesTokens) {
  TransformerSpec s = step_of(1, 1, 4, 4);
  for (const RoutingDistribution d :
       {RoutingDistribution::uniform, RoutingDistribution::zipf, RoutingDistribution::measured}) {
    s.routing.distribution = d;
    s.routing.histogram = {1, 2, 3, 4, 5, 6, 7, 0};
    ExpertRouting routing{s, 2};
    for (const std::uint32_t layer : {1U, 5U}) {
      const std::vector<double> shares = routing.shares(layer);
      EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-12);
      double received = 0;
      for (std::uint32_t e = 0; e < 4; ++e) received += routing.load(layer, e).received_tokens();
      EXPECT_NEAR(received, 4.0 * 2 * 128 * 2, 1e-9);
      const ExpertLoad load = routing.load(layer, 0);
      if (load.dispatch == nullptr) continue;
      EXPECT_EQ(load.dispatch, routing.load(layer, 3).dispatch);  // one matrix for all ranks
      std::map<std::uint32_t, double> in, out;
      for (std::uint32_t i = 0; i < 4; ++i) {
        for (const BytesToMember& to : (*load.dispatch)[i]) in[to.destination] += to.bytes.count();
        for (const BytesToMember& to : (*load.combine)[i]) out[i] += to.bytes.count();
      }
      for (std::uint32_t e = 0; e < 4; ++e) {
        // Three quarters of what its experts get comes from elsewhere, and goes back.
        EXPECT_NEAR(in[e], 0.75 * routing.load(layer, e).received_tokens() * 256 * 2, 1e-6);
        EXPECT_NEAR(out[e], in[e], 1e-6);
      }
    }
  }
}

// Zipf: the same shares in another order in each layer, the same for the same seed.
TEST(Moe, ZipfIsDrawnForEachLayer) {
  TransformerSpec s = step_of(1, 1, 4, 4);
  s.routing.distribution = RoutingDistribution::zipf;
  ExpertRouting routing{s, 2};
  std::set<std::vector<double>> orders;
  for (std::uint32_t layer = 0; layer < 8; ++layer) {
    std::vector<double> shares = routing.shares(layer);
    orders.insert(shares);
    std::sort(shares.rbegin(), shares.rend());
    for (std::uint32_t k = 0; k < 8; ++k) EXPECT_NEAR(shares[k], shares[0] / (k + 1), 1e-12);
  }
  EXPECT_GT(orders.size(), 6U);
  EXPECT_EQ(routing.shares(3), (ExpertRouting{s, 2}.shares(3)));
  const std::vector<double> first = routing.shares(3);
  s.routing.seed = 2;
  EXPECT_NE(routing.shares(3), first);
}

sim::Duration time_of(const TransformerSpec& s) {
  const std::uint32_t gpus = s.parallel.tp * s.parallel.pp * s.parallel.dp;
  const test::StarRouter star{gpus, 20e9, sim::Duration::us(1)};
  return sim::simulate(star.links(), star, build_step(s, 2).program, {}).step_time();
}

// Uneven experts make everybody wait for the fullest; padding to a capacity costs its factor.
TEST(Moe, UnevenExpertsCostTime) {
  TransformerSpec s = step_of(1, 2, 4, 4);
  s.micro_batch = 16;
  s.global_batch *= 8;
  const sim::Duration even = time_of(s);
  s.routing.distribution = RoutingDistribution::zipf;
  const sim::Duration uneven = time_of(s);
  EXPECT_GT(uneven, even);
  s.routing.zipf_exponent = 2;
  EXPECT_GT(time_of(s), uneven);
  s.routing = {};
  s.routing.capacity_factor = 2;
  EXPECT_GT(time_of(s), even);
  auto use = network_use(build_step(s).program, TemplateId{0});
  s.routing = {};
  EXPECT_EQ(use["expert_dispatch"].bytes, 2 * network_use(build_step(s).program, TemplateId{0})["expert_dispatch"].bytes);
}

// Shared experts hide dispatch and combine: less time for the same bytes and kernels.
TEST(Moe, SharedExpertsRunBesideDispatchAndCombine) {
  for (const std::uint32_t tp : {1U, 2U}) {
    TransformerSpec s = step_of(tp, 1, 4, 4);
    s.micro_batch = 16;
    s.global_batch *= 8;
    const sim::Duration apart = time_of(s);
    s.routing.overlap_shared_experts = true;
    EXPECT_LT(time_of(s), apart) << tp;
  }
}

// Node-limited routing over 4 domains of 2: a token crosses the network once for each of 2 domains instead of once for each
// of 4 experts, and is then handed on inside the domain.
TEST(Moe, NodeLimitedRoutingCrossesTheNetworkOncePerNode) {
  TransformerSpec s = step_of(1, 1, 8, 8);
  s.model.moe.experts_per_token = 4;
  s.routing.node_limit = 2;
  const auto make = [&] { return build(test::workload_of(s), test::round_gpu(), regular_cluster(8, 2)); };
  const Workload w = make();
  w.program.check();
  auto use = network_use(w.program, TemplateId{0});
  const double token = 256 * 2, tokens = 2 * 128;
  for (const char* name : {"expert_dispatch", "expert_combine", "expert_combine_backward", "expert_dispatch_backward"}) {
    EXPECT_EQ(use[std::string{name} + "_to_nodes"].bytes, 4 * 7 * tokens * 2 * token) << name;
    EXPECT_EQ(use[std::string{name} + "_in_node"].bytes, 4 * 7 * tokens * 4 * token) << name;
    EXPECT_EQ(use.count(name), 0U);
  }
  std::map<std::string, std::vector<std::uint32_t>> groups;
  for (const auto& c : w.program.communicators) {
    for (const sim::RankId r : c.members) groups[c.name].push_back(index(r));
  }
  EXPECT_EQ(groups["ep_rail[1]"], (std::vector<std::uint32_t>{1, 3, 5, 7}));
  EXPECT_EQ(groups["ep_node[1]"], (std::vector<std::uint32_t>{2, 3}));
  s.routing.node_limit = 4;
  EXPECT_EQ(error_of(make), "routing: node_limit 4 is no limit: an expert-parallel group spans 4 domains");
  s.routing.node_limit = 5;
  EXPECT_EQ(error_of(make), "routing: node_limit needs ep above 1 and is at most experts_per_token, 4");
  s.routing.node_limit = 2;
  EXPECT_EQ(
      error_of([&] { return build(test::workload_of(s), test::round_gpu(), regular_cluster(8, 8)); }),
      "routing: node_limit needs expert-parallel groups that span scale-up domains, with equally many consecutive members "
      "in each");
}

// Products of equal experts in one kernel are one batched product; of unequal ones they fill the same waves together.
TEST(Moe, GroupedProducts) {
  HardwareSpec h = test::round_gpu();
  h.gemm_tiles = {{128, 128}, {64, 64}};
  const std::vector<GemmShape> equal(4, GemmShape{.m = 512, .n = 1024, .k = 256});
  EXPECT_EQ(tiled_flop(h, equal), tiled_flop(h, GemmShape{.m = 512, .n = 1024, .k = 256, .batch = 4}));
  const KernelModel model{h, Precision::fp16};
  // 13 and 87 tiles of 64 x 64 and depth 256 are one wave of 100 SMs.
  const std::vector<GemmShape> unequal{
      {.m = 64, .n = 832, .k = 256}, {.m = 64, .n = 5568, .k = 256}, {.m = 0, .n = 64, .k = 256}};
  EXPECT_EQ(tiled_flop(h, {unequal[0], unequal[1]}), 100 * 2.0 * 64 * 64 * 256);
  EXPECT_EQ(model.grouped_gemm("g", unequal, true).flop.count(), 2.0 * 64 * 6400 * 256);
  EXPECT_EQ(model.grouped_gemm("g", {}, true).flop.count(), 0);
}

// Expert parallelism goes with every schedule and with recomputation; ranks agree on the order of all calls.
TEST(Moe, RunsWithEverySchedule) {
  for (const ScheduleKind kind :
       {ScheduleKind::one_f_one_b, ScheduleKind::gpipe, ScheduleKind::zb_h1, ScheduleKind::zb_v, ScheduleKind::dualpipe}) {
    for (const RoutingDistribution d : {RoutingDistribution::uniform, RoutingDistribution::zipf}) {
      TransformerSpec s = step_of(1, 2, 4, 2);
      s.parallel.schedule = kind;
      s.parallel.zero_stage = 1;
      s.recompute = Recompute::full;
      s.routing.distribution = d;
      const Workload w = build_step(s, 2);
      w.program.check();
      EXPECT_EQ(w.program.templates.size(), d == RoutingDistribution::uniform ? 2U : 4U);
      EXPECT_GT(test::run_free(w.program).step_time(), sim::Duration{});
    }
  }
}

TEST(Moe, WhatDoesNotFitIsNamed) {
  const auto message = [](auto&& change) {
    TransformerSpec s = step_of(1, 1, 4, 4);
    change(s);
    return error_of([&] { return build_step(s); });
  };
  EXPECT_EQ(message([](auto&) {}), "");
  EXPECT_EQ(message([](auto& s) { s.parallel.ep = 3; }),
            "ep 3 does not divide dp 4: expert-parallel groups are parts of data-parallel ones");
  EXPECT_EQ(message([](auto& s) { s.model.moe.experts = 6; }), "ep 4 does not divide the model's 6 experts");
  EXPECT_EQ(message([](auto& s) { s.model.moe = {}; }), "ep needs a model with experts");
  EXPECT_EQ(message([](auto& s) { s.parallel.zero_stage = 3; }),
            "zero_stage 3 and shard_group are not built for models with experts");
  EXPECT_EQ(message([](auto& s) {
              s.parallel.tp = 2;
              s.parallel.dp = 4;
            }),
            "sequence_parallel is needed by experts with tp above 1: otherwise every TP rank would send the same tokens");
  EXPECT_EQ(message([](auto& s) {
              s.routing.distribution = RoutingDistribution::zipf;
              s.routing.capacity_factor = 1.5;
            }),
            "routing: capacity_factor makes all experts equal: distribution zipf would have no effect");
  EXPECT_EQ(message([](auto& s) { s.routing.distribution = RoutingDistribution::measured; }),
            "routing: histogram lists 0 experts, but the model has 8");
  EXPECT_EQ(message([](auto& s) {
              s.model.moe.shared_ffn = 0;
              s.routing.overlap_shared_experts = true;
            }),
            "routing: overlap_shared_experts needs shared experts and ep above 1");
}

}  // namespace
}  // namespace traingraph::workloads
