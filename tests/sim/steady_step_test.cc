// The last of several steps is reported as one of many: the next step goes on beside it.
#include <gtest/gtest.h>

#include "tests/sim/play.h"
#include "tests/sim/program_builder.h"
#include "tests/sim/property.h"
#include "tests/sim/sources.h"
#include "tests/sim/switch_fabric.h"

namespace traingraph::sim::tests {
namespace {

/// Rank 0 works 3 us and sends to rank 1, which works 5 us when it has received: a pipeline with no way back. Rank 0 is
/// always ahead; in a steady step it works 5 us of every 5.
TEST(SteadyStep, WhatRunsBesideTheLastStepBelongsToItsWindow) {
  const SwitchFabric fabric{2, Bandwidth::bytes_per_s(1e9)};
  ProgramBuilder b;
  const RankId first = b.rank(0), second = b.rank(1);
  const ChannelId forth = b.channel(first, second), back = b.channel(second, first);
  b.compute(first, 3_us, {.label = "first"});
  b.send(first, forth, Bytes{0});
  b.receive(first, back);
  b.receive(second, forth);
  b.send(second, back, Bytes{0}, {.label = "send"});
  b.compute(second, 5_us, {.label = "second"});
  for (const std::uint32_t steps : {1U, 2U, 3U}) {
    b.steps(steps);
    const Record r = play(fabric.links, fabric.router, b.build()).record;
    // Steps end at 8, 13, 18, ... us; rank 0 works at 0-3, 3-6, 8-11, 13-16, ...: while rank 1 works, rank 0 is at the next
    // step, so that every window but the first holds 3 us of it.
    EXPECT_EQ(r.window_end(), Time::at(Duration::ps(1'000'000 * (3 + 5 * std::int64_t{steps}))));
    EXPECT_EQ(r.splits[first].by_category[b.category("first")], 3_us) << steps << " steps";
    EXPECT_EQ(r.splits[second].by_category[b.category("second")], 5_us) << steps << " steps";
    EXPECT_EQ(r.counters.operations, 6U * steps);
    EXPECT_EQ(r.counters.transfers, 2U * steps);
  }
}

/// Steps of ranks that meet in each of them do not depend on how many more follow.
TEST(SteadyStep, MoreStepsChangeNoneBefore) {
  check_property(150, [] {
    Dice dice = draw_dice();
    const std::uint32_t n = dice.between(2, 5);
    const SwitchFabric fabric{n, Bandwidth::bytes_per_s(1e9), Duration::ps(dice.below(2'000'000))};
    ProgramBuilder b;
    std::vector<RankId> ranks;
    for (std::uint32_t i = 0; i < n; ++i) ranks.push_back(b.rank(i, dice.uniform(1, 2)));
    const CommunicatorId world = b.communicator(ranks);
    const std::uint32_t ring = b.collective("ring", Bytes{4e4}, ring_all_reduce(Bytes{4e4}));
    for (std::uint32_t i = 0; i < n; ++i) {
      const RankId r = ranks[i];
      const Dependency work = b.compute(r, Duration::ps(1 + dice.below(50'000'000)));
      std::vector<Dependency> sent{b.call(r, world, ring, {.label = "ring", .stream = 1, .after = {work}})};
      if (dice.chance(0.5))
        sent.push_back(
            b.send(r, b.channel(r, ranks[(i + 1) % n]), Bytes{1e4}, {.label = "send", .stream = 2, .after = {work}}));
      b.compute(r, Duration::ps(dice.below(50'000'000)));
      b.marker(r, {.label = "marker", .after = sent});
      b.compute(r, Duration::ps(dice.below(50'000'000)));
    }
    const auto record_of = [&](std::uint32_t steps) {
      b.steps(steps);
      RunOptions options;
      options.collectives = CollectiveMode::step;
      return simulate(fabric.links, fabric.router, b.build(), options);
    };
    std::vector<Time> longest = record_of(6).step_ends;
    for (const std::uint32_t steps : {2U, 3U, 4U}) {
      const Record r = record_of(steps);
      RC_ASSERT(std::equal(r.step_ends.begin(), r.step_ends.end(), longest.begin()));
    }
  });
}

/// In a periodic run the bytes of a window are those of a step.
TEST(SteadyStep, LinksCarryAStepsBytesInAWindow) {
  const SwitchFabric fabric{2, Bandwidth::bytes_per_s(1e9), 1_us};
  ProgramBuilder b;
  const RankId first = b.rank(0), second = b.rank(1);
  const ChannelId forth = b.channel(first, second);
  b.compute(first, 3_us);
  b.send(first, forth, Bytes{7000});
  b.receive(second, forth);
  b.compute(second, 9_us);
  b.steps(4);
  const Record r = simulate(fabric.links, fabric.router, b.build(), {});
  // Windows: rank 0 sends every 10 us (3 + 7), rank 1 receives as often and works 9 us; window of 10 us, 7000 bytes.
  EXPECT_EQ(r.step_time(), 10_us);
  EXPECT_DOUBLE_EQ(r.links[SwitchFabric::up(0)].bytes, 7000);
}

}  // namespace
}  // namespace traingraph::sim::tests
