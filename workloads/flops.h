// Arithmetic of one training step by the two conventions in use; which one a number uses is always said.
//
// Per token forward, exact products only: QKV 2h(A+2G)d, attention scores and values 4sAd (the full square, causal or not),
// output 2Adh, MLP 4hf (gated 6hf), LM head 2hV with V padded; MoE layers: router 2hE
// and K + shared experts instead of the MLP. Backward is twice that.
//
//   megatron  3 x the above; for the GPT shape (f = 4h, A·d = h, G = A) this is Narayanan et al. 2021's
//             72·B·s·n_l·h²·(1 + s/(6h) + V/(12·n_l·h)). Hardware FLOP with full recomputation add the layers' forward once
//             more: 96·B·s·n_l·h²·(1 + s/(6h) + V/(16·n_l·h)); with selective recomputation scores and values only.
//   palm      (6N + 12·n_l·A·d·s) per token, N the weights that a token passes, all of a dense model (Chowdhery et al.
//   2022). Hardware FLOP with full recomputation add
//             2·n_l·(weights of a layer) + 4·n_l·A·d·s; with selective recomputation the latter only.
//
// With recompute_layers the added FLOP are those of an average layer, times the layers that are recomputed.
#pragma once

#include "sim/units.h"
#include "workloads/workload_spec.h"

namespace traingraph::workloads {

struct StepFlop {
  sim::Flop model;     ///< what the mathematics of one step needs, whole job
  sim::Flop hardware;  ///< recomputation included
};

[[nodiscard]] StepFlop step_flop(const TransformerSpec& spec, FlopConvention convention);

}  // namespace traingraph::workloads
