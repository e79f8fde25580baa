// A run from outside: cancelling, progress, threads, and the same inputs giving the same record to the last bit.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "sim/error.h"
#include "tests/sim/play.h"
#include "tests/sim/program_builder.h"
#include "tests/sim/record_digest.h"
#include "tests/sim/sources.h"
#include "tests/sim/switch_fabric.h"

namespace traingraph::sim::tests {
namespace {

/// 8 ranks, 4 steps of rings and direct exchanges that overlap on three streams: some 60,000 events.
Program busy_program(std::uint32_t repeats = 40) {
  ProgramBuilder b;
  std::vector<RankId> ranks;
  for (std::uint32_t r = 0; r < 8; ++r) ranks.push_back(b.rank(r, r == 5 ? 1.01 : 1.0));
  const CommunicatorId all = b.communicator(ranks), odd = b.communicator({ranks[1], ranks[3], ranks[5], ranks[7]}, "odd");
  const std::uint32_t ring = b.collective("ring", Bytes{1e6}, ring_all_reduce(Bytes{1e6}));
  const std::uint32_t direct = b.collective("direct", Bytes{3e5}, direct_all_to_all(Bytes{3e5}));
  for (std::uint32_t i = 0; i < repeats; ++i)
    for (std::uint32_t r = 0; r < 8; ++r) {
      const Dependency d = b.compute(ranks[r], (100 + 7 * r) * 1_us);
      b.call(ranks[r], all, ring, {.label = "ring", .stream = 1, .after = {d}});
      if (r % 2 == 1) b.call(ranks[r], odd, direct, {.label = "direct", .stream = 2, .after = {d}});
    }
  b.steps(4);
  b.change_link(5_ms, 3, Bandwidth::gbit_per_s(40));
  return b.build();
}

const SwitchFabric& fabric() {
  static const SwitchFabric f{8, Bandwidth::gbit_per_s(100), 1_us, 1_us};
  return f;
}

TEST(RunControl, ACancelledRunThrows) {
  std::atomic<bool> cancel = true;
  RunOptions options;
  options.cancel = &cancel;
  EXPECT_THROW(static_cast<void>(simulate(fabric().links, fabric().router, busy_program(), options)), Cancelled);
  cancel = false;
  EXPECT_NO_THROW(static_cast<void>(simulate(fabric().links, fabric().router, busy_program(), options)));
}

TEST(RunControl, EvenAShortRunCanBeCancelled) {
  const std::atomic<bool> cancel = true;
  RunOptions options;
  options.cancel = &cancel;
  ProgramBuilder b;
  b.compute(b.rank(0), 1_us);
  EXPECT_THROW(static_cast<void>(simulate(fabric().links, fabric().router, b.build(), options)), Cancelled);
}

TEST(RunControl, ProgressOnlyGrows) {
  std::vector<Progress> seen;
  RunOptions options;
  options.progress = [&](const Progress& p) { seen.push_back(p); };
  const Record r = simulate(fabric().links, fabric().router, busy_program(), options);
  ASSERT_GE(seen.size(), 2U);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i].operations_total, r.counters.operations);
    EXPECT_LE(seen[i].operations_done, seen[i].operations_total);
    if (i == 0) continue;
    EXPECT_GE(seen[i].now, seen[i - 1].now);
    EXPECT_GE(seen[i].operations_done, seen[i - 1].operations_done);
    EXPECT_GT(seen[i].events, seen[i - 1].events);
  }
}

TEST(RunControl, ProgressAndTracingChangeNothing) {
  RunOptions options;
  options.progress = [](const Progress&) {};
  const Program program = busy_program();
  const std::uint64_t quiet = digest(simulate(fabric().links, fabric().router, program, {}));
  EXPECT_EQ(digest(play(fabric().links, fabric().router, program, options).record), quiet);
}

TEST(RunControl, TheSameInputsGiveTheSameRecord) {
  const Program program = busy_program();
  const std::uint64_t once = digest(simulate(fabric().links, fabric().router, program, {}));
  EXPECT_EQ(digest(simulate(fabric().links, fabric().router, program, {})), once);
  EXPECT_EQ(digest(simulate(fabric().links, fabric().router, busy_program(), {})), once);
  EXPECT_NE(digest(simulate(fabric().links, fabric().router, busy_program(39), {})), once);
}

TEST(RunControl, TwoThreadsGiveTheSameAsOneAfterTheOther) {
  // They share the const inputs: links, router, program and its sources.
  const Program program = busy_program();
  RunOptions flow, ideal;
  ideal.network = NetworkModel::ideal;
  flow.bins = ideal.bins = 64;
  const std::uint64_t flow_alone = digest(simulate(fabric().links, fabric().router, program, flow));
  const std::uint64_t ideal_alone = digest(simulate(fabric().links, fabric().router, program, ideal));
  std::uint64_t flow_beside = 0, other_flow = 0, ideal_beside = 0;
  {
    std::jthread a{[&] { flow_beside = digest(simulate(fabric().links, fabric().router, program, flow)); }};
    std::jthread b{[&] { other_flow = digest(simulate(fabric().links, fabric().router, program, flow)); }};
    std::jthread c{[&] { ideal_beside = digest(simulate(fabric().links, fabric().router, program, ideal)); }};
  }
  EXPECT_EQ(flow_beside, flow_alone);
  EXPECT_EQ(other_flow, flow_alone);
  EXPECT_EQ(ideal_beside, ideal_alone);
}

}  // namespace
}  // namespace traingraph::sim::tests
