#include "workloads/compiled_ops.h"

#include <utility>

#include "sim/error.h"

namespace traingraph::workloads {
namespace {

Algorithm algorithm_of(const AlgorithmSpec& a, SlotUse group, CollectiveKind kind) {
  const bool cp = group == SlotUse::cp;
  switch (kind) {
    case CollectiveKind::all_reduce:
      return a.tp_all_reduce;
    case CollectiveKind::all_gather:
      return cp ? a.cp_all_gather : a.tp_all_gather;
    case CollectiveKind::reduce_scatter:
      return cp ? a.cp_reduce_scatter : a.tp_reduce_scatter;
    case CollectiveKind::all_to_all:
      return cp ? a.cp_all_to_all : a.ep_all_to_all;
    case CollectiveKind::all_to_all_v:
    case CollectiveKind::send_recv:
      return Algorithm::direct;
    default:
      throw sim::InternalError{"a layer has no such collective"};
  }
}

// The group of a layer's collective, and what its time is charged to.
std::pair<SlotUse, TimeCategory> group_of(LayerOp::Kind kind) {
  switch (kind) {
    case LayerOp::Kind::ep_collective:
      return {SlotUse::ep, TimeCategory::exposed_ep};
    case LayerOp::Kind::ep_rail_collective:
      return {SlotUse::ep_rail, TimeCategory::exposed_ep};
    case LayerOp::Kind::ep_node_collective:
      return {SlotUse::ep_node, TimeCategory::exposed_ep};
    case LayerOp::Kind::cp_collective:
      return {SlotUse::cp, TimeCategory::exposed_cp};
    default:
      return {SlotUse::tp, TimeCategory::exposed_tp};
  }
}

}  // namespace

void KernelTotals::add(const Kernel& kernel) {
  flop += kernel.flop;
  if (kernel.memory_bound) memory_bound_bytes += kernel.bytes;
  time += kernel.duration;
}

void KernelTotals::add(const KernelTotals& other, std::int64_t times) {
  flop += other.flop * static_cast<double>(times);
  memory_bound_bytes += other.memory_bound_bytes * static_cast<double>(times);
  time += other.time * times;
}

CompiledOps compile(const LayerOps& ops, const TransformerSpec& spec, ProgramWriter& writer) {
  CompiledOps result;
  result.ops.reserve(ops.size());
  for (const LayerOp& op : ops) {
    CompiledOp c;
    c.gradient_elements = op.gradient_elements;
    c.may_overlap = op.may_overlap;
    c.of_weight_gradient = op.of_weight_gradient;
    c.of_experts = op.of_experts;
    if (op.kind != LayerOp::Kind::kernel) {
      c.is_collective = true;
      const auto [group, category] = group_of(op.kind);
      c.over = group;
      c.label = writer.label(op.name, category);
      CollectiveOptions options;
      options.matrix = op.matrix;
      c.argument = writer.collective({.kind = op.collective,
                                      .algorithm = algorithm_of(spec.algorithms, group, op.collective),
                                      .bytes = op.bytes,
                                      .options = options});
    } else {
      c.label = writer.label(op.kernel.name, op.kernel.memory_bound ? TimeCategory::memory_bound : TimeCategory::compute);
      c.argument = writer.duration(op.kernel.duration);
      result.totals.add(op.kernel);
    }
    result.ops.push_back(c);
  }
  result.launches = launch_count(ops, spec.software.launches_per_collective);
  return result;
}

}  // namespace traingraph::workloads
