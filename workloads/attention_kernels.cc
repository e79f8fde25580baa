// LayerKernels between the QKV product and the attention output's: core attention, alone or under context parallelism. Bytes
// and products in layer_kernels.h.
#include <fmt/format.h>

#include "sim/error.h"
#include "workloads/layer_kernels.h"

namespace traingraph::workloads {
namespace {

constexpr double kSlowSoftmaxPasses = 12.5;       // element passes of the unfused softmax: about 25 bytes at two bytes each
constexpr std::uint32_t kSlowSoftmaxKernels = 5;  // scale, mask, cast, softmax, cast

}  // namespace

double LayerKernels::fused_efficiency() const {
  const HardwareSpec& hardware = model_.hardware();
  const auto& efficiency =
      spec_.attention == Attention::flash ? hardware.flash_attention_efficiency : hardware.cudnn_attention_efficiency;
  if (!efficiency) {
    throw sim::InputError{
        fmt::format("hardware '{}' states no efficiency for attention '{}'", hardware.name, name_of(spec_.attention))};
  }
  return *efficiency;
}

AttentionShape LayerKernels::attention_shape() const {
  return {.batch = static_cast<double>(spec_.micro_batch),
          .heads = heads_,
          .kv_heads = kv_heads_,
          .sequence = s_,
          .head_size = d_,
          .causal = spec_.model.causal};
}

void LayerKernels::add_softmax(LayerOps& ops, bool backward) const {
  const double elements = spec_.micro_batch * heads_ * s_ * s_;
  const auto rows = static_cast<std::uint32_t>(spec_.micro_batch * heads_);
  const bool fused = spec_.model.causal && spec_.model.sequence <= spec_.software.fused_softmax_max_sequence &&
                     rows % spec_.software.fused_softmax_multiple == 0;
  const std::string name = backward ? "softmax_backward" : "softmax";
  if (fused) {
    add_kernel(ops, model_.memory(name, (backward ? 3.0 : 1.5) * w_ * elements));
  } else {
    add_kernel(ops, model_.memory(name + "_unfused", kSlowSoftmaxPasses * w_ * elements, kSlowSoftmaxKernels));
  }
}

void LayerKernels::add_core_attention(LayerOps& ops) const {
  if (spec_.parallel.cp > 1) {
    add_context_parallel_attention(ops, false);
    return;
  }
  if (spec_.attention != Attention::unfused) {
    add_kernel(ops, model_.attention("attention", attention_shape(), false, fused_efficiency()));
    return;
  }
  const double batch = spec_.micro_batch * heads_;
  add_kernel(ops, model_.gemm("attention_scores", {.m = s_, .n = s_, .k = d_, .batch = batch, .general = true}));
  add_softmax(ops, false);
  if (spec_.model.dropout) add_kernel(ops, model_.memory("score_dropout", (2 * w_ + 1) * batch * s_ * s_));
  add_kernel(ops, model_.gemm("attention_values", {.m = s_, .n = d_, .k = s_, .batch = batch, .general = true}));
}

void LayerKernels::add_core_attention_backward(LayerOps& ops) const {
  if (spec_.parallel.cp > 1) {
    add_context_parallel_attention(ops, true);
    return;
  }
  if (spec_.attention != Attention::unfused) {
    add_kernel(ops, model_.attention("attention_backward", attention_shape(), true, fused_efficiency()));
    return;
  }
  const double batch = spec_.micro_batch * heads_;
  const GemmShape outer{.m = s_, .n = s_, .k = d_, .batch = batch, .general = true};
  const GemmShape inner{.m = s_, .n = d_, .k = s_, .batch = batch, .general = true};
  add_kernel(ops, model_.gemm("score_gradient", outer));
  add_kernel(ops, model_.gemm("value_gradient", inner));
  if (spec_.model.dropout) add_kernel(ops, model_.memory("score_dropout_backward", (2 * w_ + 1) * batch * s_ * s_));
  add_softmax(ops, true);
  add_kernel(ops, model_.gemm("query_gradient", inner));
  add_kernel(ops, model_.gemm("key_gradient", inner));
}

void LayerKernels::add_cp_collective(LayerOps& ops, CollectiveKind kind, double elements, std::string name) const {
  LayerOp op;
  op.kind = LayerOp::Kind::cp_collective;
  op.collective = kind;
  op.bytes = sim::Bytes{elements * w_};
  op.name = std::move(name);
  ops.push_back(std::move(op));
}

void LayerKernels::add_context_parallel_attention(LayerOps& ops, bool backward) const {
  switch (spec_.parallel.cp_attention) {
    case ContextParallelKind::ring:
      add_ring_attention(ops, backward);
      return;
    case ContextParallelKind::all_gather:
      add_gathered_attention(ops, backward);
      return;
    case ContextParallelKind::ulysses:
      add_ulysses_attention(ops, backward);
      return;
  }
}

// Step i works on the block that arrived during step i-1 while the next one travels.
void LayerKernels::add_ring_attention(LayerOps& ops, bool backward) const {
  const std::uint32_t cp = spec_.parallel.cp;
  const double block = 2 * n_ * kv_heads_ * d_;  // keys and values of a rank
  AttentionShape shape = attention_shape();
  shape.sequence = s_ / cp;
  const std::string name = backward ? "attention_backward" : "attention";
  for (std::uint32_t i = 0; i < cp; ++i) {
    // Backward: the gradients of the block before travel with the next block.
    const double travelling = (i + 1 < cp ? block : 0) + (backward && i > 0 ? block : 0);
    if (travelling > 0) add_cp_collective(ops, CollectiveKind::send_recv, travelling, name + "_ring");
    add_kernel(ops, model_.attention(name + "_block", shape, backward, fused_efficiency()), 0, travelling > 0 ? 1 : 0);
  }
  if (backward) {
    add_kernel(ops, model_.memory("attention_gradient_sum", 3 * w_ * block * (cp - 1)));
  } else {
    // Each step's result is merged into the running one: both read, one written.
    add_kernel(ops, model_.memory("attention_merge", 3 * w_ * n_ * heads_ * d_ * (cp - 1)));
  }
}

void LayerKernels::add_gathered_attention(LayerOps& ops, bool backward) const {
  const std::uint32_t cp = spec_.parallel.cp;
  const double all = 2 * n_ * cp * kv_heads_ * d_;  // keys and values of the whole sequence
  AttentionShape shape = attention_shape();
  shape.sequence = s_ / cp;
  shape.keys = s_;
  const std::string name = backward ? "attention_backward" : "attention";
  add_cp_collective(ops, CollectiveKind::all_gather, all, name + "_kv_all_gather");
  add_kernel(ops, model_.attention(name, shape, backward, fused_efficiency()));
  if (backward) add_cp_collective(ops, CollectiveKind::reduce_scatter, all, "attention_kv_gradient_reduce_scatter");
}

void LayerKernels::add_ulysses_attention(LayerOps& ops, bool backward) const {
  const std::uint32_t cp = spec_.parallel.cp;
  AttentionShape shape = attention_shape();
  shape.heads = heads_ / cp;
  shape.kv_heads = kv_heads_ / cp;
  const double qkv = n_ * qkv_;
  const double context = n_ * heads_ * d_;
  const std::string name = backward ? "attention_backward" : "attention";
  add_cp_collective(ops, CollectiveKind::all_to_all, backward ? context : qkv, name + "_scatter_heads");
  add_kernel(ops, model_.attention(name, shape, backward, fused_efficiency()));
  add_cp_collective(ops, CollectiveKind::all_to_all, backward ? qkv : context, name + "_gather_heads");
}

}  // namespace traingraph::workloads
