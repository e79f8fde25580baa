// CompiledOps: a LayerOps list turned into table indices once, so that writing it into a template thousands of times costs a
// copy each.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/units.h"
#include "workloads/layer_kernels.h"
#include "workloads/program_writer.h"
#include "workloads/stage_shape.h"
#include "workloads/workload.h"
#include "workloads/workload_spec.h"

namespace traingraph::workloads {

struct CompiledOp {
  bool is_collective = false;
  SlotUse over = SlotUse::tp;  ///< the collective's group: tp, cp or ep
  bool of_experts = false;     ///< as in LayerOp
  std::uint16_t label = 0;
  std::uint32_t argument = 0;       ///< duration or collective index
  double gradient_elements = 0;     ///< as in LayerOp
  std::uint32_t may_overlap = 0;    ///< as in LayerOp
  bool of_weight_gradient = false;  ///< as in LayerOp
};

/// What the kernels of a list add up to.
struct KernelTotals {
  sim::Flop flop;
  sim::Bytes memory_bound_bytes;
  sim::Duration time;

  void add(const Kernel& kernel);
  void add(const KernelTotals& other, std::int64_t times = 1);
};

struct CompiledOps {
  std::vector<CompiledOp> ops;
  KernelTotals totals;
  std::uint32_t launches = 0;
};

/// Kernels are labelled compute or memory_bound by what limits them; collectives by their group: exposed_tp, exposed_cp,
/// exposed_ep.
[[nodiscard]] CompiledOps compile(const LayerOps& ops, const TransformerSpec& spec, ProgramWriter& writer);

}  // namespace traingraph::workloads
