// What a TraceSink is told adds up to what the Record says.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/sim/play.h"
#include "tests/sim/program_builder.h"
#include "tests/sim/sources.h"
#include "tests/sim/switch_fabric.h"

namespace traingraph::sim::tests {
namespace {

class Trace : public ::testing::TestWithParam<CollectiveMode> {
 protected:
  Trace() {
    std::vector<RankId> ranks;
    for (std::uint32_t r = 0; r < 4; ++r) ranks.push_back(b.rank(r));
    const CommunicatorId world = b.communicator(ranks);
    const std::uint32_t ring = b.collective("ring", Bytes{4000}, ring_all_reduce(Bytes{4000}));
    const ChannelId c = b.channel(ranks[0], ranks[3]);
    for (std::uint32_t r = 0; r < 4; ++r) {
      b.compute(ranks[r], (r + 1) * 1_us);
      b.compute(ranks[r], 2_us);
      b.call(ranks[r], world, ring);
      b.compute(ranks[r], 1_us);
    }
    b.send(ranks[0], c, Bytes{500});
    b.receive(ranks[3], c);
    b.steps(2);
    RunOptions options;
    options.collectives = GetParam();
    played = play(fabric.links, fabric.router, b.build(), options);
  }
  SwitchFabric fabric{4, Bandwidth::bytes_per_s(1e9), 1_us, 1_us};
  ProgramBuilder b;
  Played played;
};

TEST_P(Trace, EveryOperationOnce) {
  EXPECT_EQ(played.tasks.size(), played.record.counters.operations);
  EXPECT_EQ(played.tasks.size(), 2U * (4 * 4 + 2));
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, int> seen;
  for (const TaskSpan& s : played.tasks) ++seen[{index(s.rank), s.step, s.op}];
  EXPECT_EQ(seen.size(), played.tasks.size());
}

TEST_P(Trace, OperationsOfAStreamTouchInOrderAndFillTheRun) {
  // All operations are on stream 0 and none waits for another stream: each begins where the one before it ended.
  std::map<RankId, Time> last;
  for (const TaskSpan& s : played.tasks) {
    EXPECT_EQ(s.start, last[s.rank]);
    EXPECT_EQ(s.ready, s.start);
    EXPECT_GE(s.end, s.start);
    last[s.rank] = s.end;
  }
  const auto latest = std::ranges::max_element(last, {}, [](const auto& e) { return e.second; });
  EXPECT_EQ(latest->second, played.record.window_end());
}

TEST_P(Trace, ComputeOperationsBackToBackComeTogether) {
  // Rank r computes r+1 us, then 2 us, as one run that ends at r+3 us: both spans come then, those of rank 0 first.
  std::vector<std::pair<RankId, Time>> first, expected;
  for (std::uint32_t r = 0; r < 4; ++r) {
    expected.emplace_back(RankId{r}, Time::at((r + 1) * 1_us));
    expected.emplace_back(RankId{r}, Time::at((r + 3) * 1_us));
  }
  for (std::size_t i = 0; i < expected.size(); ++i) first.emplace_back(played.tasks[i].rank, played.tasks[i].end);
  EXPECT_EQ(first, expected);
}

TEST_P(Trace, WhatIsNoComputeRunComesInOrderOfEnd) {
  Time before;
  for (const TaskSpan& s : played.tasks) {
    if (s.op < 2) continue;  // the two compute operations that are one run
    EXPECT_GE(s.end, before);
    before = s.end;
  }
}

TEST_P(Trace, TransfersAreWholeAndInOrder) {
  EXPECT_EQ(played.transfers.size(), played.record.counters.transfers);
  Time before;
  for (const TransferSpan& t : played.transfers) {
    EXPECT_LE(t.start, t.drained);
    EXPECT_EQ(t.arrived - t.drained, 2_us);  // two links of 1 us
    EXPECT_EQ(t.hops, 2U);
    EXPECT_GE(t.arrived, before);
    before = t.arrived;
  }
}

TEST_P(Trace, TransfersCarryTheBytesOfTheAlgorithm) {
  // Per step: 4 members send 2 * 3/4 * 4000 bytes each around the ring, and one message of 500.
  double bytes = 0;
  for (const TransferSpan& t : played.transfers) {
    bytes += t.bytes.count();
    EXPECT_TRUE(t.bytes == Bytes{500} || (index(t.source) + 1) % 4 == index(t.destination));
  }
  EXPECT_DOUBLE_EQ(bytes, 2 * (4 * 6000 + 500));
  // In a single step each of them goes over two links.
  b.steps(1);
  RunOptions options;
  options.collectives = GetParam();
  double on_links = 0;
  for (const LinkRecord& l : simulate(fabric.links, fabric.router, b.build(), options).links) on_links += l.bytes;
  EXPECT_NEAR(on_links, 2 * (4 * 6000 + 500), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Modes, Trace, ::testing::Values(CollectiveMode::step, CollectiveMode::bulk),
                         [](const auto& test) { return test.param == CollectiveMode::step ? "step" : "bulk"; });

TEST(TraceOfExactBulk, TransfersComeWhenTheirCollectiveEnds) {
  // A ring all-reduce of 4000 bytes over ranks 0 and 1: 4000 bytes an edge, off the wire at 4 us, there at 6 us; with its
  // two sends of 1 + 2 + 2 us it ends at 10 us, and its transfers come then. The message of ranks 2 and 3 (overhead 1 us, 5
  // us of draining, 2 us of latency) came before, at 8 us.
  const SwitchFabric fabric{4, Bandwidth::bytes_per_s(1e9), 1_us, 1_us};
  ProgramBuilder b;
  std::vector<RankId> ranks;
  for (std::uint32_t r = 0; r < 4; ++r) ranks.push_back(b.rank(r));
  const CommunicatorId pair = b.communicator({ranks[0], ranks[1]});
  const std::uint32_t ring = b.collective("ring", Bytes{4000}, ring_all_reduce(Bytes{4000}));
  b.call(ranks[0], pair, ring);
  b.call(ranks[1], pair, ring);
  const ChannelId c = b.channel(ranks[2], ranks[3]);
  b.send(ranks[2], c, Bytes{5000});
  b.receive(ranks[3], c);
  const Played p = play(fabric.links, fabric.router, b.build());
  EXPECT_EQ(p.record.modes[0].bulk_exact, 1U);
  EXPECT_EQ(p.record.window_end(), Time::at(10_us));
  ASSERT_EQ(p.transfers.size(), 3U);
  EXPECT_EQ(p.transfers[0].source, ranks[2]);
  EXPECT_EQ(p.transfers[0].arrived, Time::at(8_us));
  for (const std::size_t i : {1U, 2U}) {
    EXPECT_EQ(p.transfers[i].drained, Time::at(4_us));
    EXPECT_EQ(p.transfers[i].arrived, Time::at(6_us));
  }
}

}  // namespace
}  // namespace traingraph::sim::tests
