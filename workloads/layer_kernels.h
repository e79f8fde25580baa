// The kernels, collectives and finished gradients of one micro-batch in one part of a dense transformer, in the order in
// which they are issued. n tokens on the rank (micro-batch x sequence), h hidden, f FFN / t, A heads / t, G KV heads / t, d
// head size, s keys, t tensor-parallel degree, w bytes of an element, g bytes of a gradient element. Bytes below are for
// HBM; they were counted kernel by kernel on Megatron-LM (w = 2 in the second column).
//
//   norm                         2w·nh        4nh     per norm; backward 3w·nh + 2w·nh (input; weight reduction)
//   bias + dropout + residual    (3w+1)·nh    7nh     per block; without dropout 3w·nh. Backward (2w+1)·nh dropout (if any),
//   w·nh bias
//                                                     gradient (if any), 3w·nh residual sum
//   GELU + bias                  2w·nf        4nf     backward 3w·nf, and w·nf for the bias gradient
//   SwiGLU                       3w·nf        6nf     backward 5w·nf
//   context transpose            2w·nAd       4nAd    backward: gathering dQ, dK, dV 6w·nAd
//   rotary                       2w·n(A+G)d   4nAd..  backward the same
//   softmax, S = b·A·s² elements 1.5w·S       3S      unfused attention only: causal fused softmax; backward 3w·S. Sequences
//   beyond the
//                                                     fused kernel's limit: 25·S/2·w both ways (scale, mask, casts)
//   score dropout                (2w+1)·S     5S      both ways
//   gradient accumulation        w+2g         10      per parameter and micro-batch, unless fused into the product (then the
//                                                     product's result costs 2g)
//   embedding                    6w·nh        12nh    backward 4w·nh
//   cross entropy                loss_bytes_per_logit · n·V/t, 60 % forward
//
// With sequence parallelism the nh terms of norms and residuals are divided by t. Products, M x N x K: QKV n x (A+2G)d x h,
// attention output n x h x Ad, MLP up n x f x h (gated: 2f), MLP down n x h x f, head n x V/t x h; backward an
// input-gradient and a weight-gradient product each. Unfused attention: batched products of s x s x d, two forward, four
// backward.
//
// fp8 adds a quantization pass of 3 bytes per element for the input of each product of a linear layer, and for its output's
// gradient.
//
// Tensor parallelism, t > 1. Without sequence parallelism: an all-reduce of n·h·w after attention output and MLP down
// (forward), and after the input gradients of MLP up and QKV (backward). With it: all-gather before QKV and MLP up,
// reduce-scatter after the other two; backward the reverse, plus an all-gather of the input that forward did not keep
// (Korthikanti et al. 2022).
//
// Context parallelism, c > 1: each rank has n/c tokens of every sequence (n below counts those), fused attention only. kv =
// 2·nGd.
//   ring         c blocks of s/c queries and keys; c - 1 hops of kv, each beside the block before. Backward the same hops,
//   and
//                c - 1 of the gradients of kv. Causal attention is balanced by zig-zag order: each rank holds a part from
//                the front and its mirror image from the back of the sequence, so that every block is half masked (Liu et
//                al. 2023; Megatron-LM). Merging 3w·nAd per hop, backward 3w·kv per hop.
//   all_gather   all-gather of c·kv before attention of s/c queries and s keys (backward again), reduce-scatter of its
//   gradients;
//                balanced in the same way (Llama Team 2024, section 3.3.2).
//   ulysses      all-to-all of n(A+2G)d before and nAd after attention of A/c heads; backward the reverse (Jacobs et al.
//   2023).
//
// An MoE layer has instead of its MLP, with r = n·K tokens sent by the rank (n ÷ t with sequence parallelism), R tokens
// received by its experts (expert_routing.h), fe and fs the inner sizes of an expert and of the shared experts, ÷ t:
//   router                       n x E x h, and 8·nE bytes for top-k      backward two products, and the same bytes
//   permute, unpermute           2w·rh each                               the same
//   dispatch, combine            all-to-all of r·h·w over the expert-parallel group, twice each way;
//                                node-limited to M domains: M/K of it over the network, then all of it inside the domain
//   experts, grouped products    R_e x fe x h (gated: 2fe), R_e x h x fe   two each; activation 2w or 3w, 3w or 5w ·R·fe
//   t > 1                        all-gather of R·h·w over TP before them, reduce-scatter after
//   shared experts               as the MLP, and 3w·nh to add their output; beside dispatch and combine if asked for
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/units.h"
#include "workloads/collectives/collectives.h"
#include "workloads/expert_routing.h"
#include "workloads/kernel_time.h"
#include "workloads/workload_spec.h"

namespace traingraph::workloads {

/// One thing that a rank does, in issue order.
struct LayerOp {
  enum class Kind : std::uint8_t {
    kernel,
    tp_collective,
    ep_collective,
    cp_collective,
    ep_rail_collective,
    ep_node_collective
  };
  Kind kind = Kind::kernel;
  Kernel kernel;
  CollectiveKind collective = CollectiveKind::all_reduce;
  sim::Bytes bytes;               ///< full buffer of the collective
  std::string name;               ///< of the collective
  double gradient_elements = 0;   ///< parameters of this rank whose gradient is complete when this kernel ends
  std::uint32_t may_overlap = 0;  ///< the kernel does not need the last `may_overlap` collectives issued before it
  std::shared_ptr<const BytesMatrix> matrix;  ///< of an all_to_all_v
  bool of_experts = false;                    ///< the gradient is an expert's
  bool of_weight_gradient = false;            ///< makes the weight gradient of a matrix product, or what only that needs
};
using LayerOps = std::vector<LayerOp>;

/// A backward in two halves: what leads to the input's gradient, and the weight gradients of the matrix products with the
/// inputs that they gather again. Nothing in a half runs beside its collectives.
struct BackwardHalves {
  LayerOps input_gradient;
  LayerOps weight_gradient;
};
[[nodiscard]] BackwardHalves split_backward(const LayerOps& backward);

/// Sum of kernel durations.
[[nodiscard]] sim::Duration kernel_time(const LayerOps& ops);
/// Kernel launches, a collective counting as `launches_per_collective`.
[[nodiscard]] std::uint32_t launch_count(const LayerOps& ops, std::uint32_t launches_per_collective);

/// Makes the lists. Sizes are those of one tensor-parallel rank.
class LayerKernels {
 public:
  /// The spec must have been checked (transformer.h).
  LayerKernels(const TransformerSpec& spec, const KernelModel& model);

  [[nodiscard]] LayerOps layer_forward() const;
  [[nodiscard]] LayerOps layer_backward() const;  ///< without recomputation
  /// What is run again before a layer's backward, its forward being `forward`; empty for Recompute::none.
  [[nodiscard]] LayerOps recompute(LayerOps forward) const;
  [[nodiscard]] LayerOps moe_layer_forward(const ExpertLoad& load) const;
  [[nodiscard]] LayerOps moe_layer_backward(const ExpertLoad& load) const;
  [[nodiscard]] LayerOps embedding_forward() const;
  [[nodiscard]] LayerOps embedding_backward() const;
  [[nodiscard]] LayerOps head_forward() const;  ///< final norm, logits, loss
  [[nodiscard]] LayerOps head_backward() const;

  /// Parameters of one rank.
  [[nodiscard]] double layer_parameters() const;
  [[nodiscard]] double layer_norm_parameters() const;  ///< of those, the norms' (replicated over TP)
  [[nodiscard]] double moe_layer_parameters() const;   ///< of an MoE layer, without its experts; shared experts included
  [[nodiscard]] double router_parameters() const;      ///< of those, the router's (replicated over TP)
  [[nodiscard]] double expert_parameters() const;      ///< of an MoE layer, its local experts
  [[nodiscard]] double embedding_parameters() const;
  /// Final norm and the LM head's table; a tied table counts when it is a copy (embedding and head on different stages).
  [[nodiscard]] double head_parameters() const;
  [[nodiscard]] double position_parameters() const;  ///< of learned positions
  [[nodiscard]] double table_parameters() const;     ///< V/t · h
  [[nodiscard]] double norm_parameters() const;      ///< of one norm

  /// m·h·w: the hidden states of one micro-batch, full.
  [[nodiscard]] sim::Bytes hidden_bytes() const;

 private:
  void add_kernel(LayerOps& ops, Kernel kernel, double gradient_elements = 0, std::uint32_t may_overlap = 0) const;
  /// fp8: a 16-bit operand is read, its one-byte form written.
  void add_quantization(LayerOps& ops, const std::string& name, double elements) const;
  void add_collective(LayerOps& ops, CollectiveKind kind, sim::Bytes bytes, std::string name) const;
  void add_region_entry(LayerOps& ops, const std::string& name) const;
  void add_region_exit(LayerOps& ops, const std::string& name) const;
  void add_core_attention(LayerOps& ops) const;
  void add_core_attention_backward(LayerOps& ops) const;
  [[nodiscard]] LayerOps attention_forward() const;
  void add_attention_backward(LayerOps& ops) const;
  void add_expert_collective(LayerOps& ops, LayerOp::Kind kind, double tokens, std::string name) const;
  void add_dispatch(LayerOps& ops, const std::string& name, const ExpertLoad& load) const;
  void add_combine(LayerOps& ops, const std::string& name, const ExpertLoad& load) const;
  void add_grouped_gemm(LayerOps& ops, const std::string& name, const ExpertLoad& load, double n, double k) const;
  void add_grouped_weight_gradient(LayerOps& ops, const std::string& name, const ExpertLoad& load, double rows,
                                   double columns) const;
  void add_activation(LayerOps& ops, const std::string& name, double elements, bool backward) const;
  void run_beside(LayerOps& ops, std::size_t begin) const;
  [[nodiscard]] sim::Bytes expert_bytes(const ExpertLoad& load) const;
  [[nodiscard]] double attention_parameters() const;
  void add_cp_collective(LayerOps& ops, CollectiveKind kind, double elements, std::string name) const;
  void add_context_parallel_attention(LayerOps& ops, bool backward) const;
  void add_ring_attention(LayerOps& ops, bool backward) const;
  void add_gathered_attention(LayerOps& ops, bool backward) const;
  void add_ulysses_attention(LayerOps& ops, bool backward) const;
  void add_softmax(LayerOps& ops, bool backward) const;
  void add_norm_backward(LayerOps& ops, const std::string& name) const;
  void add_residual(LayerOps& ops, const std::string& name) const;
  void add_residual_backward(LayerOps& ops, const std::string& name) const;
  void add_column_backward(LayerOps& ops, const std::string& name, double outputs, double parameters,
                           bool general = false) const;
  void add_row_backward(LayerOps& ops, const std::string& name, double inputs) const;
  void add_weight_gradient(LayerOps& ops, const std::string& name, double rows, double columns, double parameters,
                           std::uint32_t may_overlap, bool general = false) const;
  [[nodiscard]] double head_table_parameters() const;
  [[nodiscard]] double with_bias(double outputs) const;
  [[nodiscard]] double fused_efficiency() const;
  [[nodiscard]] AttentionShape attention_shape() const;

  const TransformerSpec& spec_;
  const KernelModel& model_;
  double w_;   // bytes of an element
  double g_;   // bytes of a gradient element
  double n_;   // tokens, of this context-parallel rank
  double nr_;  // tokens in the regions between tensor-parallel ones
  double h_;
  double f_;
  double fe_;  // inner size of an expert, of this rank
  double fs_;  // of the shared experts
  double heads_;
  double kv_heads_;
  double d_;
  double s_;
  double vocabulary_;  // of this rank, padded
  double qkv_;         // outputs of the QKV product
};

/// V padded to a multiple of vocabulary_multiple · TP (Megatron-LM's make-vocab-size-divisible-by).
[[nodiscard]] std::uint64_t padded_vocabulary(const TransformerSpec& spec);

}  // namespace traingraph::workloads
