// Recomputation of some layers only: kernels, memory and FLOP lie between none and all, by the number of layers.
#include <gtest/gtest.h>

#include <algorithm>

#include "workload_cases.h"
#include "workloads/flops.h"
#include "workloads/kernel_time.h"
#include "workloads/memory.h"
#include "workloads/stage_shape.h"

namespace traingraph::workloads {
namespace {

using sim::TemplateId;

TransformerSpec step_of(std::optional<std::uint32_t> layers, Recompute recompute = Recompute::full) {
  TransformerSpec s = test::step_of(test::tiny_gpt(), 1, 2, 1, 1, 4);  // 4 layers a stage
  s.recompute = recompute;
  s.recompute_layers = layers;
  return s;
}

double activations_of(const TransformerSpec& s) {
  const KernelModel model{test::round_gpu(), s.precision};
  for (const MemoryTerm& t : memory_terms(s, LayerKernels{s, model}, stage_shapes(s)[0])) {
    if (t.name == "activations") return t.bytes.count();
  }
  return 0;
}

TEST(Recompute, KernelsGrowWithTheLayers) {
  for (const Recompute kind : {Recompute::selective, Recompute::full}) {
    const auto kernels = [&](std::uint32_t layers) {
      return test::build_step(step_of(layers, kind)).roles[TemplateId{0}].kernels.count_ps();
    };
    const std::int64_t none = test::build_step(step_of({}, Recompute::none)).roles[TemplateId{0}].kernels.count_ps();
    const std::int64_t all = test::build_step(step_of({}, kind)).roles[TemplateId{0}].kernels.count_ps();
    for (std::uint32_t layers = 0; layers < 4; ++layers) EXPECT_EQ(4 * (kernels(layers) - none), (all - none) * layers);
  }
}

TEST(Recompute, MemoryAndFlopAreInBetween) {
  const double none = activations_of(step_of({}, Recompute::none));
  const double all = activations_of(step_of({}));
  EXPECT_LT(all, none);
  for (std::uint32_t layers = 0; layers < 4; ++layers) {
    EXPECT_NEAR(activations_of(step_of(layers)), none + (all - none) * layers / 4, 1e-6);
    const StepFlop flop = step_flop(step_of(layers), FlopConvention::megatron);
    const StepFlop full = step_flop(step_of({}), FlopConvention::megatron);
    EXPECT_NEAR((flop.hardware - flop.model) / (full.hardware - full.model), layers / 4.0, 1e-12);
  }
}

// The first layers of each chunk: of two chunks of two layers, layers 0 and 4 on the first stage.
TEST(Recompute, TheFirstLayersOfEachChunk) {
  TransformerSpec s = step_of(1);
  s.parallel.virtual_stages = 2;
  const Workload w = test::build_step(s);
  std::vector<std::int32_t> layers;
  for (const sim::Op& op : w.program.templates[TemplateId{0}].ops) {
    if (w.program.labels[op.label].name == "recompute_qkv" && op.microbatch == 0) layers.push_back(op.layer);
  }
  std::sort(layers.begin(), layers.end());
  EXPECT_EQ(layers, (std::vector<std::int32_t>{0, 4}));
}

TEST(Recompute, WhatHasNoEffectIsRefused) {
  EXPECT_EQ(test::error_of([] { return test::build_step(step_of(2, Recompute::none)); }),
            "recompute_layers needs recompute selective or full");
  EXPECT_EQ(test::error_of([] { return test::build_step(step_of(4)); }),
            "recompute_layers is 4; allowed: less than the 4 layers of a chunk");
}

}  // namespace
}  // namespace traingraph::workloads
