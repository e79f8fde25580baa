// fp8 training: products of linear layers at the fp8 rate with one-byte operands and a quantization pass for each input; all
// else as in bf16.
#include <gtest/gtest.h>

#include <map>

#include "workload_cases.h"
#include "workloads/kernel_time.h"
#include "workloads/layer_kernels.h"
#include "workloads/memory.h"

namespace traingraph::workloads {
namespace {

HardwareSpec fp8_gpu() {
  HardwareSpec h = test::round_gpu();
  h.peaks[Precision::fp8] = sim::FlopRate::flop_per_s(200e12);
  return h;
}

TransformerSpec step_of(Precision precision) {
  TransformerSpec s = test::step_of(test::gpt3(), 8, 1, 1, 1, 1);
  s.precision = precision;
  return s;
}

std::map<std::string, Kernel> kernels_of(const LayerOps& ops) {
  std::map<std::string, Kernel> result;
  for (const LayerOp& op : ops) {
    if (op.kind == LayerOp::Kind::kernel) result[op.kernel.name] = op.kernel;
  }
  return result;
}

TEST(Fp8, LinearLayersRunAtItsRateAndTheRestDoesNot) {
  const TransformerSpec narrow = step_of(Precision::fp8), wide = step_of(Precision::bf16);
  const KernelModel narrow_model{fp8_gpu(), Precision::fp8}, wide_model{fp8_gpu(), Precision::bf16};
  const LayerKernels a{narrow, narrow_model}, b{wide, wide_model};
  auto fast = kernels_of(a.layer_forward()), slow = kernels_of(b.layer_forward());
  for (const char* name : {"qkv", "attention_output", "mlp_up", "mlp_down"}) {
    EXPECT_NEAR(fast[name].duration.in_seconds() * 2, slow[name].duration.in_seconds(), 2e-12) << name;  // whole picoseconds
    EXPECT_EQ(fast[name].flop, slow[name].flop) << name;
  }
  for (const char* name : {"attention_scores", "attention_values", "input_norm", "gelu"}) {
    EXPECT_EQ(fast[name].duration, slow[name].duration) << name;
    EXPECT_EQ(fast[name].bytes, slow[name].bytes) << name;
  }
  fast = kernels_of(a.head_forward());
  slow = kernels_of(b.head_forward());
  EXPECT_EQ(fast["logits"].duration, slow["logits"].duration);
}

// 3 bytes per element: n·h for QKV and MLP up, n·Ad/t for the output, n·f/t for MLP down; as many gradients backward.
TEST(Fp8, EveryInputAndGradientIsQuantizedOnce) {
  const TransformerSpec s = step_of(Precision::fp8);
  const KernelModel model{fp8_gpu(), Precision::fp8};
  const LayerKernels kernels{s, model};
  const auto quantized = [](const LayerOps& ops) {
    double bytes = 0;
    for (const auto& [name, kernel] : kernels_of(ops)) {
      if (name.ends_with("_quantize")) bytes += kernel.bytes.count();
    }
    return bytes;
  };
  const double n = 2048, h = 12288;
  EXPECT_EQ(quantized(kernels.layer_forward()), 3 * n * (2 * h + h / 8 + 4 * h / 8));
  EXPECT_EQ(quantized(kernels.layer_backward()), 3 * n * (2 * h + 3 * h / 8 + 4 * h / 8));
  const KernelModel wide{fp8_gpu(), Precision::bf16};
  const TransformerSpec b = step_of(Precision::bf16);
  EXPECT_EQ(quantized(LayerKernels(b, wide).layer_forward()), 0);
}

TEST(Fp8, WhatIsStoredAndSentStaysSixteenBit) {
  const TransformerSpec s = step_of(Precision::fp8);
  EXPECT_EQ(stored_activations(s), stored_activations(step_of(Precision::bf16)));
  const Workload w = test::build_step(s, 1, fp8_gpu());
  EXPECT_EQ(test::network_use(w.program, sim::TemplateId{0})["mlp_down_all_reduce"].bytes, 96 * 2048.0 * 12288 * 2);
  EXPECT_EQ(w.peak_per_gpu.flop_per_s(), 200e12);
}

TEST(Fp8, NeedsBothPeaks) {
  HardwareSpec h = fp8_gpu();
  h.peaks.erase(Precision::bf16);
  EXPECT_EQ(test::error_of([&] {
              return KernelModel{h, Precision::fp8};
            }),
            "hardware 'round' has no peak for precision bf16; it has: fp32, fp16, fp8");
}

}  // namespace
}  // namespace traingraph::workloads
