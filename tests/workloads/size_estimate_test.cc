// What a run will hold, counted before it is run. That the memory is right to a factor of 1.5:
// tests/scenarios/cli_size_test.cc.
#include "workloads/size_estimate.h"

#include <gtest/gtest.h>

#include "workload_cases.h"

namespace traingraph::workloads {
namespace {

using sim::Bytes;
using sim::Duration;
using test::StarRouter;

Workload ring(std::uint32_t ranks, std::uint32_t iterations, std::uint32_t steps) {
  CollectiveRunSpec c;
  c.bytes = Bytes{8e6};
  c.iterations = iterations;
  WorkloadSpec w;
  w.job = c;
  w.steps = steps;
  return build(w, {}, regular_cluster(ranks, ranks));
}

// Counted by hand: 8 ranks, 2 operations each, 3 steps; a ring all-reduce is 8·14 transfers.
TEST(SizeEstimate, CountsOperationsAndTransfers) {
  const SizeEstimate e = estimate_size(ring(8, 2, 3));
  EXPECT_EQ(e.operations, 8.0 * 2 * 3);
  EXPECT_EQ(e.transfers, 8.0 * 14 * 2 * 3);
}

// The estimate is what the engine then counts, when everything is played in steps.
TEST(SizeEstimate, IsWhatTheEngineCounts) {
  TransformerSpec s = test::step_of(test::tiny_gpt(), 2, 2, 2, 1, 3);
  s.parallel.distributed_optimizer = true;
  const Workload w = test::build_step(s, 2);
  const StarRouter star{8, 1e9, Duration::us(1)};
  sim::RunOptions options;
  options.collectives = sim::CollectiveMode::step;
  const sim::Record record = sim::simulate(star.links(), star, w.program, options);
  const SizeEstimate e = estimate_size(w);
  EXPECT_EQ(e.transfers, static_cast<double>(record.counters.transfers));
  EXPECT_EQ(e.operations, static_cast<double>(record.counters.operations));
}

// Everything that a ring holds is held by a rank: lanes, inboxes, memberships, streams.
TEST(SizeEstimate, TheMemoryOfARingGrowsWithItsRanks) {
  const double few = estimate_size(ring(64, 1, 1)).memory.count();
  const double many = estimate_size(ring(4096, 1, 1)).memory.count();
  EXPECT_NEAR(many / few, 64, 4);
}

// The steps of a run are played one after the other by the same state.
// The history behind the critical path grows with the steps, the program and its paths do not.
TEST(SizeEstimate, TheMemoryGrowsByTheHistoryOfTheSteps) {
  const double one = estimate_size(ring(64, 2, 1)).memory.count();
  const double fifty = estimate_size(ring(64, 2, 50)).memory.count();
  const double hundred = estimate_size(ring(64, 2, 100)).memory.count();
  EXPECT_GT(fifty, one);
  EXPECT_NEAR((hundred - fifty) / 50, (fifty - one) / 49, 1e-9 * hundred);
  EXPECT_LT(hundred, 10 * one);
}

// One history for all ranks that go on from each other's last arrival; of ranks that never meet, one each.
TEST(SizeEstimate, RanksThatMeetShareTheirHistory) {
  const auto program = [](bool meet) {
    CustomProgramSpec c;
    c.groups = {{"all", {0, 1, 2, 3}}, {"first", {0}}, {"second", {1}}, {"third", {2}}, {"fourth", {3}}};
    for (int i = 0; i < 1000; ++i) {
      for (std::size_t g = meet ? 0 : 1; g < (meet ? 1U : c.groups.size()); ++g) {
        CustomTask call;
        call.id = std::to_string(i) + c.groups[g].name;
        call.kind = TaskKind::collective;
        call.group = c.groups[g].name;
        call.collective = CollectiveKind::barrier;
        call.algorithm = Algorithm::dissemination;
        c.tasks.push_back(call);
      }
    }
    WorkloadSpec w;
    w.job = c;
    w.steps = 1;
    return estimate_size(build(w, {}, regular_cluster(4, 4))).memory.count();
  };
  constexpr double kBytesOfANode = 96;
  EXPECT_NEAR(program(false) - program(true), 3000 * kBytesOfANode, 0.2 * 3000 * kBytesOfANode);
}

}  // namespace
}  // namespace traingraph::workloads
