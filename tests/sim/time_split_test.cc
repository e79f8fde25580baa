// Where a rank's time went: every picosecond of its stream 0 belongs to one category, and they add up to the window. By
// hand. A label "x.y" is charged to category "x"; the part of a wait before the data began to move to "x_late".
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/sim/play.h"
#include "tests/sim/program_builder.h"
#include "tests/sim/sources.h"
#include "tests/sim/switch_fabric.h"

namespace traingraph::sim::tests {
namespace {

const Bandwidth kByteANanosecond = Bandwidth::bytes_per_s(1e9);

using Split = std::map<std::string, Duration>;

class TimeSplits : public ::testing::Test {
 protected:
  Split split_of(RankId rank, std::uint32_t steps = 1) {
    b.steps(steps);
    const Program program = b.build();
    const Record r = simulate(fabric.links, fabric.router, program, {});
    Split split;
    Duration sum;
    for (std::size_t i = 0; i < program.categories.size(); ++i) {
      const Duration d = r.splits[rank].by_category[i];
      if (d > Duration{}) split[program.categories[i]] = d;
      sum += d;
    }
    EXPECT_EQ(sum, r.step_time());
    return split;
  }
  // a = 0, one link of 1 us: a message of 1000 bytes is on the wire for 1 us and arrives 2 us after that.
  SwitchFabric fabric{3, kByteANanosecond, 1_us};
  ProgramBuilder b;
  RankId x = b.rank(0), y = b.rank(1), z = b.rank(2);
  ChannelId c = b.channel(x, y);
};

TEST_F(TimeSplits, EachKindOfWorkToItsCategory) {
  // Joined in one event or not, each operation is charged to its own category.
  b.compute(x, 3_us, {.label = "matmul.qkv"});
  b.compute(x, 2_us, {.label = "norm"});
  b.compute(x, 4_us, {.label = "matmul.mlp"});
  EXPECT_EQ(split_of(x), (Split{{"matmul", 7_us}, {"norm", 2_us}}));
}

TEST_F(TimeSplits, AReceiveOnStreamZeroIsLateBeforeTheSendAndWaitsAfter) {
  // x computes until 5 us and sends; y waits in its receive from the start: 5 us of bubble, 3 us of wire; 2 us of work.
  b.compute(x, 5_us);
  b.send(x, c, Bytes{1000});
  b.receive(y, c, {.label = "pp.receive"});
  b.compute(y, 2_us);
  EXPECT_EQ(split_of(y), (Split{{"pp_late", 5_us}, {"pp", 3_us}, {"work", 2_us}}));
}

TEST_F(TimeSplits, TheSameOnAnotherStreamIsAGapOfTheSameKinds) {
  b.compute(x, 5_us);
  b.send(x, c, Bytes{1000});
  const Dependency r = b.receive(y, c, {.label = "pp.receive", .stream = 1});
  b.compute(y, 2_us, {.after = {r}});
  EXPECT_EQ(split_of(y), (Split{{"pp_late", 5_us}, {"pp", 3_us}, {"work", 2_us}}));
}

TEST_F(TimeSplits, AMessageThatIsOnItsWayIsNotLate) {
  // y works until 6 us; the message was posted at 5 us and arrives at 8 us.
  b.compute(x, 5_us);
  b.send(x, c, Bytes{1000});
  b.compute(y, 6_us);
  b.receive(y, c, {.label = "pp.receive"});
  EXPECT_EQ(split_of(y), (Split{{"work", 6_us}, {"pp", 2_us}}));
}

TEST_F(TimeSplits, AMessageThatIsThereCostsNothing) {
  b.send(x, c, Bytes{1000});
  b.compute(y, 6_us);
  b.receive(y, c, {.label = "pp.receive"});
  EXPECT_EQ(split_of(y), (Split{{"work", 6_us}}));
}

TEST_F(TimeSplits, ACollectiveIsLateUntilTheLastMemberEnters) {
  // Members enter at 1, 4 and 6 us. The last one's two messages of 1000 bytes share its up-link, 2 us, and arrive 2 us
  // later. The first has waited 5 us for the last and 4 for the wire; the last is done when its messages have left.
  const CommunicatorId world = b.communicator({x, y, z});
  const std::uint32_t kind = b.collective("all-reduce", Bytes{3000}, direct_all_to_all(Bytes{3000}));
  for (const auto& [rank, late] : {std::pair{x, 1_us}, std::pair{y, 4_us}, std::pair{z, 6_us}}) {
    b.compute(rank, late);
    b.call(rank, world, kind, {.label = "dp.all_reduce"});
  }
  EXPECT_EQ(split_of(x), (Split{{"work", 1_us}, {"dp_late", 5_us}, {"dp", 4_us}}));
  EXPECT_EQ(split_of(z), (Split{{"work", 6_us}, {"dp", 2_us}, {"idle", 2_us}}));
}

TEST_F(TimeSplits, AnOverlappedCollectiveCostsOnlyWhatIsExposed) {
  // All-to-all on stream 1 (1 + 1 us wire for 2 messages, 2 us latency: 4 us) beside 3 us of work; what needs it waits 1 us.
  const CommunicatorId world = b.communicator({x, y, z});
  const std::uint32_t kind = b.collective("all-to-all", Bytes{3000}, direct_all_to_all(Bytes{3000}));
  for (const RankId rank : {x, y, z}) {
    const Dependency call = b.call(rank, world, kind, {.label = "dp.all_to_all", .stream = 1});
    b.compute(rank, 3_us);
    b.compute(rank, 1_us, {.after = {call}});
  }
  EXPECT_EQ(split_of(y), (Split{{"work", 4_us}, {"dp", 1_us}}));
}

TEST_F(TimeSplits, AGapBelongsToWhatEndedLast) {
  // y's second operation needs a copy on stream 1 (until 5 us) and a message (until 8 us): the whole gap from 1 us on is the
  // message's: until 5 us (posted) late, then on the wire.
  b.compute(x, 5_us);
  b.send(x, c, Bytes{1000});
  const Dependency copy = b.compute(y, 5_us, {.label = "copy", .stream = 1});
  const Dependency r = b.receive(y, c, {.label = "pp.receive", .stream = 2});
  b.compute(y, 1_us);
  b.compute(y, 1_us, {.after = {copy, r}});
  EXPECT_EQ(split_of(y), (Split{{"work", 2_us}, {"pp_late", 4_us}, {"pp", 3_us}}));
}

TEST_F(TimeSplits, WhatFollowsTheReleaserAtOnceTakesNoBlame) {
  // After the receive its stream goes on with a marker that takes no time: the gap is still the receive's.
  b.compute(x, 5_us);
  b.send(x, c, Bytes{1000});
  const Dependency r = b.receive(y, c, {.label = "pp.receive", .stream = 1});
  b.marker(y, {.label = "marker", .stream = 1});
  b.compute(y, 2_us, {.after = {r}});
  EXPECT_EQ(split_of(y), (Split{{"pp_late", 5_us}, {"pp", 3_us}, {"work", 2_us}}));
}

TEST_F(TimeSplits, AGapReleasedByComputeIsLateUntilThatOperationBegan) {
  // Stream 1: a copy until 4 us, then a cast until 6 us; stream 0 waits for the cast: 4 us before it began, 2 us of it.
  // Whether the two are joined in one event or not.
  for (const bool watched : {false, true}) {
    b = ProgramBuilder{};
    x = b.rank(0), y = b.rank(1), z = b.rank(2);
    const Dependency copy = b.compute(x, 4_us, {.label = "copy", .stream = 1});
    const Dependency cast = b.compute(x, 2_us, {.label = "cast", .stream = 1});
    if (watched) b.marker(x, {.label = "watch", .stream = 2, .after = {copy}});
    b.compute(x, 1_us, {.after = {cast}});
    EXPECT_EQ(split_of(x), (Split{{"cast_late", 4_us}, {"cast", 2_us}, {"work", 1_us}}));
  }
}

TEST_F(TimeSplits, ASendOnStreamZeroIsChargedWhileItIsOnTheWire) {
  b.send(x, c, Bytes{1000}, {.label = "pp.send"});
  b.compute(x, 1_us);
  EXPECT_EQ(split_of(x), (Split{{"pp", 1_us}, {"work", 1_us}}));
}

TEST_F(TimeSplits, WhatIsLeftAtTheEndIsIdle) {
  b.compute(x, 5_us);
  b.compute(y, 2_us);
  EXPECT_EQ(split_of(y), (Split{{"work", 2_us}, {"idle", 3_us}}));
}

TEST_F(TimeSplits, OnlyTheReportedWindowIsSplit) {
  // Per step: x 10 us; y 4 us and then waits for x's message (3 us after x's end). Step 1 ends at 13 us, step 2 at 23: x is
  // never held. In the window (13, 23] y works 4 us, waits until x posts at 20 us (3 us late) and 3 us for the wire, while x
  // is at the next step.
  b.compute(x, 10_us);
  b.send(x, c, Bytes{1000}, {.label = "pp.send", .stream = 1, .after = {Dependency{0, 0}}});
  b.compute(y, 4_us);
  b.receive(y, c, {.label = "pp.receive"});
  EXPECT_EQ(split_of(y, 2), (Split{{"work", 4_us}, {"pp_late", 3_us}, {"pp", 3_us}}));
  EXPECT_EQ(split_of(x, 2), (Split{{"work", 10_us}}));
}

}  // namespace
}  // namespace traingraph::sim::tests
