// Point-to-point messages: the life of a transfer, by hand. 1 GB/s is 1 byte a nanosecond.
#include <gtest/gtest.h>

#include <limits>

#include "tests/sim/play.h"
#include "tests/sim/program_builder.h"
#include "tests/sim/switch_fabric.h"

namespace traingraph::sim::tests {
namespace {

const Bandwidth kByteANanosecond = Bandwidth::bytes_per_s(1e9);

Played play_on(const SwitchFabric& fabric, const ProgramBuilder& b, const RunOptions& options = {}) {
  return play(fabric.links, fabric.router, b.build(), options);
}

/// One channel from x to y, on a switch between them.
struct Pair {
  explicit Pair(Duration latency = {}, Duration overhead = {}, Bandwidth bandwidth = kByteANanosecond, Bandwidth cap = {})
      : fabric{2, bandwidth, latency, overhead}, c{b.channel(x, y, 1, cap)} {}
  SwitchFabric fabric;
  ProgramBuilder b;
  RankId x = b.rank(0), y = b.rank(1);
  ChannelId c;
};

class Messages : public ::testing::TestWithParam<NetworkModel> {
 protected:
  Messages() { options.network = GetParam(); }
  RunOptions options;
};

TEST_P(Messages, OverheadThenDrainThenPropagation) {
  // a = 2 us, 1000 bytes at 1 byte/ns = 1 us, two links of 3 us: off the wire at 3 us, there at 9 us.
  Pair p{3_us, 2_us};
  p.b.send(p.x, p.c, Bytes{1000});
  p.b.receive(p.y, p.c);
  const Played played = play_on(p.fabric, p.b, options);
  EXPECT_EQ(played.end(p.x, 0), 3_us);
  EXPECT_EQ(played.end(p.y, 0), 9_us);
  ASSERT_EQ(played.transfers.size(), 1U);
  const TransferSpan& t = played.transfers[0];
  EXPECT_EQ(t.source, p.x);
  EXPECT_EQ(t.destination, p.y);
  EXPECT_EQ(t.bytes, Bytes{1000});
  EXPECT_EQ(t.start, Time::zero());
  EXPECT_EQ(t.drained, Time::at(3_us));
  EXPECT_EQ(t.arrived, Time::at(9_us));
  EXPECT_EQ(t.hops, 2U);
}

TEST_P(Messages, AMessageOfNoBytesTakesOverheadAndPropagation) {
  Pair p{3_us, 2_us};
  p.b.send(p.x, p.c, Bytes{0});
  p.b.receive(p.y, p.c);
  const Played played = play_on(p.fabric, p.b, options);
  EXPECT_EQ(played.end(p.x, 0), 2_us);
  EXPECT_EQ(played.end(p.y, 0), 8_us);
}

TEST_P(Messages, AMessageToItselfTakesNoTime) {
  const SwitchFabric fabric{1, kByteANanosecond, 3_us, 2_us};
  ProgramBuilder b;
  const RankId x = b.rank(0);
  const ChannelId c = b.channel(x, x);
  b.compute(x, 1_us);
  b.send(x, c, Bytes{1e6});
  b.receive(x, c);
  const Played p = play_on(fabric, b, options);
  EXPECT_EQ(p.end(x, 1), 1_us);
  EXPECT_EQ(p.end(x, 2), 1_us);
}

TEST_P(Messages, ASendNeedsNoReceiver) {
  // The receive is posted at 50 us; the message has been there since 9 us.
  Pair p{3_us, 2_us};
  p.b.send(p.x, p.c, Bytes{1000});
  p.b.compute(p.y, 50_us);
  p.b.receive(p.y, p.c);
  const Played played = play_on(p.fabric, p.b, options);
  EXPECT_EQ(played.end(p.x, 0), 3_us);
  EXPECT_EQ(played.end(p.y, 1), 50_us);
}

TEST_P(Messages, AChannelKeepsItsOrder) {
  // Messages of 1, 2 and 3 us on one channel, one after the other: received at 1, 3, 6 us.
  Pair p;
  for (const double bytes : {1000.0, 2000.0, 3000.0}) p.b.send(p.x, p.c, Bytes{bytes});
  for (int i = 0; i < 3; ++i) p.b.receive(p.y, p.c);
  const Played played = play_on(p.fabric, p.b, options);
  EXPECT_EQ(played.end(p.y, 0), 1_us);
  EXPECT_EQ(played.end(p.y, 1), 3_us);
  EXPECT_EQ(played.end(p.y, 2), 6_us);
}

TEST_P(Messages, TwoStreamsMayWaitOnOneChannel) {
  // Both wait from the start; the first message releases the one that came first, the second the other.
  Pair p;
  p.b.send(p.x, p.c, Bytes{1000});
  p.b.send(p.x, p.c, Bytes{2000});
  p.b.receive(p.y, p.c, {.label = "receive", .stream = 1});
  p.b.compute(p.y, 100_ns, {.label = "work", .stream = 2});
  p.b.receive(p.y, p.c, {.label = "receive", .stream = 2});
  const Played played = play_on(p.fabric, p.b, options);
  EXPECT_EQ(played.end(p.y, 0), 1_us);
  EXPECT_EQ(played.end(p.y, 2), 3_us);
}

TEST_P(Messages, ACapSlowsAMessageThatIsAlone) {
  // Cap 0.25 byte/ns: 1000 bytes take 4 us.
  Pair p{{}, {}, kByteANanosecond, Bandwidth::bytes_per_s(0.25e9)};
  p.b.send(p.x, p.c, Bytes{1000});
  EXPECT_EQ(play_on(p.fabric, p.b, options).end(p.x, 0), 4_us);
}

TEST_P(Messages, ACapAloneBoundsAMessageWithoutLinks) {
  const SwitchFabric fabric{1, kByteANanosecond};
  ProgramBuilder b;
  const RankId x = b.rank(0);
  const ChannelId c = b.channel(x, x, 1, Bandwidth::bytes_per_s(0.5e9));
  b.send(x, c, Bytes{1000});
  EXPECT_EQ(play_on(fabric, b, options).end(x, 0), 2_us);
}

TEST_P(Messages, AnInfinitelyFastLinkTakesNoTime) {
  Pair p{1_us, {}, Bandwidth::bytes_per_s(std::numeric_limits<double>::infinity())};
  p.b.send(p.x, p.c, Bytes{1e9});
  p.b.receive(p.y, p.c);
  const Played played = play_on(p.fabric, p.b, options);
  EXPECT_EQ(played.end(p.x, 0), Duration{});
  EXPECT_EQ(played.end(p.y, 0), 2_us);
}

INSTANTIATE_TEST_SUITE_P(Models, Messages, ::testing::Values(NetworkModel::flow, NetworkModel::ideal),
                         [](const auto& test) { return test.param == NetworkModel::flow ? "flow" : "ideal"; });

/// Two ranks send to one: the receiver's down-link is shared.
struct Incast {
  Incast(std::uint32_t weight_a = 1, std::uint32_t weight_b = 1, Bandwidth cap_a = {}) {
    c_a = b.channel(a, sink, weight_a, cap_a);
    c_b = b.channel(other, sink, weight_b);
  }
  SwitchFabric fabric{3, kByteANanosecond};
  ProgramBuilder b;
  RankId a = b.rank(0), other = b.rank(1), sink = b.rank(2);
  ChannelId c_a{}, c_b{};
};

TEST(SharedLinks, EqualMessagesGetHalfEach) {
  // 1000 and 3000 bytes into one port: half each until 2 us, then the second alone: 1000 bytes done, 2000 left, 4 us.
  Incast i;
  i.b.send(i.a, i.c_a, Bytes{1000});
  i.b.send(i.other, i.c_b, Bytes{3000});
  const Played p = play_on(i.fabric, i.b);
  EXPECT_EQ(p.end(i.a, 0), 2_us);
  EXPECT_EQ(p.end(i.other, 0), 4_us);
}

TEST(SharedLinks, ALateComerSharesWhatIsLeft) {
  // The first (3000 bytes) is alone until 1 us, then shares with 1000 bytes until 3 us, then alone with 1000 left: 4 us.
  Incast i;
  i.b.send(i.a, i.c_a, Bytes{3000});
  i.b.compute(i.other, 1_us);
  i.b.send(i.other, i.c_b, Bytes{1000});
  const Played p = play_on(i.fabric, i.b);
  EXPECT_EQ(p.end(i.other, 1), 3_us);
  EXPECT_EQ(p.end(i.a, 0), 4_us);
}

TEST(SharedLinks, WeightsDivideALink) {
  // Weights 1 and 3, 1000 and 3000 bytes: rates 1/4 and 3/4, both done at 4 us.
  Incast i{1, 3};
  i.b.send(i.a, i.c_a, Bytes{1000});
  i.b.send(i.other, i.c_b, Bytes{3000});
  const Played p = play_on(i.fabric, i.b);
  EXPECT_EQ(p.end(i.a, 0), 4_us);
  EXPECT_EQ(p.end(i.other, 0), 4_us);
}

TEST(SharedLinks, ACapLeavesTheRestToOthers) {
  // One capped at 0.2 byte/ns: the other gets 0.8: 1000 bytes in 5 us, 4000 in 5 us.
  Incast i{1, 1, Bandwidth::bytes_per_s(0.2e9)};
  i.b.send(i.a, i.c_a, Bytes{1000});
  i.b.send(i.other, i.c_b, Bytes{4000});
  const Played p = play_on(i.fabric, i.b);
  EXPECT_EQ(p.end(i.a, 0), 5_us);
  EXPECT_EQ(p.end(i.other, 0), 5_us);
}

TEST(SharedLinks, IdealTransfersDoNotSeeEachOther) {
  Incast i;
  i.b.send(i.a, i.c_a, Bytes{1000});
  i.b.send(i.other, i.c_b, Bytes{3000});
  RunOptions options;
  options.network = NetworkModel::ideal;
  const Played p = play_on(i.fabric, i.b, options);
  EXPECT_EQ(p.end(i.a, 0), 1_us);
  EXPECT_EQ(p.end(i.other, 0), 3_us);
  EXPECT_TRUE(p.record.links.empty());
}

TEST(SharedLinks, LinksRecordWhatTheyCarried) {
  // As in EqualMessagesGetHalfEach: the sink's down-link (5) carries 4000 bytes in 4 us, always full; the up-links are busy
  // 2 and 4 us, the first at half its capacity, the second at half, then all.
  Incast i;
  i.b.send(i.a, i.c_a, Bytes{1000});
  i.b.send(i.other, i.c_b, Bytes{3000});
  const Record r = play_on(i.fabric, i.b).record;
  EXPECT_DOUBLE_EQ(r.links[LinkId{5}].bytes, 4000);
  EXPECT_EQ(r.links[LinkId{5}].busy, 4_us);
  EXPECT_EQ(r.links[LinkId{5}].peak_utilization, 1);
  EXPECT_DOUBLE_EQ(r.links[LinkId{0}].bytes, 1000);
  EXPECT_EQ(r.links[LinkId{0}].busy, 2_us);
  EXPECT_EQ(r.links[LinkId{0}].peak_utilization, 0.5);
  EXPECT_DOUBLE_EQ(r.links[LinkId{1}].bytes, 3000);
  EXPECT_EQ(r.links[LinkId{1}].busy, 4_us);
  EXPECT_EQ(r.links[LinkId{1}].peak_utilization, 1);
  EXPECT_EQ(r.links[LinkId{3}].bytes, 0);
  EXPECT_EQ(r.links[LinkId{3}].busy, Duration{});
}

TEST(SharedLinks, OnlyTheLastStepIsRecorded) {
  // Three steps of 1000 bytes: the reported window has seen 1000, not 3000.
  Incast i;
  i.b.send(i.a, i.c_a, Bytes{1000});
  i.b.steps(3);
  const Record r = play_on(i.fabric, i.b).record;
  EXPECT_EQ(r.step_time(), 1_us);
  EXPECT_DOUBLE_EQ(r.links[LinkId{5}].bytes, 1000);
  EXPECT_EQ(r.links[LinkId{5}].busy, 1_us);
}

TEST(SharedLinks, TheInstantBeforeTheWindowIsNotInIt) {
  // A message capped at 1 byte/ns fills its link in step 1; at the end of it the link becomes four times as fast: in step 2
  // a quarter.
  const SwitchFabric fabric{2, kByteANanosecond};
  ProgramBuilder b;
  const RankId x = b.rank(0), y = b.rank(1);
  b.send(x, b.channel(x, y, 1, kByteANanosecond), Bytes{1000});
  b.steps(2);
  b.change_link(1_us, 0, 4 * kByteANanosecond);
  const Record r = play_on(fabric, b).record;
  EXPECT_EQ(r.step_time(), 1_us);
  EXPECT_EQ(r.links[LinkId{0}].peak_utilization, 0.25);
}

}  // namespace
}  // namespace traingraph::sim::tests
