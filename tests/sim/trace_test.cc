// What a TraceSink is told adds up to what the Record says.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>
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
  double on_links = 0;
  for (const LinkRecord& l : played.record.links) on_links += l.bytes;
  EXPECT_NEAR(on_links, 2 * (4 * 6000 + 500), 1e-6);  // the last step's, each over two links
}

INSTANTIATE_TEST_SUITE_P(Modes, Trace, ::testing::Values(CollectiveMode::step, CollectiveMode::bulk),
                         [](const auto& test) { return test.param == CollectiveMode::step ? "step" : "bulk"; });

}  // namespace
}  // namespace traingraph::sim::tests
