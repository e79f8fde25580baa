#include "workloads/stage_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/error.h"

namespace traingraph::workloads {
namespace {

constexpr sim::Bytes kScalar{4};  // a norm, a loss: one fp32 number

}  // namespace

double stage_parameters(const TransformerSpec& spec, const LayerKernels& kernels, const StageShape& shape) {
  double sum = shape.layers * kernels.layer_parameters();
  if (shape.stage == 0) sum += kernels.embedding_parameters();
  if (shape.stage + 1 == spec.parallel.pp) sum += kernels.head_parameters();
  return sum;
}

StageWriter::StageWriter(const TransformerSpec& spec, const KernelModel& model, const StageShape& shape,
                         ProgramWriter& writer)
    : spec_{spec}, model_{model}, shape_{shape}, writer_{writer}, kernels_{spec, model} {
  hosted_ = spec.software.launch_forward > sim::Duration{} || spec.software.launch_backward > sim::Duration{};
  microbatches_ = spec.global_batch / (spec.parallel.dp * spec.micro_batch);
  gradient_bytes_ = spec.gradient_type == GradientType::fp32 ? 4.0 : model.word();
  bucket_elements_ = spec.parallel.bucket_size ? spec.parallel.bucket_size->count() / gradient_bytes_
                                               : std::numeric_limits<double>::infinity();
}

bool StageWriter::has_slot(SlotUse use) const { return std::find(slots_.begin(), slots_.end(), use) != slots_.end(); }

std::uint16_t StageWriter::slot(SlotUse use) const {
  const auto found = std::find(slots_.begin(), slots_.end(), use);
  SIM_ASSERT(found != slots_.end(), "a stage uses the slots that it has");
  return static_cast<std::uint16_t>(found - slots_.begin());
}

void StageWriter::choose_slots() {
  const ParallelSpec& p = spec_.parallel;
  if (p.tp > 1) slots_.push_back(SlotUse::tp);
  if (p.dp > 1) slots_.push_back(SlotUse::dp);
  if (shape_.norm_members > 1) slots_.push_back(SlotUse::norm);
  if (spec_.model.tied_embeddings && p.pp > 1 && (first() || last())) slots_.push_back(SlotUse::embedding);
  if (!last()) slots_.insert(slots_.end(), {SlotUse::forward_send, SlotUse::backward_receive});
  if (!first()) slots_.insert(slots_.end(), {SlotUse::forward_receive, SlotUse::backward_send});
}

void StageWriter::compile_all() {
  layer_forward_ = compile(kernels_.layer_forward(), spec_, writer_);
  layer_backward_ = compile(kernels_.layer_backward(), spec_, writer_);
  layer_recompute_ = compile(kernels_.layer_recompute(), spec_, writer_);
  if (first()) {
    embedding_forward_ = compile(kernels_.embedding_forward(), spec_, writer_);
    embedding_backward_ = compile(kernels_.embedding_backward(), spec_, writer_);
  }
  if (last()) {
    head_forward_ = compile(kernels_.head_forward(), spec_, writer_);
    head_backward_ = compile(kernels_.head_backward(), spec_, writer_);
  }
}

StageResult StageWriter::write() {
  choose_slots();
  const ParallelSpec& p = spec_.parallel;
  hand_off_ = writer_.message(kernels_.hidden_bytes() / (p.sequence_parallel || p.scatter_gather ? p.tp : 1));
  compile_all();
  streams_.emplace(fmt::format("stage {}", shape_.stage), static_cast<std::uint32_t>(slots_.size()), hosted_);
  gather_buckets_ = parameter_buckets();
  const bool gathers = p.distributed_optimizer && p.dp > 1;
  if (gathers && p.overlap_param_gather) {
    // The marker ends with the previous step's optimizer: dependencies cannot reach into another step, streams do.
    streams_->marker(writer_.label("step_start", TimeCategory::idle));
    write_parameter_gather();
    gathering_ = true;
  }
  write_passes();
  write_step_end();
  if (gathers && !p.overlap_param_gather) {
    write_parameter_gather();
    streams_->require_all(Stream::data);
    streams_->marker(writer_.label("parameters_gathered", TimeCategory::exposed_dp));
  }
  return result();
}

StageResult StageWriter::result() {
  StageResult r;
  r.slots = slots_;
  r.forward = layer_forward_.totals.time * shape_.layers + embedding_forward_.totals.time + head_forward_.totals.time;
  r.backward = (layer_backward_.totals.time + layer_recompute_.totals.time) * shape_.layers +
               embedding_backward_.totals.time + head_backward_.totals.time;
  KernelTotals totals;
  for (const CompiledOps* ops : {&layer_forward_, &layer_backward_, &layer_recompute_}) {
    totals.add(ops->totals, std::int64_t{shape_.layers} * microbatches_);
  }
  for (const CompiledOps* ops : {&embedding_forward_, &embedding_backward_, &head_forward_, &head_backward_}) {
    totals.add(ops->totals, microbatches_);
  }
  totals.add(optimizer_totals_);
  r.facts.flop = totals.flop;
  r.facts.arithmetic_at_peak = totals.flop / model_.peak();
  r.facts.memory_bound_bytes = totals.memory_bound_bytes;
  r.facts.memory_at_peak = totals.memory_bound_bytes / model_.hardware().memory_bandwidth;
  r.facts.kernels = totals.time;
  r.role = streams_->take();
  return r;
}

void StageWriter::write_passes() {
  const PipelineShape shape{spec_.parallel.pp, microbatches_, 1};
  const std::vector<Pass> passes = passes_of_stage(spec_.parallel.schedule, shape, shape_.stage);
  for (std::size_t i = 0; i < passes.size(); ++i) {
    collecting_gradients_ = i + 1 == passes.size() && spec_.parallel.dp > 1;
    passes[i].forward ? write_forward(passes[i].microbatch) : write_backward(passes[i].microbatch);
    if (passes[i].forward) gathering_ = false;
  }
  collecting_gradients_ = false;
}

void StageWriter::begin_pass(std::uint32_t microbatch, bool forward) {
  streams_->at(static_cast<std::int32_t>(microbatch), -1);
  first_group_ = true;
  pass_input_ = forward ? Stream::forward_receive : Stream::backward_receive;
  const SlotUse use = forward ? SlotUse::forward_receive : SlotUse::backward_receive;
  if (!has_slot(use)) return;
  const ParallelSpec& p = spec_.parallel;
  const std::uint16_t label =
      writer_.label(forward ? "forward_receive" : "backward_receive", TimeCategory::wait, TimeCategory::bubble);
  streams_->receive(pass_input_, label, slot(use), hand_off_);
  if (p.scatter_gather && p.tp > 1) {
    const std::uint16_t gather = writer_.label(forward ? "forward_receive_all_gather" : "backward_receive_all_gather",
                                               TimeCategory::exposed_tp, TimeCategory::bubble);
    streams_->collective(Stream::blocking, gather, slot(SlotUse::tp),
                         writer_.collective({.kind = CollectiveKind::all_gather,
                                             .algorithm = spec_.algorithms.tp_all_gather,
                                             .bytes = kernels_.hidden_bytes(),
                                             .options = {}}),
                         {pass_input_});
  } else {
    streams_->require_all(pass_input_);
  }
}

void StageWriter::end_pass(bool forward) {
  if (hosted_) {
    streams_->require_all(Stream::host);
    streams_->marker(writer_.label("launched", TimeCategory::idle));
  }
  const SlotUse use = forward ? SlotUse::forward_send : SlotUse::backward_send;
  if (has_slot(use)) {
    streams_->send(forward ? Stream::forward_send : Stream::backward_send,
                   writer_.label(forward ? "forward_send" : "backward_send", TimeCategory::wait), slot(use), hand_off_);
  }
  streams_->at(-1, -1);
}

void StageWriter::write_host(const CompiledOps& ops, sim::Duration launch_cost) {
  if (!hosted_) return;
  const std::uint16_t label = writer_.label("host_launch", TimeCategory::idle);
  if (!first_group_) streams_->require_all(Stream::host);
  const std::uint32_t duration = writer_.duration(launch_cost * std::int64_t{ops.launches});
  if (first_group_ && streams_->length(pass_input_) > 0) {
    streams_->host(label, duration, true, {pass_input_});
  } else {
    streams_->host(label, duration, first_group_);
  }
  first_group_ = false;
}

void StageWriter::write_ops(const CompiledOps& ops, sim::Duration launch_cost) {
  if (ops.ops.empty()) return;
  write_host(ops, launch_cost);
  for (const CompiledOp& op : ops.ops) {
    if (op.is_collective) {
      streams_->collective(Stream::blocking, op.label, slot(SlotUse::tp), op.argument);
      continue;
    }
    streams_->compute(op.label, op.argument, op.may_overlap);
    if (collecting_gradients_ && op.gradient_elements > 0) gradient_done(op.gradient_elements);
  }
}

void StageWriter::write_forward(std::uint32_t microbatch) {
  begin_pass(microbatch, true);
  const auto mb = static_cast<std::int32_t>(microbatch);
  const sim::Duration launch = spec_.software.launch_forward;
  next_unit_ = 0;
  if (first()) {
    unit_needs_parameters();
    write_ops(embedding_forward_, launch);
  }
  for (std::uint32_t l = 0; l < shape_.layers; ++l) {
    streams_->at(mb, static_cast<std::int32_t>(shape_.first_layer + l));
    unit_needs_parameters();
    write_ops(layer_forward_, launch);
  }
  streams_->at(mb, -1);
  if (last()) {
    unit_needs_parameters();
    write_ops(head_forward_, launch);
  }
  end_pass(true);
}

void StageWriter::write_backward(std::uint32_t microbatch) {
  begin_pass(microbatch, false);
  const auto mb = static_cast<std::int32_t>(microbatch);
  const sim::Duration launch = spec_.software.launch_backward;
  if (last()) write_ops(head_backward_, launch);
  for (std::uint32_t l = shape_.layers; l-- > 0;) {
    streams_->at(mb, static_cast<std::int32_t>(shape_.first_layer + l));
    write_ops(layer_recompute_, spec_.software.launch_forward);
    write_ops(layer_backward_, launch);
  }
  streams_->at(mb, -1);
  if (first()) write_ops(embedding_backward_, launch);
  end_pass(false);
}

// Parameters: units are the embedding (first stage), each layer, the head (last stage), in forward order.
std::vector<StageWriter::Bucket> StageWriter::parameter_buckets() const {
  std::vector<double> units;
  if (first()) units.push_back(kernels_.embedding_parameters());
  units.insert(units.end(), shape_.layers, kernels_.layer_parameters());
  if (last()) units.push_back(kernels_.head_parameters());
  std::vector<Bucket> buckets;
  Bucket open;
  for (const double unit : units) {
    open.elements += unit;
    ++open.units;
    if (open.elements < bucket_elements_) continue;
    buckets.push_back(open);
    open.elements = 0;
  }
  if (open.elements > 0) buckets.push_back(open);
  return buckets;
}

void StageWriter::write_parameter_gather() {
  const std::uint16_t label = writer_.label("parameter_all_gather", TimeCategory::exposed_dp);
  for (const Bucket& bucket : gather_buckets_) {
    streams_->collective(Stream::data, label, slot(SlotUse::dp),
                         writer_.collective({.kind = CollectiveKind::all_gather,
                                             .algorithm = spec_.algorithms.dp_all_gather,
                                             .bytes = sim::Bytes{bucket.elements * model_.word()},
                                             .options = {}}));
  }
}

void StageWriter::unit_needs_parameters() {
  if (!gathering_) return;
  ++next_unit_;
  std::uint32_t count = 1;
  for (const Bucket& bucket : gather_buckets_) {
    if (bucket.units >= next_unit_) break;
    ++count;
  }
  streams_->require(Stream::data, count);
}

void StageWriter::gradient_done(double elements) {
  open_bucket_ += elements;
  if (open_bucket_ >= bucket_elements_) close_bucket();
}

void StageWriter::close_bucket() {
  if (open_bucket_ > 0) closed_buckets_.push_back(open_bucket_);
  open_bucket_ = 0;
  if (!spec_.parallel.overlap_grad_reduce && collecting_gradients_) return;
  const bool sharded = spec_.parallel.distributed_optimizer;
  const std::uint16_t label =
      writer_.label(sharded ? "gradient_reduce_scatter" : "gradient_all_reduce", TimeCategory::exposed_dp);
  for (const double elements : closed_buckets_) {
    streams_->collective(
        Stream::data, label, slot(SlotUse::dp),
        writer_.collective({.kind = sharded ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce,
                            .algorithm = sharded ? spec_.algorithms.dp_reduce_scatter : spec_.algorithms.dp_all_reduce,
                            .bytes = sim::Bytes{elements * gradient_bytes_},
                            .options = {}}));
  }
  closed_buckets_.clear();
}

void StageWriter::write_step_end() {
  const auto scalar = [&](Algorithm algorithm, sim::Bytes bytes) {
    return writer_.collective({.kind = CollectiveKind::all_reduce, .algorithm = algorithm, .bytes = bytes, .options = {}});
  };
  if (spec_.parallel.dp > 1) {
    close_bucket();
    streams_->require_all(Stream::data);
  }
  const TimeCategory late = spec_.parallel.pp > 1 ? TimeCategory::bubble : TimeCategory::exposed_dp;
  if (spec_.parallel.sequence_parallel && spec_.parallel.tp > 1) {
    const double norms = shape_.layers * kernels_.layer_norm_parameters() + (last() ? kernels_.norm_parameters() : 0);
    streams_->collective(Stream::blocking, writer_.label("norm_gradient_all_reduce", TimeCategory::exposed_tp),
                         slot(SlotUse::tp), scalar(spec_.algorithms.tp_all_reduce, sim::Bytes{norms * gradient_bytes_}),
                         {Stream::data});
  }
  if (has_slot(SlotUse::embedding)) {
    streams_->collective(
        Stream::blocking, writer_.label("embedding_gradient_all_reduce", TimeCategory::exposed_dp, late),
        slot(SlotUse::embedding),
        scalar(spec_.algorithms.embedding_all_reduce, sim::Bytes{kernels_.table_parameters() * gradient_bytes_}),
        {Stream::data});
  }
  if (spec_.parallel.dp > 1 && last()) {  // for the log: no kernel waits for it
    streams_->collective(Stream::data, writer_.label("loss_all_reduce", TimeCategory::exposed_dp), slot(SlotUse::dp),
                         scalar(spec_.algorithms.scalar_all_reduce, kScalar));
  }
  write_optimizer();
}

void StageWriter::optimizer_kernel(const Kernel& kernel) {
  streams_->compute(writer_.label(kernel.name, TimeCategory::optimizer), writer_.duration(kernel.duration));
  optimizer_totals_.add(kernel);
}

void StageWriter::write_optimizer() {
  const ParallelSpec& p = spec_.parallel;
  const double local = stage_parameters(spec_, kernels_, shape_);
  const double shard = p.distributed_optimizer ? local / p.dp : local;
  const double w = model_.word();
  const double unscale = spec_.precision == Precision::fp16 ? 2 * gradient_bytes_ : 0;
  const double states = 24;  // fp32 weight and two moments, read and written
  const double weight = w < 4 ? w : 0;
  optimizer_kernel(model_.memory("gradient_norm", gradient_bytes_ * shard));
  if (has_slot(SlotUse::norm)) {
    const TimeCategory late = p.pp > 1 ? TimeCategory::bubble : TimeCategory::exposed_dp;
    streams_->collective(Stream::blocking, writer_.label("gradient_norm_all_reduce", TimeCategory::exposed_dp, late),
                         slot(SlotUse::norm),
                         writer_.collective({.kind = CollectiveKind::all_reduce,
                                             .algorithm = spec_.algorithms.scalar_all_reduce,
                                             .bytes = kScalar,
                                             .options = {}}));
  }
  optimizer_kernel(model_.memory("adam", (unscale + gradient_bytes_ + states + weight) * shard));
  optimizer_kernel(model_.memory("zero_gradients", gradient_bytes_ * local));
}

}  // namespace traingraph::workloads
