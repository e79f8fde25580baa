#include "tests/analysis/plan_cases.h"

#include <algorithm>
#include <variant>

#include "sim/error.h"
#include "sim/simulate.h"
#include "topology/build.h"
#include "topology/routing.h"
#include "workloads/build.h"
#include "workloads/cluster.h"
#include "workloads/memory.h"

namespace traingraph::analysis::plan::testing {
namespace {

using sim::tests::Dice;
using workloads::TransformerSpec;

const char* const kBase = R"(
cluster: {preset: rail_optimized, nodes: 2, node: dgx_h100}
hardware: h100_sxm
workload:
  kind: transformer
  model: {layers: 8, hidden: 1024, heads: 16, ffn: 4096, vocabulary: 32000, sequence: 2048}
  parallel: {dp: 16}
  global_batch: 32
  precision: bf16
  attention: flash
  software: cuda_graphs
  steps: 1
run: {network: flow}
)";

void draw_model(Dice& dice, TransformerSpec& t) {
  workloads::ModelSpec& m = t.model;
  m.layers = dice.pick(std::vector<std::uint32_t>{4, 8, 12});
  m.hidden = dice.pick(std::vector<std::uint32_t>{512, 1024, 4096});
  m.heads = 16;
  m.kv_heads = dice.pick(std::vector<std::uint32_t>{0, 8, 16});
  m.ffn = 4 * m.hidden;
  m.sequence = dice.pick(std::vector<std::uint32_t>{512, 2048, 8192});
  m.gated = dice.chance(0.5);
  m.tied_embeddings = dice.chance(0.5);
  if (!dice.chance(0.4)) return;
  m.moe.experts = 8;
  m.moe.experts_per_token = dice.between(1, 2);
  m.moe.ffn = m.hidden;
  m.moe.dense_layers = dice.chance(0.3) ? 1 : 0;
  m.moe.shared_ffn = dice.chance(0.3) ? m.hidden : 0;
  if (dice.chance(0.3)) t.routing.distribution = workloads::RoutingDistribution::zipf;
  t.routing.overlap_shared_experts = m.moe.shared_ffn > 0 && dice.chance(0.5);
}

void draw_options(Dice& dice, TransformerSpec& t) {
  workloads::ParallelSpec& p = t.parallel;
  t.global_batch = dice.pick(std::vector<std::uint32_t>{16, 32, 48});
  t.attention = dice.chance(0.3) ? workloads::Attention::unfused : workloads::Attention::flash;
  t.gradient_type = dice.chance(0.5) ? workloads::GradientType::fp32 : workloads::GradientType::same_as_weights;
  p.overlap_grad_reduce = dice.chance(0.5);
  p.overlap_param_gather = dice.chance(0.5);
  p.overlap_tp_backward = dice.chance(0.3);
  p.scatter_gather = dice.chance(0.3);
  if (dice.chance(0.5)) p.bucket_size = sim::Bytes{1e7};
  p.cp_attention = dice.pick(std::vector<workloads::ContextParallelKind>{workloads::ContextParallelKind::ring,
                                                                         workloads::ContextParallelKind::all_gather,
                                                                         workloads::ContextParallelKind::ulysses});
  using enum workloads::Algorithm;
  t.algorithms.tp_all_reduce = dice.pick(std::vector<workloads::Algorithm>{ring, ring, direct, tree, halving_doubling});
  t.algorithms.dp_all_reduce = dice.pick(std::vector<workloads::Algorithm>{ring, ring, direct, tree});
  t.software.launch_forward = sim::Duration::us(dice.chance(0.3) ? 20 : 0);
  t.software.launch_backward = sim::Duration::us(dice.chance(0.3) ? 10 : 0);
  t.check_memory = false;
}

}  // namespace

scenarios::Scenario random_scenario(Dice& dice) {
  scenarios::Scenario s = scenarios::load_text(kBase, "random");
  s.cluster.nodes = dice.pick(std::vector<std::uint32_t>{1, 2, 3, 4});
  if (auto* nvswitch = std::get_if<topology::NvSwitch>(&s.cluster.scale_up)) {
    nvswitch->gpus = dice.pick(std::vector<std::uint32_t>{4, 8});
    nvswitch->in_switch_reduction = false;
  }
  s.cluster.nic.bandwidth = s.cluster.nic.bandwidth * dice.pick(std::vector<double>{0.1, 1, 20});
  s.cluster.routing.pxn = dice.chance(0.3);
  auto& t = std::get<TransformerSpec>(s.workload.job);
  draw_model(dice, t);
  draw_options(dice, t);
  if (dice.chance(0.2)) s.workload.slow_gpus = {{dice.below(4), dice.uniform(0.8, 1.5)}};
  return s;
}

PlanProblem problem_of(const scenarios::Scenario& s) {
  PlanProblem problem{std::get<TransformerSpec>(s.workload.job), s.hardware, s.cluster, 1};
  for (const workloads::SlowGpu& gpu : s.workload.slow_gpus) problem.fastest_gpu = std::min(problem.fastest_gpu, gpu.factor);
  return problem;
}

PlanLayout random_layout(Dice& dice, const scenarios::Scenario& s) {
  std::uint32_t rest = s.cluster.nodes * s.cluster.gpus_per_node;
  const auto part = [&](double chance) {
    std::uint32_t degree = 1;
    while (rest % 2 == 0 && dice.chance(chance)) {
      degree *= 2;
      rest /= 2;
    }
    return degree;
  };
  PlanLayout l;
  l.tp = part(0.5);
  l.pp = part(0.5);
  if (dice.chance(0.4)) l.cp = part(0.5);
  l.dp = rest;
  const auto& t = std::get<TransformerSpec>(s.workload.job);
  if (t.model.moe.experts > 0 && dice.chance(0.7)) l.ep = l.dp % 2 == 0 ? std::min(8U, l.dp & (~l.dp + 1)) : 1;
  l.micro_batch = dice.pick(std::vector<std::uint32_t>{1, 1, 2, 4});
  l.sequence_parallel = l.tp > 1 && (t.model.moe.experts > 0 || dice.chance(0.5));
  l.zero_stage = static_cast<std::uint8_t>(dice.below(4));
  l.order = static_cast<std::uint8_t>(dice.below(kOrders.size()));
  l.recompute = dice.pick(std::vector<workloads::Recompute>{workloads::Recompute::none, workloads::Recompute::selective,
                                                            workloads::Recompute::full});
  l.schedule = dice.pick(std::vector<workloads::ScheduleKind>{
      workloads::ScheduleKind::one_f_one_b, workloads::ScheduleKind::one_f_one_b, workloads::ScheduleKind::gpipe,
      workloads::ScheduleKind::zb_h1, workloads::ScheduleKind::zb_v, workloads::ScheduleKind::dualpipe});
  const bool looped = l.schedule == workloads::ScheduleKind::one_f_one_b || l.schedule == workloads::ScheduleKind::gpipe;
  if (looped && l.pp > 1 && dice.chance(0.4)) l.virtual_stages = 2;
  return l;
}

std::optional<Played> play(const scenarios::Scenario& s, const PlanLayout& layout) {
  workloads::WorkloadSpec spec = s.workload;
  spec.job = transformer_of(std::get<TransformerSpec>(s.workload.job), layout);
  spec.steps = 1;
  const topology::Fabric fabric = topology::build(s.cluster);
  workloads::Workload workload;
  try {
    workload = workloads::build(spec, s.hardware, workloads::cluster_of(fabric));
  } catch (const sim::InputError&) {
    return std::nullopt;
  }
  const auto router = topology::make_router(fabric, s.cluster);
  const sim::Record record = sim::simulate(fabric.links, *router, workload.program, s.run);
  Played played{record.step_ends.front().since_start().in_seconds(), 0};
  for (const workloads::RoleFacts& role : workload.roles) {
    played.memory = std::max(played.memory, workloads::total(role.memory).count());
  }
  return played;
}

}  // namespace traingraph::analysis::plan::testing
