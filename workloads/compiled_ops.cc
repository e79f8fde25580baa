#include "workloads/compiled_ops.h"

#include "sim/error.h"

namespace traingraph::workloads {
namespace {

Algorithm algorithm_of(const AlgorithmSpec& algorithms, CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_reduce:
      return algorithms.tp_all_reduce;
    case CollectiveKind::all_gather:
      return algorithms.tp_all_gather;
    case CollectiveKind::reduce_scatter:
      return algorithms.tp_reduce_scatter;
    case CollectiveKind::all_to_all:
      return algorithms.ep_all_to_all;
    case CollectiveKind::all_to_all_v:
      return Algorithm::direct;
    default:
      throw sim::InternalError{"a layer has no such collective"};
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
      c.over_experts = op.kind == LayerOp::Kind::ep_collective;
      c.label = writer.label(op.name, c.over_experts ? TimeCategory::exposed_ep : TimeCategory::exposed_tp);
      CollectiveOptions options;
      options.matrix = op.matrix;
      c.argument = writer.collective({.kind = op.collective,
                                      .algorithm = algorithm_of(spec.algorithms, op.collective),
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
