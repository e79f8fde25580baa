// Rings whose members enter apart: the recursion of staggered_ring.h against the event loop.
#include "sim/staggered_ring.h"

#include <gtest/gtest.h>

#include "tests/sim/play.h"
#include "tests/sim/program_builder.h"
#include "tests/sim/property.h"
#include "tests/sim/sources.h"
#include "tests/sim/switch_fabric.h"

namespace traingraph::sim::tests {
namespace {

std::vector<Time> ends_of(const TransferSource& source, const std::vector<Time>& entries,
                          const StaggeredRing::Costs& costs) {
  return StaggeredRing::of(source)->play(entries, costs, [](const auto&) {});
}

TEST(StaggeredRing, EndsByHand) {
  // 3 members, 4 sends of 1 + 10 us each, arrived 2 us later; member 1 comes at 100 us. When send s has left:
  const Ring source{3, 4, Bytes{10}};
  const std::vector<Time> ends =
      ends_of(source, {Time::zero(), Time::at(100_us), Time::zero()}, {.overhead = 1_us, .drain = 10_us, .latency = 2_us});
  //   s   left(0)  left(1)  left(2)
  //   0      11      111       11
  //   1      24      122      124
  //   2     137      133      135
  //   3     148      150      146
  EXPECT_EQ(ends, (std::vector<Time>{Time::at(148_us), Time::at(150_us), Time::at(152_us)}));
}

TEST(StaggeredRing, NobodyEndsBeforeAllHaveEntered) {
  for (const bool stop_and_wait : {false, true})
    for (std::uint32_t n = 2; n < 9; ++n)
      for (std::uint32_t late = 0; late < n; ++late) {
        std::vector<Time> entries(n);
        entries[late] = Time::at(1_s);
        for (const Time end : ends_of(Ring{n, n - 1, Bytes{1}, stop_and_wait}, entries, {0_us, 1_us, 0_us}))
          EXPECT_GT(end, Time::at(1_s));
      }
}

TEST(StaggeredRing, OtherAlgorithmsAreNotRings) {
  EXPECT_TRUE(StaggeredRing::of(Ring{4, 3, Bytes{1}}));
  EXPECT_FALSE(StaggeredRing::of(Ring{4, 2, Bytes{1}}));  // a member may end before another has entered
  EXPECT_FALSE(StaggeredRing::of(Ring{1, 0, Bytes{1}}));
  EXPECT_FALSE(StaggeredRing::of(Direct{4, Bytes{1}}));
  EXPECT_FALSE(StaggeredRing::of(Chain{4, 4, Bytes{4}}));
  EXPECT_FALSE(StaggeredRing::of(Doubling{4, Bytes{4}}));
  EXPECT_FALSE(StaggeredRing::of(InSwitch{4, Bytes{1}}));
}

TEST(StaggeredRing, BeyondTheClockIsAnError) {
  const Duration month = Duration::ps(3'000'000'000'000'000'000);
  EXPECT_THROW(static_cast<void>(ends_of(Ring{2, 4, Bytes{1}}, {Time::zero(), Time::zero()}, {0_us, month, 0_us})),
               InputError);
}

/// Ranks of one role that differ in speed, call after call on one communicator and one stream.
struct Calls {
  explicit Calls(Dice& dice)
      : n{dice.between(2, 6)},
        fabric{n, Bandwidth::bytes_per_s(dice.uniform(1e8, 1e10)), Duration::ps(dice.below(3'000'000)),
               Duration::ps(dice.below(2) * dice.below(1'000'000))} {
    ProgramBuilder b;
    std::vector<RankId> ranks;
    for (std::uint32_t i = 0; i < n; ++i) ranks.push_back(b.rank(i, dice.chance(0.3) ? 1.0 : dice.uniform(1, 1.5)));
    const CommunicatorId world = b.communicator(ranks);
    std::vector<std::uint32_t> kinds;
    for (int k = 0; k < 3; ++k) {
      const Bytes bytes{std::floor(dice.uniform(0, 1e5))};
      kinds.push_back(b.collective("ring", bytes, ring_all_reduce(bytes, dice.chance(0.3))));
    }
    if (dice.chance(0.5)) {  // another algorithm among the rings: its neighbours must be played in steps
      const std::uint32_t which = dice.below(3);
      kinds.push_back(which == 0   ? b.collective("direct", Bytes{5e4}, direct_all_to_all(Bytes{5e4}))
                      : which == 1 ? b.collective("chain", Bytes{5e4}, chain_broadcast(Bytes{5e4}, 3))
                                   : b.collective("empty", Bytes{0}, direct_all_to_all(Bytes{0})));
    }
    const std::uint32_t calls = dice.between(1, 8);
    for (std::uint32_t c = 0; c < calls; ++c) {
      const Duration work = Duration::ps(dice.chance(0.3) ? 0 : dice.below(40'000'000));
      const std::uint32_t kind = dice.pick(kinds);
      for (const RankId r : ranks) {
        b.compute(r, work);
        b.call(r, world, kind);
      }
    }
    b.steps(dice.between(1, 3));
    program = b.build();
    for (Rank& rank : program.ranks) rank.role = TemplateId{0};
  }
  [[nodiscard]] Played play_in(CollectiveMode mode, NetworkModel network = NetworkModel::flow) const {
    RunOptions options;
    options.collectives = mode;
    options.network = network;
    options.bins = 8;
    return play(fabric.links, fabric.router, program, options);
  }
  std::uint32_t n;
  SwitchFabric fabric;
  Program program;
};

TEST(StaggeredRing, EqualsStepsToThePicosecond) {
  Coverage apart;
  check_property(400, [&] {
    Dice dice = draw_dice();
    const Calls calls{dice};
    const NetworkModel network = dice.chance(0.8) ? NetworkModel::flow : NetworkModel::ideal;
    const Played steps = calls.play_in(CollectiveMode::step, network);
    const Played automatic = calls.play_in(CollectiveMode::automatic, network);
    RC_ASSERT(automatic.record.step_ends == steps.record.step_ends);
    for (std::uint32_t r = 0; r < calls.n; ++r) {
      const RankId rank{r};
      RC_ASSERT(automatic.record.splits[rank].by_category == steps.record.splits[rank].by_category);
    }
    RC_ASSERT(automatic.record.counters.collectives == steps.record.counters.collectives);
    // Every transfer ends at a whole picosecond, in steps and in bulk; what it carries in the last one is more than it has.
    const double last_picoseconds = 1e-12 * calls.fabric.links[LinkId{0}].capacity.bytes_per_s() *
                                    static_cast<double>(1 + steps.record.counters.transfers);
    for (std::uint32_t l = 0; l < automatic.record.links.size(); ++l) {
      const LinkRecord& a = automatic.record.links[LinkId{l}];
      const LinkRecord& s = steps.record.links[LinkId{l}];
      RC_ASSERT(std::abs(a.bytes - s.bytes) <= 1e-9 * s.bytes + last_picoseconds);
      RC_ASSERT(a.peak_utilization <= 1.0);
    }
    std::uint64_t in_bulk = 0;
    for (const CollectiveModes& m : automatic.record.modes) in_bulk += m.bulk_exact;
    if (in_bulk == 0) {
      RC_ASSERT(automatic.record.counters.transfers == steps.record.counters.transfers);
      RC_ASSERT(automatic.transfers.size() == steps.transfers.size());
    }
    apart.count(automatic.record.counters.events < steps.record.counters.events && in_bulk == 0);
  });
  demand("members apart without steps", apart, 0.2);
}

TEST(StaggeredRing, TransfersAreThoseOfTheSteps) {
  Dice dice{7};
  for (int i = 0; i < 50; ++i) {
    const Calls calls{dice};
    auto by_lane = [](std::vector<TransferSpan> spans) {
      std::stable_sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) {
        return std::tie(a.source, a.start, a.arrived) < std::tie(b.source, b.start, b.arrived);
      });
      return spans;
    };
    const Played played = calls.play_in(CollectiveMode::automatic);
    std::uint64_t in_bulk = 0;
    for (const CollectiveModes& m : played.record.modes) in_bulk += m.bulk_exact;
    if (in_bulk > 0) continue;
    const auto automatic = by_lane(played.transfers);
    const auto steps = by_lane(calls.play_in(CollectiveMode::step).transfers);
    ASSERT_EQ(automatic.size(), steps.size());
    for (std::size_t t = 0; t < steps.size(); ++t) {
      EXPECT_EQ(automatic[t].source, steps[t].source);
      EXPECT_EQ(automatic[t].destination, steps[t].destination);
      EXPECT_EQ(automatic[t].start, steps[t].start);
      EXPECT_EQ(automatic[t].drained, steps[t].drained);
      EXPECT_EQ(automatic[t].arrived, steps[t].arrived);
    }
  }
}

}  // namespace
}  // namespace traingraph::sim::tests
