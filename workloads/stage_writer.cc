#include "workloads/stage_writer.h"

#include <fmt/format.h>

#include <utility>

#include "sim/error.h"
#include "workloads/stage_end.h"

namespace traingraph::workloads {

StageWriter::StageWriter(const TransformerSpec& spec, const KernelModel& model, const StageShape& shape,
                         ExpertRouting& routing, std::uint32_t ep_rank, ProgramWriter& writer)
    : spec_{spec},
      model_{model},
      shape_{shape},
      routing_{routing},
      ep_rank_{ep_rank},
      writer_{writer},
      kernels_{spec, model},
      map_{spec.parallel} {
  hosted_ = spec.software.launch_forward > sim::Duration{} || spec.software.launch_backward > sim::Duration{};
  microbatches_ = microbatches_of_replica(spec);
}

void StageWriter::choose_slots() {
  const ParallelSpec& p = spec_.parallel;
  if (p.tp > 1) slots_.add(SlotUse::tp);
  if (p.cp > 1) slots_.add(SlotUse::cp);
  const Sharding sharding{p};
  if (sharding.replicas > 1) slots_.add(SlotUse::dp);
  if (sharding.hybrid) {
    slots_.add(SlotUse::shard);
    slots_.add(SlotUse::replicas);
  }
  if (shape_.moe_layers() > 0 && p.ep > 1) {
    slots_.add(SlotUse::ep);
    if (spec_.routing.node_limit) {
      slots_.add(SlotUse::ep_rail);
      slots_.add(SlotUse::ep_node);
    }
  }
  if (shape_.moe_layers() > 0 && sharding.expert_replicas > 1) slots_.add(SlotUse::edp);
  if (sharding.stage == 3 && sharding.replicas > 1) slots_.add(SlotUse::gather);
  if (shape_.norm_members > 1) slots_.add(SlotUse::norm);
  if (spec_.model.tied_embeddings && !map_.ends_meet() && (shape_.has_embedding() || shape_.has_head())) {
    slots_.add(SlotUse::embedding);
  }
  bool down_out = false, down_in = false, up_out = false, up_in = false;
  for (std::uint32_t c = 0; c < map_.chunks(); ++c) {
    down_out |= map_.output(shape_.stage, c) == Peer::next;
    up_out |= map_.output(shape_.stage, c) == Peer::previous;
    down_in |= map_.input(shape_.stage, c) == Peer::previous;
    up_in |= map_.input(shape_.stage, c) == Peer::next;
  }
  const auto add = [&](bool wanted, SlotUse one, SlotUse other) {
    if (!wanted) return;
    slots_.add(one);
    slots_.add(other);
  };
  add(down_out, SlotUse::forward_send, SlotUse::backward_receive);
  add(down_in, SlotUse::forward_receive, SlotUse::backward_send);
  add(up_out, SlotUse::forward_send_up, SlotUse::backward_receive_up);
  add(up_in, SlotUse::forward_receive_up, SlotUse::backward_send_up);
}

StageWriter::Part StageWriter::compile_part(const LayerOps& forward, const LayerOps& recompute,
                                            const LayerOps& backward) const {
  Part part;
  part.forward = compile(forward, spec_, writer_);
  part.backward = compile(backward, spec_, writer_);
  part.recompute = compile(recompute, spec_, writer_);
  const BackwardHalves halves = split_backward(backward);
  part.input_gradient = compile(halves.input_gradient, spec_, writer_);
  part.weight_gradient = compile(halves.weight_gradient, spec_, writer_);
  return part;
}

void StageWriter::compile_all() {
  if (shape_.layers() > shape_.moe_layers()) {
    const LayerOps forward = kernels_.layer_forward();
    layer_ = compile_part(forward, kernels_.recompute(forward), kernels_.layer_backward());
  }
  compile_experts();
  if (shape_.has_embedding()) embedding_ = compile_part(kernels_.embedding_forward(), {}, kernels_.embedding_backward());
  if (shape_.has_head()) head_ = compile_part(kernels_.head_forward(), {}, kernels_.head_backward());
}

void StageWriter::compile_experts() {
  for (const ChunkShape& chunk : shape_.chunks) {
    for (std::uint32_t l = chunk.first_layer; l < chunk.first_layer + chunk.layers; ++l) {
      const std::uint32_t key = routing_.is_uneven() ? l : 0;
      if (!spec_.model.is_moe_layer(l) || experts_.contains(key)) continue;
      const ExpertLoad load = routing_.load(l, ep_rank_);
      const LayerOps forward = kernels_.moe_layer_forward(load);
      experts_.emplace(key, compile_part(forward, kernels_.recompute(forward), kernels_.moe_layer_backward(load)));
    }
  }
}

const StageWriter::Part& StageWriter::part_of(std::uint32_t layer) const {
  return spec_.model.is_moe_layer(layer) ? experts_.at(routing_.is_uneven() ? layer : 0) : layer_;
}

KernelTotals StageWriter::layer_totals(const ChunkShape& chunk, CompiledOps Part::*list) const {
  KernelTotals sum;
  for (std::uint32_t l = 0; l < chunk.layers; ++l) {
    if (list == &Part::recompute && !is_recomputed(spec_, l)) continue;
    sum.add((part_of(chunk.first_layer + l).*list).totals);
  }
  return sum;
}

StageResult StageWriter::write() {
  choose_slots();
  const ParallelSpec& p = spec_.parallel;
  hand_off_ = writer_.message(kernels_.hidden_bytes() / (p.sequence_parallel || p.scatter_gather ? p.tp : 1));
  compile_all();
  streams_.emplace(fmt::format("stage {}", shape_.stage), static_cast<std::uint32_t>(slots_.uses().size()));
  data_.emplace(spec_, kernels_, model_.word(), shape_, slots_, writer_, *streams_);
  data_->begin_step();
  write_passes();
  data_->end_passes();
  StageEnd end{spec_, model_, kernels_, shape_, slots_, writer_, *streams_};
  const KernelTotals optimizer = end.write(*data_);
  data_->end_step();
  return result(optimizer);
}

StageResult StageWriter::result(const KernelTotals& optimizer) {
  StageResult r;
  r.slots = slots_.uses();
  const std::int64_t copies = map_.copies();  // a micro-batch passes one of them
  const auto time = [&](CompiledOps Part::*list) {
    sim::Duration sum = (embedding_.*list).totals.time + (head_.*list).totals.time;
    for (const ChunkShape& chunk : shape_.chunks) sum += layer_totals(chunk, list).time;
    return sum;
  };
  r.forward = time(&Part::forward);
  r.backward = time(&Part::backward) + time(&Part::recompute);
  if (splits_backward(spec_.parallel.schedule) && copies == 1) {
    r.after_hand_off = time(&Part::weight_gradient);
    r.backward -= r.after_hand_off;
  }
  if (copies > 1) {
    r.forward = r.forward.scaled(1.0 / static_cast<double>(copies));
    r.backward = r.backward.scaled(1.0 / static_cast<double>(copies));
  }
  const ChunkShape& first = shape_.chunks.front();
  for (CompiledOps Part::*list : {&Part::forward, &Part::backward, &Part::recompute}) {
    r.first_chunk += layer_totals(first, list).time;
    if (first.embedding) r.first_chunk += (embedding_.*list).totals.time;
    if (first.head) r.first_chunk += (head_.*list).totals.time;
  }
  const std::int64_t microbatches = microbatches_ / copies;
  std::int64_t recomputed = 0;  // layers without experts
  for (const ChunkShape& chunk : shape_.chunks) {
    for (std::uint32_t l = 0; l < chunk.layers; ++l) {
      if (is_recomputed(spec_, l) && !spec_.model.is_moe_layer(chunk.first_layer + l)) ++recomputed;
    }
  }
  KernelTotals totals;
  for (CompiledOps Part::*list : {&Part::forward, &Part::backward, &Part::recompute}) {
    const std::int64_t layers = list == &Part::recompute ? recomputed : shape_.layers() - shape_.moe_layers();
    totals.add((layer_.*list).totals, layers * microbatches);
  }
  for (const Part* part : {&embedding_, &head_}) {
    for (CompiledOps Part::*list : {&Part::forward, &Part::backward}) totals.add((part->*list).totals, microbatches);
  }
  for (const ChunkShape& chunk : shape_.chunks) {
    for (std::uint32_t l = 0; l < chunk.layers; ++l) {
      if (!spec_.model.is_moe_layer(chunk.first_layer + l)) continue;
      const Part& part = part_of(chunk.first_layer + l);
      totals.add(part.forward.totals, microbatches);
      totals.add(part.backward.totals, microbatches);
      if (is_recomputed(spec_, l)) totals.add(part.recompute.totals, microbatches);
    }
  }
  totals.add(optimizer);
  r.facts.flop = totals.flop;
  r.facts.arithmetic_at_peak = totals.flop / model_.peak();
  r.facts.memory_bound_bytes = totals.memory_bound_bytes;
  r.facts.memory_at_peak = totals.memory_bound_bytes / model_.hardware().memory_bandwidth;
  r.facts.kernels = totals.time;
  r.role = streams_->take();
  return r;
}

std::vector<StageWriter::Completes> StageWriter::completions(const std::vector<Pass>& passes) const {
  std::vector<Completes> result(passes.size());
  std::vector<Completes> seen(map_.chunks());
  const bool all = data_->sharding().every_microbatch;
  for (std::size_t i = passes.size(); i-- > 0;) {
    const Pass& p = passes[i];
    if (p.kind == PassKind::forward) continue;
    if (p.kind != PassKind::weight_gradient) result[i].inputs = !std::exchange(seen[p.chunk].inputs, true) || all;
    if (p.kind != PassKind::input_gradient) result[i].weights = !std::exchange(seen[p.chunk].weights, true) || all;
  }
  return result;
}

void StageWriter::write_passes() {
  const PipelineShape shape{spec_.parallel.pp, microbatches_, spec_.parallel.virtual_stages};
  const std::vector<Pass> passes = passes_of_stage(spec_.parallel.schedule, shape, shape_.stage);
  const std::vector<Completes> completes = completions(passes);
  const auto write = [&](std::size_t i) {
    completes_ = completes[i];
    write_pass(passes[i]);
  };
  for (std::size_t i = 0; i < passes.size(); ++i) {
    std::size_t last = i;
    post_receive(passes[i]);
    if (passes[i].paired) post_receive(passes[++last]);
    for (std::size_t k = i; k <= last; ++k) write(k);
    end_launches();
    for (std::size_t k = i; k <= last; ++k) send(passes[k]);
    streams_->at(-1, -1);
    for (std::size_t k = i; k <= last; ++k) {
      if (completes[k].weights) data_->chunk_done(passes[k].chunk);
    }
    i = last;
  }
  completes_ = {};
}

void StageWriter::post_receive(const Pass& pass) {
  streams_->at(static_cast<std::int32_t>(pass.microbatch), -1);
  first_group_ = true;
  const bool forward = pass.kind == PassKind::forward;
  pass_input_ = forward ? Stream::forward_receive : Stream::backward_receive;
  if (pass.kind == PassKind::weight_gradient) return;
  const Peer peer = forward ? map_.input(shape_.stage, pass.chunk) : map_.output(shape_.stage, pass.chunk);
  if (peer == Peer::none || peer == Peer::itself) return;
  const SlotUse use = forward ? (peer == Peer::previous ? SlotUse::forward_receive : SlotUse::forward_receive_up)
                              : (peer == Peer::next ? SlotUse::backward_receive : SlotUse::backward_receive_up);
  const ParallelSpec& p = spec_.parallel;
  const std::uint16_t label =
      writer_.label(forward ? "forward_receive" : "backward_receive", TimeCategory::wait, TimeCategory::bubble);
  streams_->receive(pass_input_, label, slots_[use], hand_off_);
  if (p.scatter_gather && p.tp > 1) {
    const std::uint16_t gather = writer_.label(forward ? "forward_receive_all_gather" : "backward_receive_all_gather",
                                               TimeCategory::exposed_tp, TimeCategory::bubble);
    streams_->collective(Stream::blocking, gather, slots_[SlotUse::tp],
                         writer_.collective({.kind = CollectiveKind::all_gather,
                                             .algorithm = spec_.algorithms.tp_all_gather,
                                             .bytes = kernels_.hidden_bytes(),
                                             .options = {}}),
                         {pass_input_});
  } else {
    streams_->require_all(pass_input_);
  }
}

void StageWriter::end_launches() {
  if (!hosted_) return;
  streams_->require_all(Stream::host);
  streams_->marker(writer_.label("launched", TimeCategory::idle));
}

void StageWriter::send(const Pass& pass) {
  if (pass.kind == PassKind::weight_gradient) return;
  streams_->at(static_cast<std::int32_t>(pass.microbatch), -1);
  const bool forward = pass.kind == PassKind::forward;
  const Peer peer = forward ? map_.output(shape_.stage, pass.chunk) : map_.input(shape_.stage, pass.chunk);
  if (peer == Peer::none || peer == Peer::itself) return;
  const SlotUse use = forward ? (peer == Peer::next ? SlotUse::forward_send : SlotUse::forward_send_up)
                              : (peer == Peer::previous ? SlotUse::backward_send : SlotUse::backward_send_up);
  streams_->send(forward ? Stream::forward_send : Stream::backward_send,
                 writer_.label(forward ? "forward_send" : "backward_send", TimeCategory::wait), slots_[use], hand_off_);
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
      streams_->collective(Stream::blocking, op.label, slots_[op.over], op.argument);
      continue;
    }
    streams_->compute(op.label, op.argument, op.may_overlap);
    const bool complete = op.of_weight_gradient ? completes_.weights : completes_.inputs;
    if (complete && op.gradient_elements > 0) data_->gradient_done(chunk_, op.gradient_elements, op.of_experts);
  }
}

void StageWriter::write_pass(const Pass& pass) {
  chunk_ = pass.chunk;
  pass.kind == PassKind::forward ? write_forward(pass) : write_backward(pass);
}

void StageWriter::write_forward(const Pass& pass) {
  const auto mb = static_cast<std::int32_t>(pass.microbatch);
  const ChunkShape& chunk = shape_.chunks[pass.chunk];
  const sim::Duration launch = spec_.software.launch_forward;
  streams_->at(mb, -1);
  data_->begin_pass(pass.chunk, true);
  const auto unit = [&](const Part& part) {
    data_->before_unit();
    write_ops(part.forward, launch);
    data_->after_unit();
  };
  if (chunk.embedding) unit(embedding_);
  for (std::uint32_t l = 0; l < chunk.layers; ++l) {
    streams_->at(mb, static_cast<std::int32_t>(chunk.first_layer + l));
    unit(part_of(chunk.first_layer + l));
  }
  streams_->at(mb, -1);
  if (chunk.head) unit(head_);
  data_->end_pass();
}

void StageWriter::write_backward_ops(const Part& part, PassKind kind, bool recomputed) {
  const sim::Duration launch = spec_.software.launch_backward;
  const bool needs_parameters = kind != PassKind::weight_gradient;
  if (needs_parameters) data_->before_unit();
  if (needs_parameters && recomputed) write_ops(part.recompute, spec_.software.launch_forward);
  write_ops(kind == PassKind::backward         ? part.backward
            : kind == PassKind::input_gradient ? part.input_gradient
                                               : part.weight_gradient,
            launch);
  if (needs_parameters) data_->after_unit();
  data_->unit_done(chunk_);
}

void StageWriter::write_backward(const Pass& pass) {
  const auto mb = static_cast<std::int32_t>(pass.microbatch);
  const ChunkShape& chunk = shape_.chunks[pass.chunk];
  streams_->at(mb, -1);
  if (pass.kind != PassKind::weight_gradient) data_->begin_pass(pass.chunk, false);
  if (chunk.head) write_backward_ops(head_, pass.kind, false);
  for (std::uint32_t l = chunk.layers; l-- > 0;) {
    streams_->at(mb, static_cast<std::int32_t>(chunk.first_layer + l));
    write_backward_ops(part_of(chunk.first_layer + l), pass.kind, is_recomputed(spec_, l));
  }
  streams_->at(mb, -1);
  if (chunk.embedding) write_backward_ops(embedding_, pass.kind, false);
  data_->end_pass();
}

}  // namespace traingraph::workloads
