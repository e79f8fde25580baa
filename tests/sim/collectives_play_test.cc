// How the engine plays collectives: in steps, in bulk, and which it chooses. 1 GB/s is 1 byte a nanosecond. The algorithms
// are those of sources.h; the closed forms those of network-model.md.
#include <gtest/gtest.h>

#include <functional>

#include "tests/sim/play.h"
#include "tests/sim/program_builder.h"
#include "tests/sim/sources.h"
#include "tests/sim/switch_fabric.h"

namespace traingraph::sim::tests {
namespace {

const Bandwidth kByteANanosecond = Bandwidth::bytes_per_s(1e9);

/// N ranks on one switch that call one collective; member m comes `late[m]` later.
struct OneCall {
  OneCall(std::uint32_t n, Bytes bytes, ProgramBuilder::MakeSource make, std::vector<Duration> late = {}) {
    for (std::uint32_t m = 0; m < n; ++m) members.push_back(b.rank(m));
    world = b.communicator(members);
    kind = b.collective("collective", bytes, std::move(make));
    for (std::uint32_t m = 0; m < n; ++m) {
      if (m < late.size() && late[m] > Duration{}) b.compute(members[m], late[m]);
      b.call(members[m], world, kind);
    }
  }
  [[nodiscard]] Played play_on(const SwitchFabric& fabric, CollectiveMode mode, double step_limit = 5e7) const {
    RunOptions options;
    options.collectives = mode;
    options.step_limit = step_limit;
    return play(fabric.links, fabric.router, b.build(), options);
  }
  ProgramBuilder b;
  std::vector<RankId> members;
  CommunicatorId world{};
  std::uint32_t kind = 0;
};

class EveryMode : public ::testing::TestWithParam<CollectiveMode> {};

TEST_P(EveryMode, Ring) {
  // N = 4, S = 4000: 2(N-1)(L + S/(N B)) = 6 (a 1 us + 2 links of 2 us + 1 us) = 36 us.
  const SwitchFabric fabric{4, kByteANanosecond, 2_us, 1_us};
  EXPECT_EQ(OneCall(4, Bytes{4000}, ring_all_reduce(Bytes{4000})).play_on(fabric, GetParam()).record.step_time(), 36_us);
}

TEST_P(EveryMode, RingThatStopsAndWaits) {
  const SwitchFabric fabric{4, kByteANanosecond, 2_us, 1_us};
  EXPECT_EQ(OneCall(4, Bytes{4000}, ring_all_reduce(Bytes{4000}, true)).play_on(fabric, GetParam()).record.step_time(),
            36_us);
}

TEST_P(EveryMode, Direct) {
  // L + (N-1)/N S/B = 5 us + 3 us.
  const SwitchFabric fabric{4, kByteANanosecond, 2_us, 1_us};
  EXPECT_EQ(OneCall(4, Bytes{4000}, direct_all_to_all(Bytes{4000})).play_on(fabric, GetParam()).record.step_time(), 8_us);
}

TEST_P(EveryMode, Chain) {
  // (N-1) L + (N-2+m) S/(m B) + (m-1) a = 3 * 5 + 6 * 1 + 3 * 1 = 24 us, m = 4 pieces of 1000 bytes.
  const SwitchFabric fabric{4, kByteANanosecond, 2_us, 1_us};
  EXPECT_EQ(OneCall(4, Bytes{4000}, chain_broadcast(Bytes{4000}, 4)).play_on(fabric, GetParam()).record.step_time(), 24_us);
}

TEST_P(EveryMode, UnlikeEdges) {
  // Halving over N = 4: sum over i of (L + S/(2^i B)) = 5 + 2 + 5 + 1 = 13 us.
  const SwitchFabric fabric{4, kByteANanosecond, 2_us, 1_us};
  const OneCall c{4, Bytes{4000}, [](std::uint32_t n) { return std::make_shared<Doubling>(n, Bytes{4000}); }};
  EXPECT_EQ(c.play_on(fabric, GetParam()).record.step_time(), 13_us);
}

TEST_P(EveryMode, InSwitch) {
  // a + S/B + max up + max down = 1 + 4 + 2 + 2 us; it starts when the last member has come, at 7 us.
  const SwitchFabric fabric{4, kByteANanosecond, 2_us, 1_us};
  const OneCall c{4, Bytes{4000}, [](std::uint32_t n) { return std::make_shared<InSwitch>(n, Bytes{4000}); }, {0_us, 7_us}};
  const Played p = c.play_on(fabric, GetParam());
  EXPECT_EQ(p.end(c.members[0], 0), 16_us);
  EXPECT_EQ(p.end(c.members[1], 1), 16_us);
}

TEST_P(EveryMode, OneMemberHasNothingToDo) {
  const SwitchFabric fabric{1, kByteANanosecond, 2_us, 1_us};
  const Played p = OneCall(1, Bytes{4000}, ring_all_reduce(Bytes{4000})).play_on(fabric, GetParam());
  EXPECT_EQ(p.record.step_time(), Duration{});
  EXPECT_EQ(p.record.counters.collectives, 1U);
}

TEST_P(EveryMode, NoBytesTakeTheirLatencies) {
  // 2(N-1) L = 30 us.
  const SwitchFabric fabric{4, kByteANanosecond, 2_us, 1_us};
  EXPECT_EQ(OneCall(4, Bytes{0}, ring_all_reduce(Bytes{0})).play_on(fabric, GetParam()).record.step_time(), 30_us);
}

TEST_P(EveryMode, CallsOfOneCommunicatorFollowEachOther) {
  // Three rings of 36 us each on one stream; and again in a second step.
  const SwitchFabric fabric{4, kByteANanosecond, 2_us, 1_us};
  OneCall c{4, Bytes{4000}, ring_all_reduce(Bytes{4000})};
  for (int again = 0; again < 2; ++again)
    for (const RankId r : c.members) c.b.call(r, c.world, c.kind);
  c.b.steps(2);
  const Played p = c.play_on(fabric, GetParam());
  EXPECT_EQ(p.record.step_ends, (std::vector<Time>{Time::at(108_us), Time::at(216_us)}));
  EXPECT_EQ(p.record.counters.collectives, 6U);
}

TEST_P(EveryMode, BytesOnTheLinksAreTheAlgorithms) {
  // A ring sends 2(N-1)/N S from every member: 6000 bytes over each link.
  const SwitchFabric fabric{4, kByteANanosecond, 2_us, 1_us};
  const Record r = OneCall(4, Bytes{4000}, ring_all_reduce(Bytes{4000})).play_on(fabric, GetParam()).record;
  for (const LinkRecord& link : r.links) EXPECT_DOUBLE_EQ(link.bytes, 6000);
}

INSTANTIATE_TEST_SUITE_P(Modes, EveryMode,
                         ::testing::Values(CollectiveMode::automatic, CollectiveMode::step, CollectiveMode::bulk),
                         [](const auto& test) {
                           return test.param == CollectiveMode::automatic ? "automatic"
                                  : test.param == CollectiveMode::step    ? "step"
                                                                          : "bulk";
                         });

TEST(CollectiveModes, AskedForBulkWaitsForAll) {
  // Member 2 comes at 10 us: the bulk transfers start then, all end at 46 us.
  const SwitchFabric fabric{4, kByteANanosecond, 2_us, 1_us};
  const OneCall c{4, Bytes{4000}, ring_all_reduce(Bytes{4000}), {0_us, 0_us, 10_us}};
  const Played p = c.play_on(fabric, CollectiveMode::bulk);
  EXPECT_EQ(p.record.step_time(), 46_us);
  EXPECT_EQ(p.end(c.members[0], 0), 46_us);
  EXPECT_EQ(p.record.modes[0].bulk_forced, 1U);
}

TEST(CollectiveModes, StepsRippleFromALateMember) {
  // A broadcast along 0 -> 1 -> 2 in one piece of 4 us; member 2 comes late, at 100 us: it only has to receive, and the
  // piece is there. Member 1 has sent it on by 4 + 4 us, whether member 2 has entered or not.
  const SwitchFabric fabric{3, kByteANanosecond};
  const OneCall c{3, Bytes{4000}, chain_broadcast(Bytes{4000}, 1), {0_us, 0_us, 100_us}};
  const Played p = c.play_on(fabric, CollectiveMode::step);
  EXPECT_EQ(p.end(c.members[0], 0), 4_us);
  EXPECT_EQ(p.end(c.members[1], 0), 8_us);
  EXPECT_EQ(p.end(c.members[2], 1), 100_us);
}

TEST(CollectiveModes, AutomaticPlaysStepsWhenAMemberIsLate) {
  const SwitchFabric fabric{4, kByteANanosecond, 2_us, 1_us};
  const OneCall late{4, Bytes{4000}, ring_all_reduce(Bytes{4000}), {0_us, 0_us, 10_us}};
  const Played automatic = late.play_on(fabric, CollectiveMode::automatic);
  EXPECT_EQ(automatic.record.modes[0].step, 1U);
  EXPECT_EQ(automatic.record.step_time(), late.play_on(fabric, CollectiveMode::step).record.step_time());

  const Played together = OneCall(4, Bytes{4000}, ring_all_reduce(Bytes{4000})).play_on(fabric, CollectiveMode::automatic);
  EXPECT_EQ(together.record.modes[0].bulk_exact, 1U);
  EXPECT_EQ(together.record.modes[0].step, 0U);
}

TEST(CollectiveModes, AutomaticPlaysStepsWhenOthersUseTheLinks) {
  // A message on another stream may use member 0's up-link meanwhile.
  const SwitchFabric fabric{4, kByteANanosecond, 2_us, 1_us};
  OneCall c{4, Bytes{4000}, ring_all_reduce(Bytes{4000})};
  c.b.send(c.members[0], c.b.channel(c.members[0], c.members[2]), Bytes{1}, {.label = "send", .stream = 1});
  EXPECT_EQ(c.play_on(fabric, CollectiveMode::automatic).record.modes[0].step, 1U);
}

TEST(CollectiveModes, AutomaticPlaysBulkWhenTheSameStreamUsesTheLinks) {
  // The message comes after the collective on the same stream: it cannot be in the way.
  const SwitchFabric fabric{4, kByteANanosecond, 2_us, 1_us};
  OneCall c{4, Bytes{4000}, ring_all_reduce(Bytes{4000})};
  c.b.send(c.members[0], c.b.channel(c.members[0], c.members[2]), Bytes{1000});
  const Record r = c.play_on(fabric, CollectiveMode::automatic).record;
  EXPECT_EQ(r.modes[0].bulk_exact, 1U);
  EXPECT_EQ(r.step_time(), 36_us + 2_us);
}

TEST(CollectiveModes, AutomaticPlaysStepsWhenEdgesDiffer) {
  SwitchFabric fabric{4, kByteANanosecond, 2_us, 1_us};
  fabric.links[LinkId{1}].capacity = 0.5 * kByteANanosecond;
  const OneCall c{4, Bytes{4000}, ring_all_reduce(Bytes{4000})};
  EXPECT_EQ(c.play_on(fabric, CollectiveMode::automatic).record.modes[0].step, 1U);
}

TEST(CollectiveModes, AutomaticPlaysBulkAboveTheStepLimit) {
  // 4 members x 6 sends = 24 transfers in the program.
  const SwitchFabric fabric{4, kByteANanosecond, 2_us, 1_us};
  const OneCall c{4, Bytes{4000}, ring_all_reduce(Bytes{4000}), {0_us, 0_us, 10_us}};
  const Record below = c.play_on(fabric, CollectiveMode::automatic, 24).record;
  EXPECT_EQ(below.program_transfers, 24);
  EXPECT_EQ(below.modes[0].step, 1U);
  EXPECT_EQ(c.play_on(fabric, CollectiveMode::automatic, 23).record.modes[0].bulk_forced, 1U);
}

TEST(CollectiveModes, WithStopAndWaitBulkIsExactForUnlikeEdges) {
  // One link at half speed, stop and wait: the ring's end is set by the slowest edge: 2(N-1)(L + S/(N B/2)) = 6 (5 + 2) = 42
  // us.
  SwitchFabric fabric{4, kByteANanosecond, 2_us, 1_us};
  fabric.links[LinkId{1}].capacity = 0.5 * kByteANanosecond;
  const OneCall c{4, Bytes{4000}, ring_all_reduce(Bytes{4000}, true)};
  EXPECT_EQ(c.play_on(fabric, CollectiveMode::step).record.step_time(), 42_us);
  EXPECT_EQ(c.play_on(fabric, CollectiveMode::bulk).record.step_time(), 42_us);
}

TEST(CollectiveModes, TwoCollectivesShareTheirLinks) {
  // Two rings of 4 members on different streams and communicators over the same links: each round takes twice its time alone
  // on the wire: 6 (5 + 2) = 42 us for both.
  const SwitchFabric fabric{4, kByteANanosecond, 2_us, 1_us};
  OneCall c{4, Bytes{4000}, ring_all_reduce(Bytes{4000})};
  const CommunicatorId other = c.b.communicator(c.members, "other");
  for (const RankId r : c.members) c.b.call(r, other, c.kind, {.label = "other", .stream = 1});
  const Played p = c.play_on(fabric, CollectiveMode::automatic);
  EXPECT_EQ(p.end(c.members[0], 0), 42_us);
  EXPECT_EQ(p.end(c.members[0], 1), 42_us);
  EXPECT_EQ(p.record.modes[0].step, 2U);
}

TEST(CollectiveModes, OnlyMembersTakePart) {
  // Members 0 and 2 of four ranks: 2 (L + S/(2B)) = 2 (5 + 2) = 14 us; ranks 1 and 3 do nothing, their links carry nothing.
  const SwitchFabric fabric{4, kByteANanosecond, 2_us, 1_us};
  ProgramBuilder b;
  std::vector<RankId> ranks;
  for (std::uint32_t r = 0; r < 4; ++r) ranks.push_back(b.rank(r));
  const CommunicatorId pair = b.communicator({ranks[0], ranks[2]});
  const std::uint32_t kind = b.collective("all-reduce", Bytes{4000}, ring_all_reduce(Bytes{4000}));
  b.call(ranks[0], pair, kind);
  b.call(ranks[2], pair, kind);
  const Record r = play(fabric.links, fabric.router, b.build()).record;
  EXPECT_EQ(r.step_time(), 14_us);
  EXPECT_EQ(r.links[LinkId{1}].bytes, 0);
  EXPECT_EQ(r.links[LinkId{0}].bytes, 4000);
}

TEST(CollectiveModes, TheRingOfAThousandRanksOfTheDesign) {
  // network-model.md: a 1 GiB ring all-reduce over 1,024 ranks, 32 a leaf, 400 Gb/s and 1 us links, a = 0: 47.13 ms by
  // default, 51.0917 ms with stop and wait. Hops inside a leaf: 2 links; between leaves: 4.
  LinkTable links;
  const auto link = [&] { return links.push_back({Bandwidth::gbit_per_s(400), 1_us}); };
  const std::uint32_t n = 1024, per_leaf = 32;
  std::vector<LinkId> up, down, leaf_up, leaf_down;
  for (std::uint32_t i = 0; i < n; ++i) up.push_back(link()), down.push_back(link());
  for (std::uint32_t i = 0; i < n / per_leaf; ++i) leaf_up.push_back(link()), leaf_down.push_back(link());
  TableRouter router;
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t j = (i + 1) % n;
    std::vector<LinkId> hops{up[i]};
    if (i / per_leaf != j / per_leaf) hops.insert(hops.end(), {leaf_up[i / per_leaf], leaf_down[j / per_leaf]});
    hops.push_back(down[j]);
    router.set(i, j, single_path(links, hops, Duration{}));
  }
  const double gib = 1024.0 * 1024 * 1024;
  const auto time = [&](bool stop_and_wait) {
    const OneCall c{n, Bytes{gib}, ring_all_reduce(Bytes{gib}, stop_and_wait)};
    RunOptions options;
    options.collectives = CollectiveMode::step;
    options.critical_path = false;
    return simulate(links, router, c.b.build(), options).step_time().in_seconds();
  };
  EXPECT_NEAR(time(false), 47.13e-3, 0.005e-3);
  EXPECT_NEAR(time(true), 51.0917e-3, 0.00005e-3);
}

}  // namespace
}  // namespace traingraph::sim::tests
