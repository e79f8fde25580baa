#include <gtest/gtest.h>

#include "workload_cases.h"
#include "workloads/flops.h"
#include "workloads/model_spec.h"

namespace traingraph::workloads {
namespace {

using test::error_of;

// Llama-3 405B: the released checkpoint has 405,853,388,800 weights.
TEST(Model, Llama405BHasThePublishedWeightsExactly) { EXPECT_EQ(parameter_count(test::llama405b()), 405'853'388'800ULL); }

// GPT-3: published as 175.0 billion; with the original vocabulary of 50,257 the shape gives 174.6.
TEST(Model, Gpt3HasThePublishedWeightsToHalfAPercent) {
  ModelSpec m = test::gpt3();
  m.vocabulary = 50257;
  EXPECT_NEAR(static_cast<double>(parameter_count(m)), 175.0e9, 0.005 * 175.0e9);
  // Typed by hand: 96 (12h² + 13h) + (50257 + 2048)h + 2h.
  EXPECT_EQ(parameter_count(m), 96ULL * (12ULL * 12288 * 12288 + 13ULL * 12288) + 52305ULL * 12288 + 2ULL * 12288);
}

// BLOOM 176B (model card): 176,247,271,424 weights, those of a norm behind the embedding among them.
TEST(Model, BloomHasThePublishedWeightsExactly) {
  ModelSpec m;
  m.layers = 70;
  m.hidden = 14336;
  m.heads = 112;
  m.ffn = 57344;
  m.vocabulary = 250880;
  m.sequence = 2048;
  m.position = Position::none;
  m.embedding_norm = true;
  EXPECT_EQ(parameter_count(m), 176'247'271'424ULL);
}

// OPT 125M: 125,239,296 weights, with a table of 2,050 positions for 2,048 tokens.
TEST(Model, OptHasTwoMorePositionsThanTokens) {
  ModelSpec m;
  m.layers = 12;
  m.hidden = 768;
  m.heads = 12;
  m.ffn = 3072;
  m.vocabulary = 50272;
  m.sequence = 2048;
  m.position_rows = 2050;
  EXPECT_EQ(parameter_count(m), 125'239'296ULL);
  m.position_rows = 2047;
  EXPECT_EQ(error_of([&] {
              check_model(m);
              return 0;
            }),
            "model: position_rows is 2047; allowed: 2048 or more, one for each token, and only with learned positions");
}

TEST(Model, RefusesShapesThatMakeNoSense) {
  ModelSpec m = test::gpt3();
  m.heads = 100;
  EXPECT_EQ(error_of([&] {
              check_model(m);
              return 0;
            }),
            "model: hidden 12288 is not divisible by 100 heads; state head_size");
  m = test::gpt3();
  m.kv_heads = 7;
  EXPECT_EQ(error_of([&] {
              check_model(m);
              return 0;
            }),
            "model: 96 heads are not divisible by 7 kv_heads");
  m = test::gpt3();
  m.layers = 0;
  EXPECT_EQ(error_of([&] {
              check_model(m);
              return 0;
            }),
            "model: layers must be at least 1");
}

// 72·B·s·n_l·h²·(1 + s/(6h) + V/(12·n_l·h)), and with full recomputation 96·...·(1 + s/(6h) + V/(16·n_l·h)): Narayanan et
// al. 2021.
TEST(Flops, MegatronConventionIsTheirFormulaForTheGptShape) {
  TransformerSpec s = test::step_of(test::gpt3(), 8, 8, 16, 1, 96);
  s.recompute = Recompute::full;
  const double h = 12288, layers = 96, seq = 2048, V = 51200, B = 1536;
  const StepFlop flop = step_flop(s, FlopConvention::megatron);
  EXPECT_NEAR(flop.model.count() / (72 * B * seq * layers * h * h * (1 + seq / (6 * h) + V / (12 * layers * h))), 1, 1e-12);
  EXPECT_NEAR(flop.hardware.count() / (96 * B * seq * layers * h * h * (1 + seq / (6 * h) + V / (16 * layers * h))), 1,
              1e-12);
}

TEST(Flops, PalmConventionIsSixNPlusAttention) {
  TransformerSpec s = test::step_of(test::llama405b(), 8, 1, 1, 1, 4);
  const double per_token = 6 * 405853388800.0 + 12.0 * 126 * 128 * 128 * 8192;
  EXPECT_NEAR(step_flop(s, FlopConvention::palm).model.count() / (4 * 8192 * per_token), 1, 1e-12);
}

// Selective recomputation runs scores and values again: 4·s·A·d per token and layer.
TEST(Flops, SelectiveRecomputationAddsScoresAndValues) {
  TransformerSpec s = test::step_of(test::gpt3(), 8, 8, 16, 1, 96);
  s.recompute = Recompute::selective;
  for (const FlopConvention c : {FlopConvention::megatron, FlopConvention::palm}) {
    const StepFlop flop = step_flop(s, c);
    EXPECT_NEAR((flop.hardware - flop.model).count() / (1536.0 * 2048 * 96 * 4 * 2048 * 12288), 1, 1e-9);
  }
}

}  // namespace
}  // namespace traingraph::workloads
