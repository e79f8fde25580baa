// Golden run: a digest of everything that happens in one fixed program, so that a change of behaviour is noticed and has to be meant.
//
// The program: 6 ranks on a switch; two steps of unlike compute, an all-reduce by a ring, an all-to-all beside it on another stream, a
// chain of messages with weights and caps, and a link that loses half of its capacity for a while. When a change of the engine is
// meant to alter times, look at the step ends below first: they are checked by hand-readable numbers; then renew the digest.
#include <gtest/gtest.h>

#include "tests/sim/play.h"
#include "tests/sim/program_builder.h"
#include "tests/sim/record_digest.h"
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
    if (r + 1 < 6) b.send(ranks[r], next[r], Bytes{250'000.0 + 1000 * r}, {.label = "pp.send", .stream = 2, .after = {first}});
    b.compute(ranks[r], 30_us, {.label = "optimizer", .after = {reduced}});
  }
  b.steps(2);
  b.change_link(200_us, 3, Bandwidth::gbit_per_s(50));
  b.change_link(900_us, 3, Bandwidth::gbit_per_s(100));
  return b.build();
}

TEST(GoldenRun, NothingHasChanged) {
  const SwitchFabric fabric{6, Bandwidth::gbit_per_s(100), 1_us, 2_us};
  const Played p = play(fabric.links, fabric.router, golden_program());
  Digest d;
  d.add(digest(p.record));
  for (const TaskSpan& s : p.tasks) {
    for (const std::uint32_t i : {index(s.rank), s.step, s.op}) d.add(std::uint64_t{i});
    d.add(s.start);
    d.add(s.end);
  }
  for (const TransferSpan& t : p.transfers) {
    for (const std::uint32_t i : {index(t.source), index(t.destination), t.label, t.hops}) d.add(std::uint64_t{i});
    d.add(t.bytes.count());
    d.add(t.start);
    d.add(t.drained);
    d.add(t.arrived);
  }
  ASSERT_EQ(p.record.step_ends.size(), 2U);
  EXPECT_EQ(p.record.step_ends[0].count_ps(), 0);
  EXPECT_EQ(p.record.step_ends[1].count_ps(), 0);
  EXPECT_EQ(d.value(), 0U);
}

}  // namespace
}  // namespace traingraph::sim::tests
