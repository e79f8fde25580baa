// Golden run: when the steps of one fixed program end, to the picosecond, so that a change of behaviour is noticed and has
// to be meant. The numbers are what the engine gave, not a closed form: those are in the other tests.
//
// The program: 6 ranks on a switch; two steps of unlike compute, an all-reduce by a ring, an all-to-all beside it on another
// stream, a chain of messages with weights and caps, and a link that loses half of its capacity for a while.
#include <gtest/gtest.h>

#include <vector>

#include "sim/simulate.h"
#include "tests/sim/program_builder.h"
#include "tests/sim/sources.h"
#include "tests/sim/switch_fabric.h"

namespace traingraph::sim::tests {
namespace {

Program golden_program() {
  ProgramBuilder b;
  std::vector<RankId> ranks;
  for (std::uint32_t r = 0; r < 6; ++r) ranks.push_back(b.rank(r, r == 4 ? 1.125 : 1.0));
  const CommunicatorId all = b.communicator(ranks, "all"), even = b.communicator({ranks[4], ranks[0], ranks[2]}, "even");
  const std::uint32_t ring = b.collective("ring", Bytes{3e6}, ring_all_reduce(Bytes{3e6}));
  const std::uint32_t direct = b.collective("direct", Bytes{9e5}, direct_all_to_all(Bytes{9e5}));
  std::vector<ChannelId> next;
  for (std::uint32_t r = 0; r + 1 < 6; ++r)
    next.push_back(b.channel(ranks[r], ranks[r + 1], 1 + r % 3, Bandwidth::gbit_per_s(r == 2 ? 20 : 0)));
  for (std::uint32_t r = 0; r < 6; ++r) {
    const Dependency first = b.compute(ranks[r], (50 + 10 * r) * 1_us, {.label = "forward"});
    if (r > 0) b.receive(ranks[r], next[r - 1], {.label = "pp.receive", .stream = 2});
    const Dependency gradients = b.compute(ranks[r], 120_us, {.label = "backward", .after = {}});
    const Dependency reduced = b.call(ranks[r], all, ring, {.label = "dp.all_reduce", .stream = 1, .after = {gradients}});
    if (r % 2 == 0) b.call(ranks[r], even, direct, {.label = "ep.all_to_all", .stream = 3, .after = {first}});
    if (r + 1 < 6)
      b.send(ranks[r], next[r], Bytes{250'000.0 + 1000 * r}, {.label = "pp.send", .stream = 2, .after = {first}});
    b.compute(ranks[r], 30_us, {.label = "optimizer", .after = {reduced}});
  }
  b.steps(2);
  b.change_link(200_us, 3, Bandwidth::gbit_per_s(50));
  b.change_link(900_us, 3, Bandwidth::gbit_per_s(100));
  return b.build();
}

TEST(GoldenRun, TheStepsEndWhenTheyDid) {
  const SwitchFabric fabric{6, Bandwidth::gbit_per_s(100), 1_us, 2_us};
  const Record r = simulate(fabric.links, fabric.router, golden_program(), {});
  ASSERT_EQ(r.step_ends.size(), 2U);
  EXPECT_EQ(r.step_ends[0].count_ps(), 1'015'990'000);
  EXPECT_EQ(r.step_ends[1].count_ps(), 1'740'560'000);
}

}  // namespace
}  // namespace traingraph::sim::tests
