#include "analysis/plan/part_costs.h"

#include <algorithm>

#include "workloads/expert_routing.h"
#include "workloads/kernel_time.h"
#include "workloads/layer_kernels.h"

namespace traingraph::analysis::plan {
namespace {

using workloads::CollectiveKind;
using workloads::LayerOp;
using workloads::LayerOps;
using workloads::TransformerSpec;

/// The costs of a list as numbers, for element-wise work.
constexpr std::array kFields{&ListCost::kernels,      &ListCost::tp_gathered,  &ListCost::tp_scattered,
                             &ListCost::tp_reduced,   &ListCost::tp_gathers,   &ListCost::tp_scatters,
                             &ListCost::tp_reduces,   &ListCost::cp_gathered,  &ListCost::cp_scattered,
                             &ListCost::cp_exchanged, &ListCost::cp_passed_on, &ListCost::cp_gathers,
                             &ListCost::cp_scatters,  &ListCost::cp_exchanges, &ListCost::cp_passes,
                             &ListCost::ep_exchanged, &ListCost::ep_exchanges, &ListCost::host};

/// Which operations of a backward.
enum class Half : std::uint8_t { both, input_gradient, weight_gradient };

bool belongs(const LayerOp& op, Half half) {
  return half == Half::both || op.of_weight_gradient == (half == Half::weight_gradient);
}

/// Whether the next kernel after the collective at `i` waits for it; at the end of a list the next list's does. In a half
/// of a backward nothing runs beside its collectives.
bool is_waited_for(const LayerOps& ops, std::size_t i, Half half) {
  if (half != Half::both) return true;
  std::uint32_t later = 0;
  for (std::size_t k = i + 1; k < ops.size(); ++k) {
    if (ops[k].kind == LayerOp::Kind::kernel) return ops[k].may_overlap <= later;
    ++later;
  }
  return true;
}

void add_tp(ListCost& cost, const LayerOp& op) {
  const double bytes = op.bytes.count();
  if (op.collective == CollectiveKind::all_gather) {
    cost.tp_gathered += bytes;
    ++cost.tp_gathers;
  } else if (op.collective == CollectiveKind::reduce_scatter) {
    cost.tp_scattered += bytes;
    ++cost.tp_scatters;
  } else {
    cost.tp_reduced += bytes;
    ++cost.tp_reduces;
  }
}

void add_cp(ListCost& cost, const LayerOp& op) {
  const double bytes = op.bytes.count();
  if (op.collective == CollectiveKind::all_gather) {
    cost.cp_gathered += bytes;
    ++cost.cp_gathers;
  } else if (op.collective == CollectiveKind::reduce_scatter) {
    cost.cp_scattered += bytes;
    ++cost.cp_scatters;
  } else if (op.collective == CollectiveKind::all_to_all) {
    cost.cp_exchanged += bytes;
    ++cost.cp_exchanges;
  } else {
    cost.cp_passed_on += bytes;
    ++cost.cp_passes;
  }
}

ListCost cost_of(const LayerOps& ops, const TransformerSpec& spec, sim::Duration launch, Half half = Half::both) {
  ListCost cost;
  sim::Duration kernels;
  std::int64_t launches = 0;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const LayerOp& op = ops[i];
    if (!belongs(op, half)) continue;
    if (op.kind == LayerOp::Kind::kernel) {
      kernels += op.kernel.duration;
      launches += op.kernel.launches;
      continue;
    }
    launches += spec.software.launches_per_collective;
    if (!is_waited_for(ops, i, half)) continue;
    if (op.kind == LayerOp::Kind::tp_collective) add_tp(cost, op);
    if (op.kind == LayerOp::Kind::cp_collective) add_cp(cost, op);
    if (op.kind == LayerOp::Kind::ep_collective && op.matrix == nullptr) {
      cost.ep_exchanged += op.bytes.count();
      ++cost.ep_exchanges;
    }
  }
  cost.kernels = kernels.in_seconds();
  cost.host = (launch * launches).in_seconds();
  return cost;
}

/// What comes before the first kernel.
ListCost beginning_of(const LayerOps& ops, const TransformerSpec& spec) {
  const auto kernel =
      std::find_if(ops.begin(), ops.end(), [](const LayerOp& op) { return op.kind == LayerOp::Kind::kernel; });
  return cost_of(LayerOps{ops.begin(), kernel}, spec, sim::Duration{});
}

class PartMaker {
 public:
  PartMaker(const TransformerSpec& spec, const workloads::HardwareSpec& hardware)
      : spec_{spec}, model_{hardware, spec.precision}, kernels_{spec_, model_}, selective_{spec} {
    selective_.recompute = workloads::Recompute::selective;
  }

  ModelParts make() {
    ModelParts parts;
    const workloads::ModelSpec& m = spec_.model;
    if (m.layers > m.moe_layers()) parts.layer = part(kernels_.layer_forward(), kernels_.layer_backward(), true);
    if (m.moe_layers() > 0) parts.moe_layer = experts();
    parts.embedding = part(kernels_.embedding_forward(), kernels_.embedding_backward(), false);
    parts.head = part(kernels_.head_forward(), kernels_.head_backward(), false);
    return parts;
  }

 private:
  [[nodiscard]] PartCosts part(const LayerOps& forward, const LayerOps& backward, bool recomputed) const {
    const sim::Duration ahead = spec_.software.launch_forward;
    const sim::Duration back = spec_.software.launch_backward;
    PartCosts costs;
    costs.forward = cost_of(forward, spec_, ahead);
    costs.backward = cost_of(backward, spec_, back);
    costs.input_gradient = cost_of(backward, spec_, back, Half::input_gradient);
    costs.weight_gradient = cost_of(backward, spec_, back, Half::weight_gradient);
    if (!recomputed) return costs;
    costs.recompute_full = costs.forward;
    const LayerOps selective = workloads::LayerKernels{selective_, model_}.recompute({});
    costs.recompute_selective = cost_of(selective, spec_, ahead);
    costs.first_of_backward = beginning_of(backward, spec_);
    costs.first_of_selective = beginning_of(selective, spec_);
    return costs;
  }

  /// Layers whose experts get different numbers of tokens: the least of each cost. The expert-parallel rank is the last one:
  /// that of the last data-parallel rank, whose times the bound speaks of.
  PartCosts experts() {
    workloads::ExpertRouting routing{spec_, model_.word()};
    PartCosts least;
    bool first = true;
    for (std::uint32_t l = 0; l < spec_.model.layers; ++l) {
      if (!spec_.model.is_moe_layer(l)) continue;
      const workloads::ExpertLoad load = routing.load(l, spec_.parallel.ep - 1);
      const PartCosts costs = part(kernels_.moe_layer_forward(load), kernels_.moe_layer_backward(load), true);
      least = first ? costs : smaller(least, costs);
      first = false;
      if (!routing.is_uneven()) break;
    }
    return least;
  }

  static PartCosts smaller(PartCosts a, const PartCosts& b) {
    for (ListCost PartCosts::*list :
         {&PartCosts::forward, &PartCosts::backward, &PartCosts::input_gradient, &PartCosts::weight_gradient,
          &PartCosts::recompute_selective, &PartCosts::recompute_full}) {
      for (double ListCost::*field : kFields) (a.*list).*field = std::min((a.*list).*field, (b.*list).*field);
    }
    return a;
  }

  TransformerSpec spec_;
  workloads::KernelModel model_;
  workloads::LayerKernels kernels_;
  TransformerSpec selective_;
};

}  // namespace

ListCost& ListCost::operator+=(const ListCost& other) {
  for (double ListCost::*field : kFields) this->*field += other.*field;
  return *this;
}

ModelParts model_parts(const TransformerSpec& base, const workloads::HardwareSpec& hardware, const PlanLayout& layout) {
  return PartMaker{transformer_of(base, layout), hardware}.make();
}

}  // namespace traingraph::analysis::plan
