// LayerKernels of a layer whose MLP is a mixture of experts; what is done is said in layer_kernels.h.
#include <utility>

#include "workloads/layer_kernels.h"

namespace traingraph::workloads {
namespace {

constexpr double kRouterBytes = 8;  // per token and expert: fp32 logits read, fp32 probabilities written

bool is_aligned(double a, double b) {
  const auto multiple = [](double v) { return static_cast<std::uint64_t>(v) % 8 == 0; };
  return multiple(a) && multiple(b);
}

}  // namespace

void LayerKernels::add_expert_collective(LayerOps& ops, LayerOp::Kind kind, double tokens, std::string name) const {
  LayerOp op;
  op.kind = kind;
  op.collective = CollectiveKind::all_to_all;
  op.bytes = sim::Bytes{tokens * h_ * w_};
  op.name = std::move(name);
  ops.push_back(std::move(op));
}

void LayerKernels::add_dispatch(LayerOps& ops, const std::string& name, const ExpertLoad& load) const {
  if (spec_.parallel.ep == 1) return;
  if (load.network_tokens > 0) {
    add_expert_collective(ops, LayerOp::Kind::ep_rail_collective, load.network_tokens, name + "_to_nodes");
    add_expert_collective(ops, LayerOp::Kind::ep_node_collective, load.sent_tokens, name + "_in_node");
    return;
  }
  add_expert_collective(ops, LayerOp::Kind::ep_collective, load.sent_tokens, name);
  if (load.dispatch == nullptr) return;
  ops.back().collective = CollectiveKind::all_to_all_v;
  ops.back().matrix = load.dispatch;
}

void LayerKernels::add_combine(LayerOps& ops, const std::string& name, const ExpertLoad& load) const {
  if (spec_.parallel.ep == 1) return;
  if (load.network_tokens > 0) {
    add_expert_collective(ops, LayerOp::Kind::ep_node_collective, load.sent_tokens, name + "_in_node");
    add_expert_collective(ops, LayerOp::Kind::ep_rail_collective, load.network_tokens, name + "_to_nodes");
    return;
  }
  add_expert_collective(ops, LayerOp::Kind::ep_collective, load.sent_tokens, name);
  if (load.combine == nullptr) return;
  ops.back().collective = CollectiveKind::all_to_all_v;
  ops.back().matrix = load.combine;
}

sim::Bytes LayerKernels::expert_bytes(const ExpertLoad& load) const { return sim::Bytes{load.received_tokens() * h_ * w_}; }

void LayerKernels::add_grouped_gemm(LayerOps& ops, const std::string& name, const ExpertLoad& load, double n,
                                    double k) const {
  std::vector<GemmShape> shapes;
  for (const double tokens : load.tokens) shapes.push_back({.m = tokens, .n = n, .k = k});
  add_kernel(ops, model_.grouped_gemm(name, shapes, is_aligned(n, k)));
}

void LayerKernels::add_grouped_weight_gradient(LayerOps& ops, const std::string& name, const ExpertLoad& load, double rows,
                                               double columns) const {
  const std::size_t begin = ops.size();
  const double parameters = rows * columns * static_cast<double>(load.tokens.size());
  const bool fused = spec_.software.gradient_accumulation_fusion;
  std::vector<GemmShape> shapes;
  for (const double tokens : load.tokens) {
    shapes.push_back({.m = rows, .n = columns, .k = tokens, .result_bytes = fused ? 2 * g_ : 0});
  }
  add_kernel(ops, model_.grouped_gemm(name + "_weight_gradient", shapes, is_aligned(rows, columns)), fused ? parameters : 0);
  if (!fused) add_kernel(ops, model_.memory(name + "_gradient_accumulation", (w_ + 2 * g_) * parameters), parameters);
  for (std::size_t i = begin; i < ops.size(); ++i) {
    ops[i].of_weight_gradient = true;
    ops[i].of_experts = true;
  }
}

void LayerKernels::add_activation(LayerOps& ops, const std::string& name, double elements, bool backward) const {
  const bool gated = spec_.model.gated;
  const double passes = gated ? (backward ? 5 : 3) : (backward ? 3 : 2);
  add_kernel(ops,
             model_.memory(name + (gated ? "_swiglu" : "_gelu") + (backward ? "_backward" : ""), passes * w_ * elements));
}

// Kernels from `begin` on do not need the dispatch or combine issued before them.
void LayerKernels::run_beside(LayerOps& ops, std::size_t begin) const {
  if (!spec_.routing.overlap_shared_experts || spec_.parallel.ep == 1) return;
  for (std::size_t i = begin; i < ops.size(); ++i) {
    if (ops[i].kind == LayerOp::Kind::kernel) ops[i].may_overlap = spec_.routing.node_limit ? 2 : 1;
  }
}

LayerOps LayerKernels::moe_layer_forward(const ExpertLoad& load) const {
  LayerOps ops = attention_forward();
  const MoeSpec& moe = spec_.model.moe;
  const double up = (spec_.model.gated ? 2 : 1) * fe_;
  const double shared_up = (spec_.model.gated ? 2 : 1) * fs_;
  const bool shared = moe.shared_ffn > 0;
  const double permuted = 2 * w_ * load.sent_tokens * h_;
  add_kernel(ops, model_.memory("mlp_norm", 2 * w_ * nr_ * h_));
  add_kernel(ops, model_.gemm("router", {.m = nr_, .n = double(moe.experts), .k = h_, .general = true}));
  add_kernel(ops, model_.memory("router_top_k", kRouterBytes * nr_ * moe.experts));
  add_kernel(ops, model_.memory("permute", permuted));
  if (shared) add_region_entry(ops, "shared_expert_up");
  add_dispatch(ops, "expert_dispatch", load);
  std::size_t begin = ops.size();
  if (shared) {
    add_quantization(ops, "shared_expert_up_input", n_ * h_);
    add_kernel(ops, model_.gemm("shared_expert_up", {.m = n_, .n = shared_up, .k = h_}));
    add_activation(ops, "shared_expert", n_ * fs_, false);
  }
  run_beside(ops, begin);
  add_collective(ops, CollectiveKind::all_gather, expert_bytes(load), "expert_all_gather");
  add_quantization(ops, "expert_up_input", load.received_tokens() * h_);
  add_grouped_gemm(ops, "expert_up", load, up, h_);
  add_activation(ops, "expert", load.received_tokens() * fe_, false);
  add_quantization(ops, "expert_down_input", load.received_tokens() * fe_);
  add_grouped_gemm(ops, "expert_down", load, h_, fe_);
  add_collective(ops, CollectiveKind::reduce_scatter, expert_bytes(load), "expert_reduce_scatter");
  add_combine(ops, "expert_combine", load);
  begin = ops.size();
  if (shared) {
    add_quantization(ops, "shared_expert_down_input", n_ * fs_);
    add_kernel(ops, model_.gemm("shared_expert_down", {.m = n_, .n = h_, .k = fs_}));
  }
  run_beside(ops, begin);
  if (shared) add_region_exit(ops, "shared_expert_down");
  add_kernel(ops, model_.memory("unpermute", permuted));
  if (shared) add_kernel(ops, model_.memory("shared_expert_sum", 3 * w_ * nr_ * h_));
  add_residual(ops, "mlp");
  return ops;
}

LayerOps LayerKernels::moe_layer_backward(const ExpertLoad& load) const {
  LayerOps ops;
  const MoeSpec& moe = spec_.model.moe;
  const double up = (spec_.model.gated ? 2 : 1) * fe_;
  const double shared_up = (spec_.model.gated ? 2 : 1) * fs_;
  const bool shared = moe.shared_ffn > 0;
  const double permuted = 2 * w_ * load.sent_tokens * h_;
  add_residual_backward(ops, "mlp");
  add_kernel(ops, model_.memory("unpermute_backward", permuted));
  if (shared) add_region_entry(ops, "shared_expert_down_output_gradient");
  add_dispatch(ops, "expert_combine_backward", load);
  std::size_t begin = ops.size();
  if (shared) {
    add_quantization(ops, "shared_expert_down_output_gradient", n_ * h_);
    add_kernel(ops, model_.gemm("shared_expert_down_input_gradient", {.m = n_, .n = fs_, .k = h_}));
    add_weight_gradient(ops, "shared_expert_down", h_, fs_, fs_ * h_, 0);
    add_activation(ops, "shared_expert", n_ * fs_, true);
  }
  run_beside(ops, begin);
  add_collective(ops, CollectiveKind::all_gather, expert_bytes(load), "expert_output_gradient_all_gather");
  add_quantization(ops, "expert_down_output_gradient", load.received_tokens() * h_);
  add_grouped_gemm(ops, "expert_down_input_gradient", load, fe_, h_);
  add_grouped_weight_gradient(ops, "expert_down", load, h_, fe_);
  add_activation(ops, "expert", load.received_tokens() * fe_, true);
  add_quantization(ops, "expert_up_output_gradient", load.received_tokens() * up);
  add_grouped_gemm(ops, "expert_up_input_gradient", load, h_, up);
  add_grouped_weight_gradient(ops, "expert_up", load, up, h_);
  add_collective(ops, CollectiveKind::reduce_scatter, expert_bytes(load), "expert_input_gradient_reduce_scatter");
  add_combine(ops, "expert_dispatch_backward", load);
  begin = ops.size();
  if (shared) {
    add_quantization(ops, "shared_expert_up_output_gradient", n_ * shared_up);
    add_kernel(ops, model_.gemm("shared_expert_up_input_gradient", {.m = n_, .n = h_, .k = shared_up}));
  }
  run_beside(ops, begin);
  if (shared) {
    add_region_exit(ops, "shared_expert_up_input_gradient");
    const std::size_t before = ops.size();
    if (spec_.parallel.sequence_parallel) {
      add_collective(ops, CollectiveKind::all_gather, hidden_bytes(), "shared_expert_up_input_all_gather");
    }
    for (std::size_t i = before; i < ops.size(); ++i) ops[i].of_weight_gradient = true;
    add_weight_gradient(ops, "shared_expert_up", shared_up, h_, shared_up * h_, 0);
  }
  add_kernel(ops, model_.memory("permute_backward", permuted));
  add_kernel(ops, model_.memory("router_top_k_backward", kRouterBytes * nr_ * moe.experts));
  add_kernel(ops, model_.gemm("router_input_gradient", {.m = nr_, .n = h_, .k = double(moe.experts), .general = true}));
  const double router = h_ * moe.experts;
  add_kernel(ops, model_.gemm("router_weight_gradient", {.m = double(moe.experts), .n = h_, .k = nr_, .general = true}));
  add_kernel(ops, model_.memory("router_gradient_accumulation", (w_ + 2 * g_) * router), router);
  add_kernel(ops, model_.memory("moe_input_gradient_sum", (shared ? 4 : 3) * w_ * nr_ * h_));
  add_norm_backward(ops, "mlp_norm");
  add_kernel(ops, model_.memory("mlp_residual_sum", 3 * w_ * nr_ * h_));
  add_attention_backward(ops);
  return ops;
}

double LayerKernels::expert_parameters() const {
  const double up = (spec_.model.gated ? 2 : 1) * fe_;
  return (up + fe_) * h_ * (spec_.model.moe.experts / spec_.parallel.ep);
}

double LayerKernels::router_parameters() const { return h_ * spec_.model.moe.experts; }

double LayerKernels::moe_layer_parameters() const {
  const double shared = ((spec_.model.gated ? 2 : 1) + 1) * fs_ * h_;
  return attention_parameters() + layer_norm_parameters() + router_parameters() + shared;
}

}  // namespace traingraph::workloads
