// What one GPU of a pipeline stage must hold, by named terms.
//
//   parameters        w bytes each; ÷ shards with ZeRO-3 (sharding.h; Rajbhandari et al. 2020, sections 3 and 5)
//   gradients         g bytes each; ÷ shards with ZeRO-2 and 3, reduced after each micro-batch
//   optimizer states  Adam: 12 bytes a parameter with 16-bit weights (fp32 master copy, two moments), 8 with fp32; ÷ shards
//                     with ZeRO-1 (the distributed optimizer), 2 and 3
//   gathered parameters  ZeRO-3: the largest run of 1 + prefetch_layers units in w bytes each; without reshard_after_forward
//   all gradient buckets  ZeRO-2 and 3: the gradients that wait for their reduction, one bucket or unit of them activations
//   what the backward of a layer needs, times the stage's layers, times the micro-batches in flight (1F1B:
//                     min(M, P - stage); GPipe: M; the others: counted along the stage's passes), plus what is kept for
//                     weight gradients that are still to be made
//   (recompute_layers: the layers beyond keep everything)
//   recomputation     with full recomputation: one layer's activations, while its backward runs
//   logits            last stage: fp32 logits of one micro-batch and the inputs of final norm and head
//   fragmentation     the stated fraction of all others
//
// A layer stores per token, outside the TP regions (÷ t with sequence parallelism): inputs of two norms and of two products,
// 4w·h, and two dropout masks, 2h; inside (÷ t): Q, K, V w(A+2G)d, the output product's input w·Ad, the MLP's w·2f (gated:
// gate, up and their product, w·3f); with unfused attention per sequence softmax output w·A·s², and with dropout its mask
// and result (1+w)·A·s², dropped by selective recomputation. With full recomputation the layer's input only: w·h per token
// (÷ t with sequence parallelism). For the GPT shape in 16 bits and t = 1 that is s·b·h·(34 + 5·A·s/h) (Korthikanti et al.
// 2022). An MoE layer stores instead of the MLP's part w·(1 + u)(K·fe + fs)/t (u = 1, gated 2), the hidden states that its K
// experts take in, w·K·h, and what they give back for the router's gradient, w·K·h (÷ t with sequence parallelism); a
// balanced load, times the capacity factor. Not counted: tensors of less than about 0.1 % (biases, log-sum-exp of fused
// attention), communication buffers, the CUDA context.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/units.h"
#include "workloads/hardware_spec.h"
#include "workloads/layer_kernels.h"
#include "workloads/stage_shape.h"
#include "workloads/workload.h"
#include "workloads/workload_spec.h"

namespace traingraph::workloads {

/// Bytes that one layer (`moe`: with experts) keeps of one micro-batch on one GPU, under the spec's recomputation.
[[nodiscard]] sim::Bytes stored_activations(const TransformerSpec& spec, bool moe = false);

/// Bytes that one layer keeps of one micro-batch between the two halves of a split backward: inputs and output gradients of
/// its four products, per token w·(2h/t' + (A·d + f)/t + 2h + ((A+2G)d + u·f)/t); t' = t with sequence parallelism (those
/// inputs are gathered again), else 1; u = 1, gated 2. GPT shape, t = 1, 16 bits: 32·s·b·h (Qi et al. 2023, table 1).
[[nodiscard]] sim::Bytes weight_gradient_activations(const TransformerSpec& spec, bool moe = false);

/// The terms of one GPU of a stage; terms of zero bytes are left out.
[[nodiscard]] std::vector<MemoryTerm> memory_terms(const TransformerSpec& spec, const LayerKernels& kernels,
                                                   const StageShape& shape);

/// Throws sim::InputError naming the terms, largest first, when they do not fit.
void check_fits(const std::vector<MemoryTerm>& terms, sim::Bytes capacity, const std::string& where);

[[nodiscard]] sim::Bytes total(const std::vector<MemoryTerm>& terms);

}  // namespace traingraph::workloads
