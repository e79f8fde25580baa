// The clock ends after 2^63 ps, 106 days: a run that would go beyond is an error, never a wrong time.
#include "sim/clock_range.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/play.h"
#include "tests/sim/program_builder.h"
#include "tests/sim/switch_fabric.h"
#include "tests/sim/table_router.h"

namespace traingraph::sim::tests {
namespace {

constexpr Duration kSixtyDays = Duration::ps(60LL * 86'400 * 1'000'000'000'000);

template <class Run>
void expect_beyond_clock(const Run& run) {
  try {
    run();
    ADD_FAILURE() << "no error";
  } catch (const InputError& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("beyond the simulated clock"));
  }
}

TEST(ClockRange, SumsEndInAnErrorNotInAWrap) {
  EXPECT_EQ(checked_sum(kSixtyDays, 1_ps), kSixtyDays + 1_ps);
  EXPECT_EQ(later(Time::at(1_us), 2_us), Time::at(3_us));
  expect_beyond_clock([] { return checked_sum(kSixtyDays, kSixtyDays); });
  expect_beyond_clock([] { return checked_sum(Duration::max(), Duration{}); });
  expect_beyond_clock([] { return later(Time::at(kSixtyDays), kSixtyDays); });
}

TEST(ClockRange, OperationsOneAfterTheOther) {
  for (const std::uint32_t stream : {0U, 1U}) {  // in one stream they are joined, in two they are not
    ProgramBuilder b;
    const RankId r = b.rank(0);
    const Dependency first = b.compute(r, kSixtyDays);
    b.compute(r, kSixtyDays, {.stream = stream, .after = {first}});
    expect_beyond_clock([&] { return play({}, TableRouter{}, b.build()); });
  }
}

TEST(ClockRange, Steps) {
  ProgramBuilder b;
  b.compute(b.rank(0), kSixtyDays);
  b.steps(2);
  expect_beyond_clock([&] { return play({}, TableRouter{}, b.build()); });
}

TEST(ClockRange, ASlowRank) {
  ProgramBuilder b;
  b.compute(b.rank(0, 1e300), 1_us);
  expect_beyond_clock([&] { return play({}, TableRouter{}, b.build()); });
}

TEST(ClockRange, ATransferThatTakesTooLong) {
  SwitchFabric fabric{2, Bandwidth::bytes_per_s(1), 1_us};
  for (const NetworkModel network : {NetworkModel::flow, NetworkModel::ideal}) {
    ProgramBuilder b;
    const RankId x = b.rank(0), y = b.rank(1);
    const ChannelId c = b.channel(x, y);
    b.send(x, c, Bytes{1e9});
    b.receive(y, c);
    RunOptions options;
    options.network = network;
    expect_beyond_clock([&] { return simulate(fabric.links, fabric.router, b.build(), options); });
  }
}

}  // namespace
}  // namespace traingraph::sim::tests
