// Links that change their capacity while transfers are on them, by hand. 1 GB/s is 1 byte a nanosecond.
#include <gtest/gtest.h>

#include "tests/sim/play.h"
#include "tests/sim/program_builder.h"
#include "tests/sim/sources.h"
#include "tests/sim/switch_fabric.h"

namespace traingraph::sim::tests {
namespace {

const Bandwidth kByteANanosecond = Bandwidth::bytes_per_s(1e9);

class LinkChanges : public ::testing::TestWithParam<NetworkModel> {
 protected:
  LinkChanges() { options.network = GetParam(); }
  Played play_it() { return play(fabric.links, fabric.router, b.build(), options); }

  RunOptions options;
  SwitchFabric fabric{2, kByteANanosecond};
  ProgramBuilder b;
  RankId x = b.rank(0), y = b.rank(1);
  ChannelId c = b.channel(x, y);
};

TEST_P(LinkChanges, ATransferWaitsWhileItsLinkIsDown) {
  // 4000 bytes; down from 1 to 3 us: 1000 bytes before, 3000 after: 6 us.
  b.send(x, c, Bytes{4000});
  b.change_link(1_us, 0, Bandwidth{});
  b.change_link(3_us, 0, kByteANanosecond);
  EXPECT_EQ(play_it().end(x, 0), 6_us);
}

TEST_P(LinkChanges, ATransferWaitsForALinkThatIsDownFromTheStart) {
  fabric.links[LinkId{2 + 1}].capacity = Bandwidth{};
  b.send(x, c, Bytes{4000});
  b.change_link(5_us, 2 + 1, 2 * kByteANanosecond);
  b.change_link(6_us, 0, 2 * kByteANanosecond);
  // From 5 us at 1 byte/ns (the up-link), from 6 us at 2: 1000 + 3000 bytes, 7.5 us.
  EXPECT_EQ(play_it().end(x, 0), 7_us + 500_ns);
}

TEST_P(LinkChanges, SlowerThenFaster) {
  // 1 byte/ns until 1 us, 0.5 until 5 us, then 4, but the down-link stays at 1: 1000 + 2000 + 1000 bytes: 6 us.
  b.send(x, c, Bytes{4000});
  b.change_link(1_us, 0, 0.5 * kByteANanosecond);
  b.change_link(5_us, 0, 4 * kByteANanosecond);
  EXPECT_EQ(play_it().end(x, 0), 6_us);
}

TEST_P(LinkChanges, AChangeAtTheInstantOfTheEndComesTooLate) {
  b.send(x, c, Bytes{1000});
  b.change_link(1_us, 0, Bandwidth{});
  EXPECT_EQ(play_it().end(x, 0), 1_us);
}

TEST_P(LinkChanges, TheLastOfSeveralChangesOfOneInstantHolds) {
  b.send(x, c, Bytes{2000});
  b.change_link(1_us, 0, Bandwidth{});
  b.change_link(1_us, 0, 0.25 * kByteANanosecond);
  EXPECT_EQ(play_it().end(x, 0), 5_us);
}

TEST_P(LinkChanges, ChangesAfterTheEndAreNotWaitedFor) {
  b.send(x, c, Bytes{1000});
  b.change_link(9_us, 0, Bandwidth{});
  EXPECT_EQ(play_it().record.step_time(), 1_us);
}

TEST_P(LinkChanges, BytesAreCountedAcrossChanges) {
  if (GetParam() == NetworkModel::ideal) GTEST_SKIP() << "no link record";
  b.send(x, c, Bytes{4000});
  b.change_link(1_us, 0, Bandwidth{});
  b.change_link(3_us, 0, 0.5 * kByteANanosecond);
  const Record r = play_it().record;
  EXPECT_EQ(r.step_time(), 9_us);
  EXPECT_DOUBLE_EQ(r.links[LinkId{0}].bytes, 4000);
  EXPECT_EQ(r.links[LinkId{0}].busy, 7_us);
  EXPECT_EQ(r.links[LinkId{0}].peak_utilization, 1);
  EXPECT_DOUBLE_EQ(r.links[LinkId{3}].bytes, 4000);
}

INSTANTIATE_TEST_SUITE_P(Models, LinkChanges, ::testing::Values(NetworkModel::flow, NetworkModel::ideal),
                         [](const auto& test) { return test.param == NetworkModel::flow ? "flow" : "ideal"; });

TEST(LinkChangesInCollectives, AreNeverPlayedInBulkUnasked) {
  // A ring on its own links, one of which becomes slow half way: steps and bulk would differ, so automatic plays steps.
  const SwitchFabric fabric{4, kByteANanosecond};
  const auto end = [&](CollectiveMode mode) {
    ProgramBuilder b;
    std::vector<RankId> members;
    for (std::uint32_t m = 0; m < 4; ++m) members.push_back(b.rank(m));
    const CommunicatorId world = b.communicator(members);
    const std::uint32_t all_reduce = b.collective("all-reduce", Bytes{40000}, ring_all_reduce(Bytes{40000}));
    for (const RankId r : members) b.call(r, world, all_reduce);
    b.change_link(25_us, 0, 0.1 * kByteANanosecond);
    RunOptions options;
    options.collectives = mode;
    return simulate(fabric.links, fabric.router, b.build(), options);
  };
  // Six rounds of 10,000 bytes. Until 25 us two and a half rounds; the slow member's third piece ends at 75 us, its next
  // ones 100 us each: 375 us; its last piece is not forwarded. Its successor has then received everything.
  EXPECT_EQ(end(CollectiveMode::step).step_time(), 375_us);
  const Record automatic = end(CollectiveMode::automatic);
  EXPECT_EQ(automatic.step_time(), 375_us);
  EXPECT_EQ(automatic.modes[0].step, 1U);
}

}  // namespace
}  // namespace traingraph::sim::tests
