#include "analysis/critical_path.h"

#include <gtest/gtest.h>

#include "sim/error.h"
#include "tests/analysis/support.h"

namespace traingraph::analysis {
namespace {

using sim::Duration;
using sim::Time;
using testing::Star;
using testing::StarRouter;

Time at_ms(double ms) { return Time::at(Duration::ms(ms)); }

// matmul 0-10, norm 10-12, all-reduce 12-18, adam 18-19 ms: three kinds of share that add up to 19 ms.
TEST(CriticalPath, SharesAddUpToItsLength) {
  const auto w = testing::data_parallel({});
  sim::Record record;
  const sim::RankId r0{0}, r1{1};
  record.critical_path = {{r1, 0, 0, at_ms(0), at_ms(10), Duration::ms(1)},
                          {r1, 0, 1, at_ms(10), at_ms(12), {}},
                          {r0, 0, 2, at_ms(12), at_ms(18), {}},
                          {r0, 0, 3, at_ms(18), at_ms(19), {}}};
  const CriticalPath path = critical_path(w.program, record);
  EXPECT_EQ(path.length, Duration::ms(19));
  ASSERT_EQ(path.by_kind.size(), 2U);
  EXPECT_EQ(path.by_kind[0].name, "compute");
  EXPECT_EQ(path.by_kind[0].time, Duration::ms(13));
  EXPECT_EQ(path.by_kind[0].elements, 3U);
  EXPECT_DOUBLE_EQ(path.by_kind[1].fraction, 6.0 / 19);
  ASSERT_EQ(path.by_task.size(), 4U);
  EXPECT_EQ(path.by_task[1].name, "dp_all_reduce");
  EXPECT_EQ(path.elements[0].task, "matmul");
  EXPECT_EQ(path.elements[0].slack, Duration::ms(1));
}

TEST(CriticalPath, ElementsThatOverlapAreABrokenPromise) {
  const auto w = testing::data_parallel({});
  sim::Record record;
  record.critical_path = {{sim::RankId{0}, 0, 0, at_ms(0), at_ms(10), {}}, {sim::RankId{0}, 0, 1, at_ms(9), at_ms(12), {}}};
  EXPECT_THROW(static_cast<void>(critical_path(w.program, record)), sim::InternalError);
}

// The engine's path of the data-parallel step covers it from end to end, and with a straggler it leads over the straggler.
TEST(CriticalPath, OfASimulatedStepLeadsOverTheStraggler) {
  const Star star{{.gpus = 4}};
  const StarRouter router{star};
  const Result r = testing::run(star, router, testing::data_parallel({.slowest = 1.5})).result;
  EXPECT_EQ(r.critical_path.length, r.step_time);
  ASSERT_FALSE(r.critical_path.elements.empty());
  EXPECT_EQ(index(r.critical_path.elements.front().rank), 3U);
  EXPECT_EQ(r.critical_path.elements.front().task, "matmul");
  EXPECT_EQ(r.critical_path.elements.back().task, "adam");
  EXPECT_EQ(r.critical_path.elements.back().end, r.step_ends.back());
}

}  // namespace
}  // namespace traingraph::analysis
