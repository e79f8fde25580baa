#include "analysis/plan/plan_layout.h"

#include <fmt/format.h>

namespace traingraph::analysis::plan {

workloads::TransformerSpec transformer_of(const workloads::TransformerSpec& base, const PlanLayout& layout) {
  using workloads::ScheduleKind;
  workloads::TransformerSpec spec = base;
  workloads::ParallelSpec& p = spec.parallel;
  p.gpus = layout.gpus();
  p.tp = layout.tp;
  p.cp = layout.cp;
  p.pp = layout.pp;
  p.dp = layout.dp;
  p.ep = layout.ep;
  p.order = kOrders[layout.order];
  p.sequence_parallel = layout.sequence_parallel;
  p.schedule = layout.schedule;
  p.virtual_stages = layout.virtual_stages;
  p.layers_per_stage.clear();
  p.zero_stage = layout.zero_stage;
  p.distributed_optimizer = false;
  p.shard_group = 0;
  spec.micro_batch = layout.micro_batch;
  spec.recompute = layout.recompute;
  spec.recompute_layers.reset();

  const bool sharded_parameters = layout.zero_stage == 3;
  const bool bidirectional = layout.schedule == ScheduleKind::dualpipe;
  const bool halves_only = layout.schedule == ScheduleKind::zb_h1 || layout.schedule == ScheduleKind::zb_v;
  const workloads::ParallelSpec defaults;
  p.scatter_gather = p.scatter_gather && p.tp > 1 && p.pp > 1 && !p.sequence_parallel;
  p.overlap_tp_backward = p.overlap_tp_backward && !halves_only;
  p.overlap_grad_reduce = p.overlap_grad_reduce && !bidirectional;
  p.overlap_param_gather = p.overlap_param_gather && !bidirectional && (p.zero_stage == 1 || p.zero_stage == 2);
  if (sharded_parameters) p.bucket_size.reset();
  if (!sharded_parameters) {
    p.reshard_after_forward = defaults.reshard_after_forward;
    p.prefetch_layers = defaults.prefetch_layers;
  }
  if (p.cp == 1) p.cp_attention = defaults.cp_attention;
  if (p.ep == 1) {
    spec.routing.overlap_shared_experts = false;
    spec.routing.node_limit.reset();
  }
  return spec;
}

std::string to_string(const PlanLayout& l) {
  std::string text = fmt::format("TP {}{}", l.tp, l.sequence_parallel ? " SP" : "");
  if (l.cp > 1) text += fmt::format(" CP {}", l.cp);
  text += fmt::format(" PP {}", l.pp);
  if (l.virtual_stages > 1) text += fmt::format(" x {}", l.virtual_stages);
  text += fmt::format(" DP {}", l.dp);
  if (l.ep > 1) text += fmt::format(" EP {}", l.ep);
  return text + fmt::format(", {}, ZeRO {}, micro-batch {}, recompute {}, order {}", workloads::name_of(l.schedule),
                            l.zero_stage, l.micro_batch, workloads::name_of(l.recompute), kOrders[l.order]);
}

workloads::Sharding sharding_of(const workloads::ParallelSpec& base, const PlanLayout& l) {
  workloads::ParallelSpec p;
  p.dp = l.dp;
  p.cp = l.cp;
  p.ep = l.ep;
  p.pp = l.pp;
  p.schedule = l.schedule;
  p.virtual_stages = l.virtual_stages;
  p.zero_stage = l.zero_stage;
  p.gradient_reduction = base.gradient_reduction;
  return workloads::Sharding{p};
}

}  // namespace traingraph::analysis::plan
