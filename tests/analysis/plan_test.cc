// The planner: what it enumerates can be built, and what it calls proven is the best of all layouts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/plan/network_rates.h"
#include "analysis/plan/plan_report.h"
#include "analysis/plan/planner.h"
#include "sim/error.h"
#include "tests/analysis/plan_cases.h"
#include "workloads/parallel_rules.h"
#include "workloads/schedule.h"
#include "workloads/transformer.h"

namespace traingraph::analysis::plan {
namespace {

using sim::tests::Dice;
using ::testing::HasSubstr;
using testing::problem_of;
using testing::random_scenario;

/// A model of eight layers on eight GPUs, 1f1b without recomputation.
struct Small {
  Small() {
    Dice dice{3};
    scenario = random_scenario(dice);
    scenario.cluster.nodes = 1;
    scenario.workload.slow_gpus.clear();
    auto& t = std::get<workloads::TransformerSpec>(scenario.workload.job);
    t.model.layers = 8;
    t.model.moe = {};
    t.routing = {};
    t.global_batch = 16;
    space.schedule = workloads::ScheduleKind::one_f_one_b;
    space.recompute = workloads::Recompute::none;
    space.zero_stage = 1;
  }
  [[nodiscard]] Simulated simulate(const PlanLayout& layout) const {
    const auto played = testing::play(scenario, layout);
    Simulated s;
    if (!played) {
      s.why_not = "cannot be built";
      return s;
    }
    s.seconds = played->seconds;
    s.memory = played->memory;
    return s;
  }
  [[nodiscard]] Plan plan_with(const PlanLimits& limits) const {
    StepBound bound{problem_of(scenario)};
    return plan::plan(
        bound, 8, space, [this](const PlanLayout& l) { return simulate(l); }, limits);
  }
  scenarios::Scenario scenario;
  SearchSpace space;
};

TEST(Planner, WhatIsProvenIsTheBestOfAllLayouts) {
  const Small small;
  const Plan planned = small.plan_with({});
  ASSERT_TRUE(planned.proven());
  StepBound bound{problem_of(small.scenario)};
  double best = std::numeric_limits<double>::infinity();
  const SearchResult all = search(bound, 8, small.space, 1);
  ASSERT_GT(all.candidates.size(), 40U);
  for (const Candidate& c : all.candidates) {
    const Simulated s = small.simulate(c.layout);
    if (s.why_not.empty()) best = std::min(best, s.seconds);
  }
  EXPECT_EQ(planned.best()->seconds, best);
  EXPECT_LT(planned.simulated.size(), all.candidates.size());
}

TEST(Planner, AStoppedPlanSaysHowFarItGot) {
  const Small small;
  PlanLimits limits;
  limits.top = 1;
  const Plan stopped = small.plan_with(limits);
  ASSERT_EQ(stopped.simulated.size(), 1U);
  EXPECT_FALSE(stopped.proven());
  EXPECT_GT(stopped.may_be_faster(), 0);
  EXPECT_NEAR(*stopped.least_left * (1 + stopped.may_be_faster()), stopped.best()->seconds, 1e-12);
  EXPECT_LE(*stopped.least_left, small.plan_with({}).best()->seconds);
}

TEST(Planner, ThreadsChangeNothing) {
  const Small small;
  PlanReport one, three;
  PlanLimits limits;
  limits.top = 9;
  one.plans = {small.plan_with(limits)};
  limits.threads = 3;
  three.plans = {small.plan_with(limits)};
  EXPECT_EQ(to_json(one).dump(), to_json(three).dump());
  EXPECT_EQ(to_csv(one), to_csv(three));
}

TEST(Planner, TheTermsAddUpToTheBound) {
  const Small small;
  const Plan planned = small.plan_with({});
  double sum = 0;
  for (const BoundTerm& t : planned.winner_terms) sum += t.seconds;
  EXPECT_NEAR(sum, planned.best()->bound, 1e-9 * sum);
}

TEST(Planner, NobodyOnTheFrontIsBeaten) {
  const Small small;
  const std::vector<Plan> plans{small.plan_with({})};
  const std::vector<FrontPoint> front = pareto_front(plans);
  ASSERT_FALSE(front.empty());
  for (const FrontPoint& p : front) {
    for (const Simulated& s : plans.front().simulated) {
      EXPECT_FALSE(s.seconds < p.step.seconds && s.memory < p.step.memory);
    }
  }
}

// The rules that the search has for itself agree with those of the workload: what it offers, they let pass.
TEST(PlanSearch, EveryCandidatePassesTheWorkloadsRules) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Dice dice{seed};
    const scenarios::Scenario s = random_scenario(dice);
    StepBound bound{problem_of(s)};
    const SearchResult found = search(bound, s.cluster.nodes * s.cluster.gpus_per_node, {}, 2);
    for (int i = 0; i < 100 && !found.candidates.empty(); ++i) {
      const PlanLayout& l = found.candidates[dice.below(static_cast<std::uint32_t>(found.candidates.size()))].layout;
      EXPECT_NO_THROW(workloads::check_transformer(transformer_of(bound.problem().base, l)))
          << "seed " << seed << ": " << to_string(l);
    }
  }
}

// And the other way round: a random layout that can be built has its place in the search.
TEST(PlanSearch, NoLayoutThatCanBeBuiltIsMissing) {
  std::uint64_t looked_up = 0;
  for (std::uint64_t seed = 100; looked_up < 40; ++seed) {
    Dice dice{seed};
    const scenarios::Scenario s = random_scenario(dice);
    const PlanLayout l = testing::random_layout(dice, s);
    const workloads::TransformerSpec spec = transformer_of(problem_of(s).base, l);
    try {
      workloads::check_transformer(spec);
    } catch (const sim::InputError&) {
      continue;
    }
    SearchSpace space;  // all fields given, so that no synonym is left out
    space.tp = l.tp, space.cp = l.cp, space.pp = l.pp, space.ep = l.ep, space.micro_batch = l.micro_batch;
    space.virtual_stages = l.virtual_stages, space.zero_stage = l.zero_stage, space.order = l.order;
    space.sequence_parallel = l.sequence_parallel, space.recompute = l.recompute, space.schedule = l.schedule;
    StepBound bound{problem_of(s)};
    const SearchResult found = search(bound, l.gpus(), space, 1);
    ASSERT_EQ(found.candidates.size(), 1U) << "seed " << seed << ": " << to_string(l);
    EXPECT_EQ(found.candidates.front().layout, l);
    ++looked_up;
  }
}

TEST(PlanSearch, SchedulesExistExactlyWhereTheWorkloadSaysSo) {
  for (const auto kind :
       {workloads::ScheduleKind::one_f_one_b, workloads::ScheduleKind::gpipe, workloads::ScheduleKind::zb_h1,
        workloads::ScheduleKind::zb_v, workloads::ScheduleKind::dualpipe}) {
    for (std::uint32_t p = 1; p <= 6; ++p) {
      for (std::uint32_t m = 1; m <= 13; ++m) {
        for (std::uint32_t v = 1; v <= (p == 1 ? 1U : 2U); ++v) {
          bool exists = true;
          try {
            workloads::check_schedule(kind, {p, m, v});
          } catch (const sim::InputError&) {
            exists = false;
          }
          EXPECT_EQ(schedule_exists(kind, {p, m, v}), exists) << name_of(kind) << ' ' << p << ' ' << m << ' ' << v;
        }
      }
    }
  }
}

// 1,000 bytes over a port of 1 kB/s beside a domain of four at 10 kB/s, no latency: a ring of 2 inside sends half of it in
// 0.05 s each way, one of 4 neighbours at distance 4 three quarters over the port.
TEST(NetworkRates, AGroupInsideADomainIsNotHeldUpByItsPort) {
  topology::ClusterSpec c;
  c.nodes = 4;
  c.gpus_per_node = 4;
  c.scale_up = topology::NvSwitch{.gpus = 4, .bandwidth = sim::Bandwidth::bytes_per_s(1e4)};
  c.nic.bandwidth = sim::Bandwidth::bytes_per_s(1e3);
  c.scale_out = topology::SingleSwitch{};
  const NetworkRates rates{c};
  using workloads::Algorithm;
  using workloads::CollectiveKind;
  EXPECT_DOUBLE_EQ(rates.least_time(CollectiveKind::all_gather, Algorithm::ring, {2, 1, 1, 2}).seconds(1e3), 0.05);
  EXPECT_DOUBLE_EQ(rates.least_time(CollectiveKind::all_reduce, Algorithm::ring, {4, 4, 12, 16}).seconds(1e3), 1.5);
  // Of eight members at distance 1 four are inside: half of the bytes leave.
  EXPECT_DOUBLE_EQ(rates.least_time(CollectiveKind::all_to_all, Algorithm::direct, {8, 1, 7, 8}).seconds(1e3), 0.5);
  EXPECT_DOUBLE_EQ(rates.message(4).seconds(1e3), 1);
  EXPECT_DOUBLE_EQ(rates.message(1).seconds(1e3), 0.1);
}

}  // namespace
}  // namespace traingraph::analysis::plan
