// One optimizer step of a run in a given layout: the closed-form step model (a construction in the terms of
// arXiv 2411.01137; the time of a matmul is the authors').
//
// A block is two linear layers; per block and microbatch there are two forward products, two of input gradients of the same
// shapes, and two of weight gradients; nx = E/EP experts per GPU do them one after another:
//   fwd = nx (mm(d1,d2,bx) + mm(d2,d1,bx)),  dw = the same with weight gradients,  comp = 2 fwd + dw
//   d1 = ff/TF,  d2 = d/TM,  bx = B/(DP m) k/E
// Tensor parallelism all-reduces nx bx d1 words over TM and nx bx d2 over TF, in each direction; experts exchange
// b_mb k/EP d2/TF words four times; stages hand over b_mb/EP d2/TF words; gradients are all-reduced once over DP.
//   arith   = m blocks comp
//   net[l]  = m blocks (tensor and expert traffic + stage boundaries) + gradients, busy seconds of level l
//   ser     = one block, forward and backward, of a lone microbatch with all latencies; serial = L ser
//   steady  = max(arith, max_l net[l], serial) with overlap; without, the traffic of the blocks is added to the arithmetic
//   bubble  = (PP-1) chunk ser;  tail = gradients of the last block that nothing hides, and their latency
//   t_step  = steady + bubble + tail;  t_train = t_step D/B;  mfu = C/(G t_train peak);  rel = mfu/eta
// Seconds, bytes and words as doubles; real-valued dimensions. Attention and pointwise work are not modelled.
#pragma once

#include <cstdint>
#include <string_view>

#include "analysis/theory/assumptions.h"
#include "analysis/theory/gpu.h"
#include "analysis/theory/layout.h"
#include "analysis/theory/scaling.h"

namespace traingraph::analysis::theory {

struct StepTimes {
  double forward_s = 0;            ///< fwd, of one block and microbatch
  double weight_gradient_s = 0;    ///< dw
  workloads::MatmulTimes kernels;  ///< summed over the six products of a block and microbatch, without their latency
  double kernel_latency_s = 0;     ///< of the six products
  double block_serial_s = 0;       ///< ser
  double ideal_s = 0;              ///< the step's arithmetic at the sustained rate, on all GPUs alike
  double arithmetic_s = 0;         ///< arith
  PerLevel block_network_s{};      ///< m blocks (tensor, expert and stage traffic)
  PerLevel network_s{};            ///< net
  double gradient_s = 0;           ///< gradients, summed over the levels
  double serial_s = 0;
  double steady_s = 0;
  double bubble_s = 0;
  double tail_s = 0;
  double step_s = 0;
  double train_s = 0;
  double mfu = 0;           ///< of the peak at the maximum clock
  double relative = 0;      ///< rel: of the largest sustained rate
  double memory_bytes = 0;  ///< weights, gradients, optimizer state and activations of one GPU
};

/// Why a layout cannot be, in the order in which it is looked for.
enum class Fault : std::uint8_t { none, pipeline, microbatches, hidden, model, experts, tokens, memory };
/// "more pipeline stages than blocks", ...; "" for none.
[[nodiscard]] std::string_view to_string(Fault fault);

class StepModel {
 public:
  /// `gpu` as recorded; the word size of the assumptions is applied. REQUIRES: 1 to kMaxLevels network levels.
  StepModel(const Gpu& gpu, const Assumptions& assumptions);

  [[nodiscard]] const Gpu& gpu() const { return gpu_; }
  [[nodiscard]] const Assumptions& assumptions() const { return assumptions_; }
  [[nodiscard]] std::size_t levels() const { return gpu_.levels.size(); }

  /// Costs a few hundred operations.
  [[nodiscard]] StepTimes times(const ScaledRun& run, const Degrees& degrees) const;
  [[nodiscard]] Fault fault(const ScaledRun& run, const Degrees& degrees) const;

  /// w (2 n_loc + A) + 12 n_loc/DP: weights and gradients of the GPU's share in words, activations A, optimizer state
  /// (12 bytes a parameter) over the data-parallel ranks.
  [[nodiscard]] double memory_bytes(const ScaledRun& run, const Degrees& degrees) const;
  /// Blocks between two stage boundaries of a pipeline with so many blocks per stage.
  [[nodiscard]] double chunk(double blocks) const;
  /// Longest step that finishes the run in time.
  [[nodiscard]] double step_limit_s(const ScaledRun& run) const { return assumptions_.duration_s / run.steps(); }

 private:
  Gpu gpu_;
  Assumptions assumptions_;
};

}  // namespace traingraph::analysis::theory
