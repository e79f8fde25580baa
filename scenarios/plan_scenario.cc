#include "scenarios/plan_scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "sim/error.h"
#include "sim/simulate.h"
#include "topology/build.h"
#include "topology/routing.h"
#include "workloads/build.h"
#include "workloads/cluster.h"
#include "workloads/memory.h"
#include "workloads/size_estimate.h"

namespace traingraph::scenarios {
namespace {

namespace plan = analysis::plan;
using workloads::TransformerSpec;

/// Programs beyond this are not played for a plan: they are said to be too large.
constexpr double kLargestProgram = 8e9;  // bytes

const TransformerSpec& transformer(const Scenario& s) {
  const auto* const t = std::get_if<TransformerSpec>(&s.workload.job);
  if (t == nullptr) throw sim::InputError{"plan: needs a scenario with workload.kind transformer"};
  if (s.workload.placement.kind != workloads::PlacementKind::in_order) {
    throw sim::InputError{
        fmt::format("plan: workload.placement is {}; allowed: in_order", name_of(s.workload.placement.kind))};
  }
  if (s.run.network == sim::NetworkModel::ideal) {
    throw sim::InputError{"plan: run.network is ideal, where transfers do not share links; allowed: flow, chunk"};
  }
  return *t;
}

std::uint8_t order_of(const std::string& order) {
  const auto* const found = std::find(plan::kOrders.begin(), plan::kOrders.end(), order);
  if (found == plan::kOrders.end()) {
    throw sim::InputError{
        fmt::format("plan: order '{}' cannot be kept; allowed: {}", order, fmt::join(plan::kOrders, ", "))};
  }
  return static_cast<std::uint8_t>(found - plan::kOrders.begin());
}

plan::SearchSpace space_of(const TransformerSpec& t, const std::vector<std::string>& keep) {
  const workloads::ParallelSpec& p = t.parallel;
  plan::SearchSpace space;
  for (const std::string& name : keep) {
    if (name == "tp") space.tp = p.tp;
    if (name == "cp") space.cp = p.cp;
    if (name == "pp") space.pp = p.pp;
    if (name == "ep") space.ep = p.ep;
    if (name == "micro_batch") space.micro_batch = t.micro_batch;
    if (name == "virtual_stages") space.virtual_stages = p.virtual_stages;
    if (name == "zero_stage") space.zero_stage = p.distributed_optimizer ? 1U : p.zero_stage;
    if (name == "sequence_parallel") space.sequence_parallel = p.sequence_parallel;
    if (name == "recompute") space.recompute = t.recompute;
    if (name == "schedule") space.schedule = p.schedule;
    if (name == "order") space.order = order_of(p.order);
  }
  return space;
}

topology::ClusterSpec cluster_with(const topology::ClusterSpec& cluster, std::uint32_t gpus) {
  topology::ClusterSpec changed = cluster;
  if (cluster.gpus_per_node == 0 || gpus % cluster.gpus_per_node != 0) {
    throw sim::InputError{
        fmt::format("plan: {} GPUs are no whole nodes of {} ({})", gpus, cluster.gpus_per_node, cluster.name)};
  }
  changed.nodes = gpus / cluster.gpus_per_node;
  return changed;
}

/// Plays layouts on one cluster.
class Player {
 public:
  Player(const Scenario& scenario, const topology::ClusterSpec& cluster, const std::atomic<bool>* cancel)
      : scenario_{scenario},
        fabric_{topology::build(cluster)},
        router_{topology::make_router(fabric_, cluster)},
        cluster_{workloads::cluster_of(fabric_)} {
    options_ = scenario.run;
    options_.bins = 0;
    options_.critical_path = false;
    options_.cancel = cancel;
    options_.progress = nullptr;
  }

  plan::Simulated operator()(const plan::PlanLayout& layout) const {
    plan::Simulated outcome;
    workloads::WorkloadSpec spec = scenario_.workload;
    spec.job = plan::transformer_of(std::get<TransformerSpec>(scenario_.workload.job), layout);
    spec.steps = 1;
    workloads::Workload workload;
    try {
      workload = workloads::build(spec, scenario_.hardware, cluster_);
    } catch (const sim::InputError& e) {
      outcome.why_not = e.what();
      return outcome;
    }
    if (workloads::estimate_size(workload).memory.count() > kLargestProgram) {
      outcome.too_large = true;
      return outcome;
    }
    const sim::Record record = sim::simulate(fabric_.links, *router_, workload.program, options_);
    outcome.seconds = record.step_ends.front().since_start().in_seconds();
    for (const workloads::RoleFacts& role : workload.roles) {
      outcome.memory = std::max(outcome.memory, workloads::total(role.memory).count());
    }
    outcome.tokens_per_s = workload.tokens_per_step / outcome.seconds;
    outcome.mfu =
        workload.model_flop_per_step.count() / (outcome.seconds * layout.gpus() * workload.peak_per_gpu.flop_per_s());
    return outcome;
  }

 private:
  const Scenario& scenario_;
  topology::Fabric fabric_;
  std::unique_ptr<const topology::FabricRouter> router_;
  workloads::Cluster cluster_;
  sim::RunOptions options_;
};

}  // namespace

const std::vector<std::string>& kept_dimensions() {
  static const std::vector<std::string> kNames{"tp",   "sequence_parallel", "cp",         "pp",        "virtual_stages",
                                               "ep",   "micro_batch",       "zero_stage", "recompute", "schedule",
                                               "order"};
  return kNames;
}

plan::PlanReport plan_scenario(const Scenario& s, const PlanQuestion& question) {
  const TransformerSpec& t = transformer(s);
  plan::PlanReport report;
  report.model =
      fmt::format("{}, sequence {}, global batch {}, {}, {} attention", t.model.name.empty() ? "transformer" : t.model.name,
                  t.model.sequence, t.global_batch, name_of(t.precision), name_of(t.attention));
  report.cluster = fmt::format("{} of {}", s.hardware.name, s.cluster.name);
  report.tokens_per_step = static_cast<double>(t.global_batch) * t.model.sequence;
  report.memory_capacity = s.hardware.memory_size.count();
  report.tokens = question.tokens;
  report.deadline_s = question.deadline_s;
  const plan::SearchSpace space = space_of(t, question.keep);
  std::vector<std::uint32_t> counts = question.gpus;
  if (counts.empty()) counts.push_back(static_cast<std::uint32_t>(gpu_count(s.cluster)));
  for (const std::uint32_t gpus : counts) {
    plan::PlanProblem problem{t, s.hardware, cluster_with(s.cluster, gpus), 1};
    for (const workloads::SlowGpu& gpu : s.workload.slow_gpus) {
      problem.fastest_gpu = std::min(problem.fastest_gpu, gpu.factor);
    }
    plan::StepBound bound{problem};
    const Player player{s, problem.cluster, question.limits.cancel};
    report.plans.push_back(plan::plan(bound, gpus, space, std::cref(player), question.limits));
  }
  return report;
}

Scenario scenario_of(const PlanParts& parts, const std::vector<std::string>& overrides) {
  std::vector<std::string> all{"cluster=" + parts.cluster, "hardware=" + parts.hardware, "workload.model=" + parts.model};
  if (parts.sequence) all.push_back("workload.model.sequence=" + *parts.sequence);
  if (parts.batch) all.push_back("workload.global_batch=" + *parts.batch);
  if (parts.precision) all.push_back("workload.precision=" + *parts.precision);
  all.insert(all.end(), overrides.begin(), overrides.end());
  return load_text(
      "workload: {kind: transformer, parallel: {gpus: 1}, attention: flash, precision: bf16, software: cuda_graphs}\n",
      "plan", all);
}

}  // namespace traingraph::scenarios
