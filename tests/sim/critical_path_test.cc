// The chain of operations that sets the step time. By hand.
#include <gtest/gtest.h>

#include <ostream>
#include <tuple>
#include <vector>

#include "tests/sim/play.h"
#include "tests/sim/program_builder.h"
#include "tests/sim/sources.h"
#include "tests/sim/switch_fabric.h"

namespace traingraph::sim {

/// Rank, operation, start, end and slack in whole microseconds, for failure messages and comparisons.
struct Element {
  std::uint32_t rank, op;
  double start, end, slack;
  bool operator==(const Element&) const = default;
};
void PrintTo(const Element& e, std::ostream* out) {
  *out << "{rank " << e.rank << " op " << e.op << " [" << e.start << ", " << e.end << "] slack " << e.slack << "}";
}

namespace tests {
namespace {

const Bandwidth kByteANanosecond = Bandwidth::bytes_per_s(1e9);

class CriticalPath : public ::testing::Test {
 protected:
  std::vector<Element> path() {
    const Record r = simulate(fabric.links, fabric.router, b.build(), {});
    std::vector<Element> out;
    for (const CriticalElement& e : r.critical_path)
      out.push_back({index(e.rank), e.op, e.start.since_start() / 1_us, e.end.since_start() / 1_us, e.slack / 1_us});
    return out;
  }
  SwitchFabric fabric{3, kByteANanosecond, 1_us};
  ProgramBuilder b;
  RankId x = b.rank(0), y = b.rank(1), z = b.rank(2);
  ChannelId c = b.channel(x, y);
};

using Path = std::vector<Element>;

TEST_F(CriticalPath, AChainOnOneStream) {
  // Joined in one event or not, they are listed one by one. Nothing else was waited for: the slack counts from time zero.
  const Dependency first = b.compute(x, 3_us);
  b.compute(x, 4_us);
  EXPECT_EQ(path(), (Path{{0, 0, 0, 3, 3}, {0, 1, 3, 7, 0}}));
  b.marker(x, {.label = "watch", .stream = 1, .after = {first}});
  EXPECT_EQ(path(), (Path{{0, 0, 0, 3, 3}, {0, 1, 3, 7, 0}}));
}

TEST_F(CriticalPath, TheLongerOfTwoBranches) {
  // The join waits for 3 us on stream 0 and 5 us on stream 1: the second decides, by 2 us.
  b.compute(x, 3_us);
  const Dependency other = b.compute(x, 5_us, {.stream = 1});
  b.compute(x, 1_us, {.after = {other}});
  EXPECT_EQ(path(), (Path{{0, 1, 0, 5, 2}, {0, 2, 5, 6, 0}}));
}

TEST_F(CriticalPath, ThroughAMessage) {
  // x works 5 us and sends (1 us on the wire, 2 us of latency); y has worked 6 us when it waits. The send itself is not on
  // the path, the message is, as y's receive from the instant of its posting: without x y would have been ready 2 us
  // earlier.
  b.compute(x, 5_us);
  b.send(x, c, Bytes{1000});
  b.compute(y, 6_us);
  b.receive(y, c);
  b.compute(y, 2_us);
  EXPECT_EQ(path(), (Path{{0, 0, 0, 5, 2}, {1, 1, 5, 8, 8}, {1, 2, 8, 10, 0}}));
}

TEST_F(CriticalPath, AMessageThatWasThereIsNotOnIt) {
  // It arrives at 3 us, y asks for it at 6.
  b.send(x, c, Bytes{1000});
  b.compute(y, 6_us);
  b.receive(y, c);
  b.compute(y, 2_us);
  EXPECT_EQ(path(), (Path{{1, 0, 0, 6, 3}, {1, 1, 6, 6, 6}, {1, 2, 6, 8, 0}}));
}

TEST_F(CriticalPath, ThroughTheLastMemberOfACollective) {
  // Members enter at 1, 4 and 6 us; it takes 4 us from then. The last was 2 us behind the second last.
  const CommunicatorId world = b.communicator({x, y, z});
  const std::uint32_t kind = b.collective("all-to-all", Bytes{3000}, direct_all_to_all(Bytes{3000}));
  for (const auto& [rank, late] : {std::pair{x, 1_us}, std::pair{y, 4_us}, std::pair{z, 6_us}}) {
    b.compute(rank, late);
    b.call(rank, world, kind);
  }
  b.compute(x, 5_us);
  EXPECT_EQ(path(), (Path{{2, 0, 0, 6, 2}, {0, 1, 6, 10, 10}, {0, 2, 10, 15, 0}}));
}

TEST_F(CriticalPath, WhatFollowsTheReleaserAtOnceIsNotOnIt) {
  // Stream 0 is released by the receive, not by the empty operation that its stream goes on with.
  b.compute(x, 5_us);
  b.send(x, c, Bytes{1000});
  const Dependency r = b.receive(y, c, {.label = "receive", .stream = 1});
  b.marker(y, {.label = "marker", .stream = 1});
  b.compute(y, 2_us, {.after = {r}});
  EXPECT_EQ(path(), (Path{{0, 0, 0, 5, 5}, {1, 0, 5, 8, 8}, {1, 2, 8, 10, 0}}));
}

TEST_F(CriticalPath, OnlyTheReportedWindow) {
  // Stream 0: 10 us a step, stream 1: 15 us a step after it. Steps end at 25, 40, 55 us; step 3's is stream 1 alone.
  const Dependency d = b.compute(x, 10_us);
  b.compute(x, 15_us, {.stream = 1, .after = {d}});
  b.steps(3);
  EXPECT_EQ(path(), (Path{{0, 1, 40, 55, 0}}));
}

TEST_F(CriticalPath, IsCutAtTheWindow) {
  // Steps of 10 us, but y's last 2 us of each step come after x's: x is ahead by 2 us when step 1 ends at 12 us. In the
  // window (12, 22] x's operation counts from 12 us on; y has waited since then, so x's message could have come 10 us
  // earlier.
  b.compute(x, 10_us);
  b.send(x, c, Bytes{0});
  b.receive(y, c);
  b.steps(2);
  EXPECT_EQ(path(), (Path{{0, 0, 12, 20, 10}, {1, 0, 20, 22, 0}}));
}

TEST_F(CriticalPath, CanBeLeftOut) {
  b.compute(x, 3_us);
  RunOptions options;
  options.critical_path = false;
  EXPECT_TRUE(simulate(fabric.links, fabric.router, b.build(), options).critical_path.empty());
}

}  // namespace
}  // namespace tests
}  // namespace traingraph::sim
