#include "workloads/memory.h"

#include <gtest/gtest.h>

#include <map>

#include "workload_cases.h"
#include "workloads/kernel_time.h"
#include "workloads/layer_kernels.h"
#include "workloads/stage_shape.h"

namespace traingraph::workloads {
namespace {

TransformerSpec gpt3_layout(std::uint32_t tp) { return test::step_of(test::gpt3(), tp, 8, 16, 2, 96); }

// Korthikanti et al. 2022, table 2, bytes per layer and micro-batch in 16 bits; s = 2048, b = 2, h = 12288, A = 96.
TEST(Memory, ActivationsOfAGptLayer) {
  const double sbh = 2048.0 * 2 * 12288;
  const double scores = 5.0 * 96 * 2048 / 12288;
  EXPECT_DOUBLE_EQ(stored_activations(gpt3_layout(1)).count(), sbh * (34 + scores));
  TransformerSpec s = gpt3_layout(8);
  EXPECT_DOUBLE_EQ(stored_activations(s).count(), sbh * (10 + 24.0 / 8 + scores / 8));
  s.parallel.sequence_parallel = true;
  EXPECT_DOUBLE_EQ(stored_activations(s).count(), sbh / 8 * (34 + scores));
  s.recompute = Recompute::selective;
  EXPECT_DOUBLE_EQ(stored_activations(s).count(), sbh / 8 * 34);
  s.recompute = Recompute::none;
  s.attention = Attention::flash;
  EXPECT_DOUBLE_EQ(stored_activations(s).count(), sbh / 8 * 34);
  s.recompute = Recompute::full;
  EXPECT_DOUBLE_EQ(stored_activations(s).count(), 2 * sbh / 8);
  s.parallel.sequence_parallel = false;
  EXPECT_DOUBLE_EQ(stored_activations(s).count(), 2 * sbh);
}

// Llama's layer without dropout: 8h outside, Q, O: 2·2h, K, V: 2·2·h/16, gate, up and product 3·2·3.25h inside.
TEST(Memory, ActivationsOfAGatedLayerWithGroupedHeads) {
  TransformerSpec s = test::step_of(test::llama405b(), 8, 1, 1, 1, 1);
  s.attention = Attention::flash;
  s.parallel.sequence_parallel = true;
  EXPECT_DOUBLE_EQ(stored_activations(s).count(), 8192.0 * 16384 / 8 * (8 + 4 + 4.0 / 16 + 6 * 3.25));
}

std::map<std::string, double> by_name(const std::vector<MemoryTerm>& terms) {
  std::map<std::string, double> result;
  for (const MemoryTerm& t : terms) result[t.name] = t.bytes.count();
  return result;
}

// 2 + 4 + 12 bytes a parameter, the 12 ÷ DP under ZeRO-1; 1F1B holds P - i micro-batches on stage i, GPipe all.
TEST(Memory, TermsOfAStage) {
  TransformerSpec s = gpt3_layout(8);
  const KernelModel model{test::round_gpu(), s.precision};
  const auto of_stage = [&](std::uint32_t stage) {
    return by_name(memory_terms(s, LayerKernels{s, model}, stage_shapes(s)[stage]));
  };
  const double n = stage_parameters(LayerKernels{s, model}, stage_shapes(s)[2]).total();
  auto terms = of_stage(2);
  EXPECT_EQ(terms["parameters"], 2 * n);
  EXPECT_EQ(terms["gradients"], 4 * n);
  EXPECT_EQ(terms["optimizer states"], 12 * n);
  EXPECT_EQ(terms["activations"], stored_activations(s).count() * 12 * 6);
  EXPECT_EQ(terms.count("logits"), 0U);
  s.parallel.distributed_optimizer = true;
  s.gradient_type = GradientType::same_as_weights;
  s.parallel.schedule = ScheduleKind::gpipe;
  terms = of_stage(2);
  EXPECT_EQ(terms["gradients"], 2 * n);
  EXPECT_EQ(terms["optimizer states"], 12 * n / 16);
  EXPECT_EQ(terms["activations"], stored_activations(s).count() * 12 * 96);
  // Last stage: fp32 logits 4·n·V/t and two 16-bit inputs.
  s.memory_fragmentation = 0.1;
  terms = of_stage(7);
  EXPECT_EQ(terms["logits"], 4096.0 * (4 * 51200 / 8 + 4 * 12288));
  double sum = 0;
  for (const auto& [name, bytes] : terms) sum += bytes;
  EXPECT_NEAR(sum / (sum - terms["fragmentation"]), 1.1, 1e-12);
}

// GPT-3 at TP 1, stage 0: 12(12h² + 13h) + 53248h = 22.40e9 parameters at 18 bytes, 403.19 GB; 8 micro-batches x 12 layers x
// 2sh, 4.83 GB; one layer's sh(34 + 80), 2.87 GB. The error names the terms, the largest first.
TEST(Memory, WhatDoesNotFitIsAnErrorThatNamesTheTerms) {
  TransformerSpec s = test::step_of(test::gpt3(), 1, 8, 1, 1, 8);
  s.check_memory = true;
  s.recompute = Recompute::full;
  const std::string error = test::error_of([&] { return test::build_step(s); });
  EXPECT_EQ(error.substr(0, 75), "out of memory on a GPU of stage 0: 410.89 GB needed, 80.00 GB there (optimi");
  EXPECT_LT(error.find("optimizer states"), error.find("gradients"));
  EXPECT_LT(error.find("gradients"), error.find("parameters"));
  EXPECT_NE(error.find("activations"), std::string::npos);
  s.check_memory = false;
  EXPECT_NO_THROW((void)test::build_step(s));
}

}  // namespace
}  // namespace traingraph::workloads
