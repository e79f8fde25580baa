#include <gtest/gtest.h>

#include <cmath>

#include "workload_cases.h"
#include "workloads/kernel_time.h"
#include "workloads/layer_kernels.h"

namespace traingraph::workloads {
namespace {

using test::error_of;

double flop_of(const LayerOps& ops) {
  double sum = 0;
  for (const LayerOp& op : ops) sum += op.kernel.flop.count();
  return sum;
}

// Bytes of all kernels without arithmetic.
double memory_bytes_of(const LayerOps& ops) {
  double sum = 0;
  for (const LayerOp& op : ops) {
    if (op.kind == LayerOp::Kind::kernel && op.kernel.flop.count() == 0) sum += op.kernel.bytes.count();
  }
  return sum;
}

double collective_bytes_of(const LayerOps& ops, CollectiveKind kind) {
  double sum = 0;
  for (const LayerOp& op : ops) {
    if (op.kind == LayerOp::Kind::tp_collective && op.collective == kind) sum += op.bytes.count();
  }
  return sum;
}

// 1024³ product at 100 TFLOP/s: 2·1024³ / 1e14 = 21.47 us; its 6 MiB at 1 TB/s are 6.29 us: arithmetic decides.
TEST(KernelTime, ALargeProductIsArithmetic) {
  const KernelModel model{test::round_gpu(), Precision::bf16};
  const Kernel k = model.gemm("k", {.m = 1024, .n = 1024, .k = 1024});
  EXPECT_FALSE(k.memory_bound);
  EXPECT_EQ(k.bytes.count(), 6.0 * 1024 * 1024);
  EXPECT_EQ(k.duration, sim::Duration::seconds(2.0 * 1024 * 1024 * 1024 / 1e14));
}

// A product with one row moves the whole matrix for 2 FLOP an element: 2 MiB at 1 TB/s, plus 3 us.
TEST(KernelTime, AThinProductIsMemoryBound) {
  HardwareSpec gpu = test::round_gpu();
  gpu.memory_efficiency = 0.5;
  gpu.kernel_overhead = sim::Duration::us(3);
  const KernelModel model{gpu, Precision::bf16};
  const Kernel k = model.gemm("k", {.m = 8, .n = 1024, .k = 1024});
  EXPECT_TRUE(k.memory_bound);
  EXPECT_EQ(k.duration, sim::Duration::seconds(2.0 * (8 * 1024 + 1024 * 1024 + 8 * 1024) / 0.5e12) + sim::Duration::us(3));
}

// A vocabulary shard of 6283 = 50264/8 is not a multiple of 8: a quarter of the rate.
TEST(KernelTime, MisalignedProductsAreSlow) {
  const KernelModel model{test::round_gpu(), Precision::bf16};
  const double good = model.gemm("k", {.m = 4096, .n = 6288, .k = 4096}).duration.in_seconds();
  const double bad = model.gemm("k", {.m = 4096, .n = 6283, .k = 4096}).duration.in_seconds();
  EXPECT_NEAR(bad / good, 4, 1e-6);  // both are 6288 wide after rounding to 16
}

// 100 SMs, tiles of 128 x 128: 1280 x 1280 is exactly one wave; 1281 rows need 110 tiles, two waves.
TEST(KernelTime, TilesComeInWholeWaves) {
  HardwareSpec gpu = test::round_gpu();
  gpu.gemm_tiles = {{128, 128}};
  EXPECT_EQ(tiled_flop(gpu, {.m = 1280, .n = 1280, .k = 512}), 2.0 * 1280 * 1280 * 512);
  EXPECT_EQ(tiled_flop(gpu, {.m = 1281, .n = 1280, .k = 512}), 2 * 2.0 * 1280 * 1280 * 512);
  // A quarter of a wave: the depth is split among four SMs a tile.
  EXPECT_EQ(tiled_flop(gpu, {.m = 640, .n = 640, .k = 512}), 2.0 * 1280 * 1280 * 128);
  // The list's best tile is taken.
  gpu.gemm_tiles.push_back({256, 128});
  EXPECT_EQ(tiled_flop(gpu, {.m = 2560, .n = 1280, .k = 512}), 2.0 * 2560 * 1280 * 512);
}

// Fused attention, forward 4·b·A·s²·d, half when causal, at e_fa of the product rate; backward 2.5 times; below d = 128
// times 0.8.
TEST(KernelTime, FusedAttention) {
  const KernelModel model{test::round_gpu(), Precision::bf16};
  const AttentionShape shape{.batch = 2, .heads = 4, .kv_heads = 4, .sequence = 4096, .head_size = 128, .causal = true};
  const double flop = 4.0 * 2 * 4 * 4096 * 4096 * 128 / 2;
  EXPECT_EQ(model.attention("a", shape, false, 0.5).flop.count(), flop);
  EXPECT_EQ(model.attention("a", shape, true, 0.5).flop.count(), 2.5 * flop);
  EXPECT_EQ(model.attention("a", shape, false, 0.5).duration, sim::Duration::seconds(flop / (0.5e14)));
  AttentionShape small = shape;
  small.head_size = 64;
  EXPECT_EQ(model.attention("a", small, false, 0.5).duration, sim::Duration::seconds(flop / 2 / (0.4e14)));
}

TEST(KernelTime, HardwareThatCannotIsNamed) {
  HardwareSpec gpu = test::round_gpu();
  EXPECT_EQ(error_of([&] {
              return KernelModel{gpu, Precision::tf32};
            }),
            "hardware 'round' has no peak for precision tf32; it has: fp32, fp16, bf16");
  gpu.matmul_efficiency = 1.5;
  EXPECT_EQ(error_of([&] {
              return KernelModel{gpu, Precision::bf16};
            }),
            "hardware 'round': matmul_efficiency is 1.5; allowed: above 0, at most 1");
  gpu = test::round_gpu();
  gpu.flash_attention_efficiency.reset();
  TransformerSpec s = test::step_of(test::tiny_gpt(), 1, 1, 1, 1, 1);
  s.attention = Attention::flash;
  EXPECT_EQ(error_of([&] { return test::build_step(s, 1, gpu); }),
            "hardware 'round' states no efficiency for attention 'flash'");
}

// GPT-3, TP 8: a layer's forward is 24h² + 4sh FLOP per token (÷ 8), its backward twice that, the head 2hV.
TEST(LayerKernels, ArithmeticIsTheClosedFormExactly) {
  const TransformerSpec s = test::step_of(test::gpt3(), 8, 8, 1, 1, 8);
  const KernelModel model{test::round_gpu(), s.precision};
  const LayerKernels kernels{s, model};
  const double h = 12288;
  const double layer = 2048 * (24 * h * h + 4 * 2048 * h) / 8;
  const double head = 2048 * 2 * h * 51200 / 8;
  EXPECT_NEAR(flop_of(kernels.layer_forward()) / layer, 1, 1e-14);
  EXPECT_NEAR(flop_of(kernels.layer_backward()) / (2 * layer), 1, 1e-14);
  EXPECT_NEAR(flop_of(kernels.head_forward()) / head, 1, 1e-14);
  EXPECT_NEAR(flop_of(kernels.head_backward()) / (2 * head), 1, 1e-14);
}

// The bytes counted on Megatron-LM, in fp16 (w = 2, fp32 gradients): n tokens, H = h/t etc.
TEST(LayerKernels, MemoryTrafficOfAGptLayer) {
  TransformerSpec s = test::step_of(test::gpt3(), 8, 8, 1, 1, 8);
  const KernelModel model{test::round_gpu(), s.precision};
  const double n = 2048, h = 12288, f = 49152.0 / 8, Ad = 12288.0 / 8, S = 96.0 / 8 * 2048 * 2048;
  const double parameters = 12 * h * h / 8;
  const double inside_forward = 4 * n * f + 4 * n * Ad + 3 * S + 5 * S;
  const double inside_backward = (6 + 2) * n * f + 12 * n * Ad + 6 * S + 5 * S + 10 * parameters;
  EXPECT_NEAR(memory_bytes_of(LayerKernels{s, model}.layer_forward()) / (2 * (4 + 7) * n * h + inside_forward), 1, 1e-14);
  EXPECT_NEAR(memory_bytes_of(LayerKernels{s, model}.layer_backward()) / (2 * (10 + 13) * n * h + inside_backward), 1,
              1e-14);
  // Sequence parallelism divides the nh terms by t and nothing else.
  s.parallel.sequence_parallel = true;
  EXPECT_NEAR(memory_bytes_of(LayerKernels{s, model}.layer_forward()) / (2 * (4 + 7) * n * h / 8 + inside_forward), 1,
              1e-14);
  EXPECT_NEAR(memory_bytes_of(LayerKernels{s, model}.layer_backward()) / (2 * (10 + 13) * n * h / 8 + inside_backward), 1,
              1e-14);
}

// Accumulation fused into the product: its 10 bytes per parameter go, the product writes and reads the fp32 gradient
// instead.
TEST(LayerKernels, FusedGradientAccumulation) {
  TransformerSpec s = test::step_of(test::gpt3(), 8, 8, 1, 1, 8);
  const KernelModel model{test::round_gpu(), s.precision};
  const double before = memory_bytes_of(LayerKernels{s, model}.layer_backward());
  s.software.gradient_accumulation_fusion = true;
  const double after = memory_bytes_of(LayerKernels{s, model}.layer_backward());
  EXPECT_NEAR((before - after) / (10 * 12 * 12288.0 * 12288 / 8), 1, 1e-9);
}

// Sequences beyond 2048, or heads x micro-batch not divisible by 4, take the slow softmax: 25 bytes an element instead of 3
// and 6.
TEST(LayerKernels, LongSequencesTakeTheSlowSoftmax) {
  TransformerSpec s = test::step_of(test::gpt3(), 8, 8, 1, 1, 8);
  const KernelModel model{test::round_gpu(), s.precision};
  const double fused = memory_bytes_of(LayerKernels{s, model}.layer_forward());
  s.software.fused_softmax_max_sequence = 1024;
  const double slow = memory_bytes_of(LayerKernels{s, model}.layer_forward());
  const double S = 96.0 / 8 * 2048 * 2048;
  EXPECT_NEAR((slow - fused) / (22 * S), 1, 1e-12);
  s.software.fused_softmax_max_sequence = 2048;
  s.software.fused_softmax_multiple = 5;  // 12 heads a rank
  EXPECT_NEAR(memory_bytes_of(LayerKernels{s, model}.layer_forward()), slow, 1);
}

// Without SP two all-reduces of n·h·w each way; with SP two all-gathers and two reduce-scatters, and two more all-gathers
// backward.
TEST(LayerKernels, TensorParallelVolume) {
  TransformerSpec s = test::step_of(test::llama405b(), 8, 1, 1, 1, 1);
  s.attention = Attention::flash;
  const KernelModel model{test::round_gpu(), s.precision};
  const double buffer = 8192.0 * 16384 * 2;
  using K = CollectiveKind;
  const LayerKernels plain{s, model};
  EXPECT_EQ(collective_bytes_of(plain.layer_forward(), K::all_reduce), 2 * buffer);
  EXPECT_EQ(collective_bytes_of(plain.layer_backward(), K::all_reduce), 2 * buffer);
  EXPECT_EQ(collective_bytes_of(plain.layer_backward(), K::all_gather), 0);
  s.parallel.sequence_parallel = true;
  const LayerKernels sp{s, model};
  EXPECT_EQ(collective_bytes_of(sp.layer_forward(), K::all_reduce), 0);
  EXPECT_EQ(collective_bytes_of(sp.layer_forward(), K::all_gather), 2 * buffer);
  EXPECT_EQ(collective_bytes_of(sp.layer_forward(), K::reduce_scatter), 2 * buffer);
  EXPECT_EQ(collective_bytes_of(sp.layer_backward(), K::all_gather), 4 * buffer);
  EXPECT_EQ(collective_bytes_of(sp.layer_backward(), K::reduce_scatter), 2 * buffer);
  // Three reductions of one fp32 number per token in the vocabulary-parallel loss.
  EXPECT_EQ(collective_bytes_of(plain.head_forward(), K::all_reduce), 3 * 8192.0 * 4);
}

// Full recomputation is the forward again, collectives included; selective is the core attention only.
TEST(LayerKernels, Recomputation) {
  TransformerSpec s = test::step_of(test::gpt3(), 8, 8, 1, 1, 8);
  const KernelModel model{test::round_gpu(), s.precision};
  EXPECT_TRUE(LayerKernels(s, model).recompute(LayerKernels(s, model).layer_forward()).empty());
  s.recompute = Recompute::full;
  const LayerKernels full{s, model};
  EXPECT_EQ(flop_of(full.recompute(full.layer_forward())), flop_of(full.layer_forward()));
  EXPECT_EQ(kernel_time(full.recompute(full.layer_forward())), kernel_time(full.layer_forward()));
  EXPECT_EQ(collective_bytes_of(full.recompute(full.layer_forward()), CollectiveKind::all_reduce),
            collective_bytes_of(full.layer_forward(), CollectiveKind::all_reduce));
  s.recompute = Recompute::selective;
  const LayerKernels selective{s, model};
  EXPECT_NEAR(flop_of(selective.recompute(selective.layer_forward())) / (4.0 * 2048 * 2048 * 12288 / 8), 1, 1e-14);
  EXPECT_EQ(collective_bytes_of(selective.recompute(selective.layer_forward()), CollectiveKind::all_reduce), 0);
}

// What backward marks as finished is what the rank holds, in every variant.
TEST(LayerKernels, GradientsFinishedAreParametersHeld) {
  for (const bool gated : {false, true}) {
    for (const bool tied : {false, true}) {
      for (const bool fused : {false, true}) {
        for (const std::uint32_t pp : {1U, 2U}) {
          TransformerSpec s = test::step_of(test::tiny_gpt(), 2, pp, 2, 1, 2);
          s.model.gated = gated;
          s.model.bias = !gated;
          s.model.tied_embeddings = tied;
          s.software.gradient_accumulation_fusion = fused;
          const KernelModel model{test::round_gpu(), s.precision};
          const LayerKernels k{s, model};
          const auto finished = [](const LayerOps& ops) {
            double sum = 0;
            for (const LayerOp& op : ops) sum += op.gradient_elements;
            return sum;
          };
          EXPECT_EQ(finished(k.layer_backward()), k.layer_parameters());
          EXPECT_EQ(finished(k.embedding_backward()), k.embedding_parameters());
          EXPECT_EQ(finished(k.head_backward()), k.head_parameters());
        }
      }
    }
  }
}

// With TP 1 the parts of one rank are the model's published parameter count.
TEST(LayerKernels, ParametersOfOneRankAddUpToTheModel) {
  for (const ModelSpec& m : {test::gpt3(), test::llama405b()}) {
    TransformerSpec s = test::step_of(m, 1, 1, 1, 1, 1);
    s.vocabulary_multiple = 1;
    const KernelModel model{test::round_gpu(), s.precision};
    const LayerKernels k{s, model};
    EXPECT_EQ(m.layers * k.layer_parameters() + k.embedding_parameters() + k.head_parameters(),
              static_cast<double>(parameter_count(m)));
  }
}

// 50257 padded to a multiple of 128·8 is 51200; to the least that 8 divides, 50264.
TEST(LayerKernels, VocabularyIsPadded) {
  TransformerSpec s = test::step_of(test::gpt3(), 8, 8, 1, 1, 8);
  s.model.vocabulary = 50257;
  EXPECT_EQ(padded_vocabulary(s), 51200U);
  s.vocabulary_multiple = 1;
  EXPECT_EQ(padded_vocabulary(s), 50264U);
}

}  // namespace
}  // namespace traingraph::workloads
