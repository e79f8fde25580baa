#include "analysis/plan/step_parts.h"

#include <algorithm>

#include "analysis/share_out.h"
#include "sim/error.h"
#include "workloads/kernel_time.h"
#include "workloads/layer_kernels.h"
#include "workloads/memory.h"

namespace traingraph::analysis::plan {
namespace {

using workloads::CollectiveKind;
using workloads::Recompute;
using workloads::TransformerSpec;

constexpr std::size_t kGather = 0, kScatter = 1, kReduce = 2;

/// All-gather, reduce-scatter and all-reduce over one group.
std::array<LeastTime, 3> over_group(const NetworkRates& rates, const GroupPlace& group, workloads::Algorithm gather,
                                    workloads::Algorithm scatter, workloads::Algorithm reduce) {
  return {rates.least_time(CollectiveKind::all_gather, gather, group),
          rates.least_time(CollectiveKind::reduce_scatter, scatter, group),
          rates.least_time(CollectiveKind::all_reduce, reduce, group)};
}

double time_of(const LeastTime& each, double calls, double bytes) { return each.fixed * calls + each.per_byte * bytes; }

}  // namespace

StepBound::StepBound(const PlanProblem& problem) : problem_{problem}, rates_{problem.cluster} {
  const workloads::KernelModel model{problem.hardware, problem.base.precision};
  word_ = model.word();
  gradient_ = problem.base.gradient_type == workloads::GradientType::fp32 ? 4.0 : word_;
}

StepBound::~StepBound() = default;

StepBound::Key StepBound::key_of(const PlanLayout& l) { return {l.tp, l.cp, l.ep, l.sequence_parallel, l.micro_batch}; }

void StepBound::prepare(const PlanLayout& layout) {
  std::unique_ptr<Parts>& parts = parts_[key_of(layout)];
  if (!parts) parts = std::make_unique<Parts>(make_parts(layout));
}

void StepBound::prepare(const std::vector<PlanLayout>& layouts, std::uint32_t threads) {
  std::vector<std::unique_ptr<Parts>> made(layouts.size());
  share_out(layouts.size(), threads, nullptr, [&](std::size_t, std::size_t i) {
    if (!parts_.contains(key_of(layouts[i]))) made[i] = std::make_unique<Parts>(make_parts(layouts[i]));
  });
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    if (made[i]) parts_.insert_or_assign(key_of(layouts[i]), std::move(made[i]));
  }
}

StepBound::Parts StepBound::make_parts(const PlanLayout& layout) const {
  PlanLayout plain = layout;  // pipeline and sharding do not matter
  plain.pp = plain.virtual_stages = 1;
  plain.dp = layout.ep;
  plain.zero_stage = 0;
  plain.schedule = workloads::ScheduleKind::one_f_one_b;
  Parts parts;
  parts.costs = model_parts(problem_.base, problem_.hardware, plain);
  TransformerSpec spec = transformer_of(problem_.base, plain);
  for (const Recompute r : {Recompute::none, Recompute::selective, Recompute::full}) {
    spec.recompute = r;
    parts.stored_layer[static_cast<std::size_t>(r)] = workloads::stored_activations(spec, false).count();
    parts.stored_moe[static_cast<std::size_t>(r)] = workloads::stored_activations(spec, true).count();
  }
  parts.pending_layer = workloads::weight_gradient_activations(spec, false).count();
  parts.pending_moe = workloads::weight_gradient_activations(spec, true).count();
  const double tokens = double(layout.micro_batch) * spec.model.sequence / layout.cp;
  const double between = layout.sequence_parallel ? layout.tp : 1;
  const double table = 4 * static_cast<double>(workloads::padded_vocabulary(spec)) / layout.tp;
  parts.logits = tokens * (table + 2 * word_ * spec.model.hidden / between);
  return parts;
}

const StepBound::Parts& StepBound::parts_of(const PlanLayout& layout) const {
  const auto found = parts_.find(key_of(layout));
  SIM_ASSERT(found != parts_.end(), "parts are prepared before they are used");
  return *found->second;
}

StepBound::Degrees StepBound::degrees(const PlanLayout& l, const Without& without) const {
  const workloads::AlgorithmSpec& a = problem_.base.algorithms;
  Degrees d;
  d.layout = l;
  const std::uint64_t inner = std::uint64_t{l.tp} * l.cp;
  const bool dp_inside = l.order == 0;  // data-parallel ranks are neighbours, else pipeline stages are
  const std::uint64_t dp_stride = dp_inside ? inner : inner * l.pp;
  const std::uint64_t pp_stride = dp_inside ? inner * l.dp : inner;
  const GroupPlace tp{l.tp, 1, l.tp - 1U, l.tp};
  const GroupPlace cp{l.cp, l.tp, std::uint64_t{l.cp - 1} * l.tp, inner};
  const GroupPlace ep{l.ep, dp_stride, (l.ep - 1) * dp_stride, dp_stride * l.ep};
  GroupPlace dp{std::uint64_t{l.dp} * l.cp, l.tp, (l.dp - 1) * dp_stride + cp.span, dp_stride * l.dp};
  GroupPlace edp = dp;
  edp.members = dp.members / l.ep;
  edp.span = (l.dp - l.ep) * dp_stride + cp.span;
  if (!without.network_tp) d.tp = over_group(rates_, tp, a.tp_all_gather, a.tp_reduce_scatter, a.tp_all_reduce);
  if (!without.network_cp) {
    d.cp = {rates_.least_time(CollectiveKind::all_gather, a.cp_all_gather, cp),
            rates_.least_time(CollectiveKind::reduce_scatter, a.cp_reduce_scatter, cp),
            rates_.least_time(CollectiveKind::all_to_all, a.cp_all_to_all, cp),
            rates_.least_time(CollectiveKind::send_recv, workloads::Algorithm::direct, cp)};
  }
  const bool plain_exchange = !problem_.base.routing.node_limit;
  if (!without.network_ep && plain_exchange) d.ep = rates_.least_time(CollectiveKind::all_to_all, a.ep_all_to_all, ep);
  if (!without.network_dp) {
    d.dp = over_group(rates_, dp, a.dp_all_gather, a.dp_reduce_scatter, a.dp_all_reduce);
    d.edp = over_group(rates_, edp, a.dp_all_gather, a.dp_reduce_scatter, a.dp_all_reduce);
    // With the mirror image of the stage: which member's edge leaves the domain is not known, nor that all start together.
    for (GroupPlace* group : {&dp, &edp}) {
      group->members *= 2;
      group->span = 0;
      group->block = std::uint64_t{rates_.domain} + 1;
    }
    d.dp_two = over_group(rates_, dp, a.dp_all_gather, a.dp_reduce_scatter, a.dp_all_reduce);
    d.edp_two = over_group(rates_, edp, a.dp_all_gather, a.dp_reduce_scatter, a.dp_all_reduce);
    d.ends = rates_.least_time(CollectiveKind::all_reduce, a.embedding_all_reduce,
                               {2, pp_stride, (l.pp - 1) * pp_stride, std::uint64_t{rates_.domain} + 1});
  }
  if (!without.network_pp) d.hand_off = rates_.message(pp_stride);

  TransformerSpec spec = transformer_of(problem_.base, l);
  const workloads::KernelModel model{problem_.hardware, spec.precision};
  const workloads::LayerKernels kernels{spec, model};
  d.layer = kernels.layer_parameters();
  if (spec.model.moe_layers() > 0) {
    d.moe_layer = kernels.moe_layer_parameters();
    d.experts = kernels.expert_parameters();
  }
  d.embedding = kernels.embedding_parameters();
  d.table = kernels.table_parameters();
  d.norm = kernels.norm_parameters();
  return d;
}

namespace {

PassTime time_of(const ListCost& cost, const StepBound::Degrees& d, double fastest_gpu) {
  const double tp = time_of(d.tp[kGather], cost.tp_gathers, cost.tp_gathered) +
                    time_of(d.tp[kScatter], cost.tp_scatters, cost.tp_scattered) +
                    time_of(d.tp[kReduce], cost.tp_reduces, cost.tp_reduced);
  const double cp =
      time_of(d.cp[0], cost.cp_gathers, cost.cp_gathered) + time_of(d.cp[1], cost.cp_scatters, cost.cp_scattered) +
      time_of(d.cp[2], cost.cp_exchanges, cost.cp_exchanged) + time_of(d.cp[3], cost.cp_passes, cost.cp_passed_on);
  const double ep = time_of(d.ep, cost.ep_exchanges, cost.ep_exchanged);
  return {cost.kernels * fastest_gpu + tp + cp + ep, cost.host * fastest_gpu};
}

PassTime operator+(PassTime a, const PassTime& b) { return {a.gpu + b.gpu, a.host + b.host}; }

}  // namespace

StepBound::Batch StepBound::batch(const Degrees& d, const PlanLayout& l, const Without& without) const {
  const Parts& parts = parts_of(l);
  const double fastest = problem_.fastest_gpu;
  Batch b;
  const auto times = [&](ListCost PartCosts::*list, bool again) {
    const auto one = [&](const PartCosts& part) {
      PassTime t = time_of(part.*list, d, fastest);
      if (again && l.recompute == Recompute::full) t = t + time_of(part.recompute_full, d, fastest);
      if (again && l.recompute == Recompute::selective) t = t + time_of(part.recompute_selective, d, fastest);
      return t;
    };
    const ModelParts& c = parts.costs;
    return PartTimes{one(c.layer), one(c.moe_layer), one(c.embedding), one(c.head)};
  };
  b.forward = times(&PartCosts::forward, false);
  b.backward = times(&PartCosts::backward, true);
  b.input_gradient = times(&PartCosts::input_gradient, true);
  b.weight_gradient = times(&PartCosts::weight_gradient, false);
  if (l.pp > 1 && l.recompute != Recompute::full) {
    const auto first = l.recompute == Recompute::none ? &PartCosts::first_of_backward : &PartCosts::first_of_selective;
    b.before_input =
        std::max(time_of(parts.costs.layer.*first, d, fastest).gpu, time_of(parts.costs.moe_layer.*first, d, fastest).gpu);
  }
  const workloads::ModelSpec& m = problem_.base.model;
  const double tokens = double(l.micro_batch) * m.sequence / l.cp;
  const bool split = l.sequence_parallel || (problem_.base.parallel.scatter_gather && l.tp > 1 && l.pp > 1);
  if (!without.network_pp) b.hand_off = d.hand_off.seconds(tokens * m.hidden * word_ / (split ? l.tp : 1));
  const auto r = static_cast<std::size_t>(l.recompute);
  b.stored_layer = parts.stored_layer[r];
  b.stored_moe = parts.stored_moe[r];
  b.pending_layer = parts.pending_layer;
  b.pending_moe = parts.pending_moe;
  if (l.recompute == Recompute::full)
    b.again = m.moe_layers() > 0 ? std::min(parts.stored_layer[0], parts.stored_moe[0]) : parts.stored_layer[0];
  b.logits = parts.logits;
  return b;
}

}  // namespace traingraph::analysis::plan
