#include "workloads/layer_kernels.h"

#include <utility>

#include "workloads/pipeline_map.h"

namespace traingraph::workloads {
namespace {

constexpr double kLossForwardShare = 0.6;
constexpr double kLossScalarBytes = 4;  // the cross entropy's reductions are in fp32, one number per token

}  // namespace

std::uint64_t padded_vocabulary(const TransformerSpec& spec) {
  const std::uint64_t multiple = std::uint64_t{spec.vocabulary_multiple} * spec.parallel.tp;
  return (spec.model.vocabulary + multiple - 1) / multiple * multiple;
}

sim::Duration kernel_time(const LayerOps& ops) {
  sim::Duration sum;
  for (const LayerOp& op : ops) sum += op.kernel.duration;
  return sum;
}

std::uint32_t launch_count(const LayerOps& ops, std::uint32_t launches_per_collective) {
  std::uint32_t sum = 0;
  for (const LayerOp& op : ops) sum += op.kind == LayerOp::Kind::kernel ? op.kernel.launches : launches_per_collective;
  return sum;
}

BackwardHalves split_backward(const LayerOps& backward) {
  BackwardHalves halves;
  for (LayerOp op : backward) {
    op.may_overlap = 0;
    (op.of_weight_gradient ? halves.weight_gradient : halves.input_gradient).push_back(std::move(op));
  }
  return halves;
}

LayerKernels::LayerKernels(const TransformerSpec& spec, const KernelModel& model) : spec_{spec}, model_{model} {
  const ModelSpec& m = spec.model;
  const double t = spec.parallel.tp;
  w_ = model.word();
  g_ = spec.gradient_type == GradientType::fp32 ? 4.0 : w_;
  n_ = static_cast<double>(spec.micro_batch) * m.sequence / spec.parallel.cp;
  nr_ = spec.parallel.sequence_parallel ? n_ / t : n_;
  h_ = m.hidden;
  f_ = m.ffn / t;
  fe_ = m.moe.ffn / t;
  fs_ = m.moe.shared_ffn / t;
  heads_ = m.heads / t;
  kv_heads_ = m.kv_head_count() / t;
  d_ = m.head_dimension();
  s_ = m.sequence;
  vocabulary_ = static_cast<double>(padded_vocabulary(spec)) / t;
  qkv_ = (heads_ + 2 * kv_heads_) * d_;
}

void LayerKernels::add_kernel(LayerOps& ops, Kernel kernel, double gradient_elements, std::uint32_t may_overlap) const {
  LayerOp op;
  op.kernel = std::move(kernel);
  op.gradient_elements = gradient_elements;
  op.may_overlap = may_overlap;
  ops.push_back(std::move(op));
}

void LayerKernels::add_quantization(LayerOps& ops, const std::string& name, double elements) const {
  if (model_.quantizes()) add_kernel(ops, model_.memory(name + "_quantize", (w_ + 1) * elements));
}

void LayerKernels::add_collective(LayerOps& ops, CollectiveKind kind, sim::Bytes bytes, std::string name) const {
  if (spec_.parallel.tp == 1) return;
  LayerOp op;
  op.kind = LayerOp::Kind::tp_collective;
  op.collective = kind;
  op.bytes = bytes;
  op.name = std::move(name);
  ops.push_back(std::move(op));
}

// Into a tensor-parallel region: the ranks need all tokens. Without sequence parallelism they have them.
void LayerKernels::add_region_entry(LayerOps& ops, const std::string& name) const {
  if (spec_.parallel.sequence_parallel)
    add_collective(ops, CollectiveKind::all_gather, hidden_bytes(), name + "_all_gather");
}

// Out of a tensor-parallel region: partial sums are added up.
void LayerKernels::add_region_exit(LayerOps& ops, const std::string& name) const {
  if (spec_.parallel.sequence_parallel) {
    add_collective(ops, CollectiveKind::reduce_scatter, hidden_bytes(), name + "_reduce_scatter");
  } else {
    add_collective(ops, CollectiveKind::all_reduce, hidden_bytes(), name + "_all_reduce");
  }
}

void LayerKernels::add_residual(LayerOps& ops, const std::string& name) const {
  const bool dropout = spec_.model.dropout;
  add_kernel(ops,
             model_.memory(name + (dropout ? "_dropout_residual" : "_residual"), (3 * w_ + (dropout ? 1 : 0)) * nr_ * h_));
}

void LayerKernels::add_residual_backward(LayerOps& ops, const std::string& name) const {
  if (spec_.model.dropout) add_kernel(ops, model_.memory(name + "_dropout_backward", (2 * w_ + 1) * nr_ * h_));
  if (spec_.model.bias) add_kernel(ops, model_.memory(name + "_bias_gradient", w_ * nr_ * h_));
}

void LayerKernels::add_norm_backward(LayerOps& ops, const std::string& name) const {
  add_kernel(ops, model_.memory(name + "_backward", 3 * w_ * nr_ * h_));
  add_kernel(ops, model_.memory(name + "_weight_gradient", 2 * w_ * nr_ * h_), norm_parameters());
}

void LayerKernels::add_weight_gradient(LayerOps& ops, const std::string& name, double rows, double columns,
                                       double parameters, std::uint32_t may_overlap, bool general) const {
  const std::size_t begin = ops.size();
  GemmShape shape{.m = rows, .n = columns, .k = n_, .general = general};
  const bool fused = spec_.software.gradient_accumulation_fusion;
  if (fused) shape.result_bytes = 2 * g_;
  add_kernel(ops, model_.gemm(name + "_weight_gradient", shape), fused ? parameters : 0, may_overlap);
  if (!fused) {
    add_kernel(ops, model_.memory(name + "_gradient_accumulation", (w_ + 2 * g_) * rows * columns), parameters, may_overlap);
  }
  for (std::size_t i = begin; i < ops.size(); ++i) ops[i].of_weight_gradient = true;
}

// A product whose outputs are split over TP: its input gradient is a partial sum.
void LayerKernels::add_column_backward(LayerOps& ops, const std::string& name, double outputs, double parameters,
                                       bool general) const {
  if (!general) add_quantization(ops, name + "_output_gradient", n_ * outputs);
  const std::uint32_t beside = spec_.parallel.overlap_tp_backward && spec_.parallel.tp > 1 ? 1 : 0;
  const bool gathers = spec_.parallel.sequence_parallel;
  if (gathers) {
    const std::size_t before = ops.size();
    add_collective(ops, CollectiveKind::all_gather, hidden_bytes(), name + "_input_all_gather");
    if (ops.size() > before) ops.back().of_weight_gradient = true;
  }
  add_kernel(ops, model_.gemm(name + "_input_gradient", {.m = n_, .n = h_, .k = outputs, .general = general}), 0,
             gathers ? beside : 0);
  add_region_exit(ops, name + "_input_gradient");
  add_weight_gradient(ops, name, outputs, h_, parameters, beside, general);
}

// A product whose inputs are split over TP: every rank needs the whole output gradient.
void LayerKernels::add_row_backward(LayerOps& ops, const std::string& name, double inputs) const {
  add_region_entry(ops, name + "_output_gradient");
  add_quantization(ops, name + "_output_gradient", n_ * h_);
  add_kernel(ops, model_.gemm(name + "_input_gradient", {.m = n_, .n = inputs, .k = h_}));
  add_weight_gradient(ops, name, h_, inputs, inputs * h_ + with_bias(h_), 0);
}

LayerOps LayerKernels::attention_forward() const {
  LayerOps ops;
  add_kernel(ops, model_.memory("input_norm", 2 * w_ * nr_ * h_));
  add_region_entry(ops, "qkv");
  add_quantization(ops, "qkv_input", n_ * h_);
  add_kernel(ops, model_.gemm("qkv", {.m = n_, .n = qkv_, .k = h_}));
  if (spec_.model.position == Position::rotary) {
    add_kernel(ops, model_.memory("rotary", 2 * w_ * n_ * (heads_ + kv_heads_) * d_));
  }
  add_core_attention(ops);
  add_kernel(ops, model_.memory("context_transpose", 2 * w_ * n_ * heads_ * d_));
  add_quantization(ops, "attention_output_input", n_ * heads_ * d_);
  add_kernel(ops, model_.gemm("attention_output", {.m = n_, .n = h_, .k = heads_ * d_}));
  add_region_exit(ops, "attention_output");
  add_residual(ops, "attention");
  return ops;
}

LayerOps LayerKernels::layer_forward() const {
  LayerOps ops = attention_forward();
  const double up = spec_.model.gated ? 2 * f_ : f_;
  add_kernel(ops, model_.memory("mlp_norm", 2 * w_ * nr_ * h_));
  add_region_entry(ops, "mlp_up");
  add_quantization(ops, "mlp_up_input", n_ * h_);
  add_kernel(ops, model_.gemm("mlp_up", {.m = n_, .n = up, .k = h_}));
  add_kernel(ops, spec_.model.gated ? model_.memory("swiglu", 3 * w_ * n_ * f_) : model_.memory("gelu", 2 * w_ * n_ * f_));
  add_quantization(ops, "mlp_down_input", n_ * f_);
  add_kernel(ops, model_.gemm("mlp_down", {.m = n_, .n = h_, .k = f_}));
  add_region_exit(ops, "mlp_down");
  add_residual(ops, "mlp");
  return ops;
}

LayerOps LayerKernels::layer_backward() const {
  LayerOps ops;
  const double up = spec_.model.gated ? 2 * f_ : f_;
  add_residual_backward(ops, "mlp");
  add_row_backward(ops, "mlp_down", f_);
  if (spec_.model.gated) {
    add_kernel(ops, model_.memory("swiglu_backward", 5 * w_ * n_ * f_));
  } else {
    add_kernel(ops, model_.memory("gelu_backward", 3 * w_ * n_ * f_));
    if (spec_.model.bias) add_kernel(ops, model_.memory("mlp_up_bias_gradient", w_ * n_ * f_));
  }
  add_column_backward(ops, "mlp_up", up, up * h_ + with_bias(up));
  add_norm_backward(ops, "mlp_norm");
  add_kernel(ops, model_.memory("mlp_residual_sum", 3 * w_ * nr_ * h_));
  add_attention_backward(ops);
  return ops;
}

void LayerKernels::add_attention_backward(LayerOps& ops) const {
  add_residual_backward(ops, "attention");
  add_row_backward(ops, "attention_output", heads_ * d_);
  add_core_attention_backward(ops);
  if (spec_.model.position == Position::rotary) {
    add_kernel(ops, model_.memory("rotary_backward", 2 * w_ * n_ * (heads_ + kv_heads_) * d_));
  }
  add_kernel(ops, model_.memory("qkv_gradient_gather", 6 * w_ * n_ * heads_ * d_));
  add_column_backward(ops, "qkv", qkv_, qkv_ * h_ + with_bias(qkv_));
  add_norm_backward(ops, "input_norm");
  add_kernel(ops, model_.memory("attention_residual_sum", 3 * w_ * nr_ * h_));
}

LayerOps LayerKernels::recompute(LayerOps forward) const {
  LayerOps ops;
  if (spec_.recompute == Recompute::none) return ops;
  if (spec_.recompute == Recompute::full) {
    ops = std::move(forward);
  } else {
    add_core_attention(ops);
  }
  for (LayerOp& op : ops) {
    std::string& name = op.kind == LayerOp::Kind::kernel ? op.kernel.name : op.name;
    name.insert(0, "recompute_");
  }
  return ops;
}

LayerOps LayerKernels::embedding_forward() const {
  LayerOps ops;
  add_kernel(ops, model_.memory("embedding", 6 * w_ * n_ * h_));
  add_region_exit(ops, "embedding");
  if (spec_.model.embedding_norm) add_kernel(ops, model_.memory("embedding_norm", 2 * w_ * nr_ * h_));
  return ops;
}

LayerOps LayerKernels::embedding_backward() const {
  LayerOps ops;
  if (spec_.model.embedding_norm) add_norm_backward(ops, "embedding_norm");
  add_region_entry(ops, "embedding_gradient");
  add_kernel(ops, model_.memory("embedding_backward", 4 * w_ * n_ * h_));
  add_kernel(ops, model_.memory("embedding_gradient_accumulation", (w_ + 2 * g_) * table_parameters()),
             table_parameters() + position_parameters());
  return ops;
}

LayerOps LayerKernels::head_forward() const {
  LayerOps ops;
  const sim::Bytes per_token{n_ * kLossScalarBytes};
  const double loss_bytes = spec_.software.loss_bytes_per_logit * n_ * vocabulary_;
  add_kernel(ops, model_.memory("final_norm", 2 * w_ * nr_ * h_));
  add_region_entry(ops, "logits");
  add_kernel(ops, model_.gemm("logits", {.m = n_, .n = vocabulary_, .k = h_, .general = true}));
  add_collective(ops, CollectiveKind::all_reduce, per_token, "loss_maximum_all_reduce");
  add_kernel(ops, model_.memory("loss", kLossForwardShare * loss_bytes));
  add_collective(ops, CollectiveKind::all_reduce, per_token, "loss_target_all_reduce");
  add_collective(ops, CollectiveKind::all_reduce, per_token, "loss_sum_all_reduce");
  return ops;
}

LayerOps LayerKernels::head_backward() const {
  LayerOps ops;
  const double loss_bytes = spec_.software.loss_bytes_per_logit * n_ * vocabulary_;
  add_kernel(ops, model_.memory("loss_backward", (1 - kLossForwardShare) * loss_bytes));
  add_column_backward(ops, "logits", vocabulary_, head_table_parameters(), true);
  add_norm_backward(ops, "final_norm");
  return ops;
}

double LayerKernels::norm_parameters() const { return spec_.model.norm == Norm::layernorm ? 2 * h_ : h_; }

double LayerKernels::layer_norm_parameters() const { return 2 * norm_parameters(); }

double LayerKernels::layer_parameters() const {
  const double up = spec_.model.gated ? 2 * f_ : f_;
  return attention_parameters() + h_ * up + f_ * h_ + with_bias(up + h_) + layer_norm_parameters();
}

double LayerKernels::attention_parameters() const { return h_ * qkv_ + heads_ * d_ * h_ + with_bias(qkv_ + h_); }

double LayerKernels::table_parameters() const { return vocabulary_ * h_; }

double LayerKernels::embedding_parameters() const {
  return table_parameters() + position_parameters() + (spec_.model.embedding_norm ? norm_parameters() : 0);
}

double LayerKernels::position_parameters() const { return spec_.model.learned_positions() * h_; }

double LayerKernels::head_table_parameters() const {
  return spec_.model.tied_embeddings && PipelineMap{spec_.parallel}.ends_meet() ? 0 : table_parameters();
}

double LayerKernels::head_parameters() const { return head_table_parameters() + norm_parameters(); }

double LayerKernels::with_bias(double outputs) const { return spec_.model.bias ? outputs : 0; }

sim::Bytes LayerKernels::hidden_bytes() const { return sim::Bytes{n_ * h_ * w_}; }

}  // namespace traingraph::workloads
