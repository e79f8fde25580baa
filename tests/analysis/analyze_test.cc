// From a record to a Result: sums, rates, the busiest, median and least busy GPU, the links, and the promises that are
// checked.
#include "analysis/analyze.h"

#include <gtest/gtest.h>

#include "sim/error.h"
#include "tests/analysis/support.h"

namespace traingraph::analysis {
namespace {

using sim::Duration;
using sim::Time;
using testing::Star;
using testing::StarRouter;
using workloads::TimeCategory;

/// A record of one step of two seconds in which every GPU idles but for `busy[rank]` of compute.
struct HandMade {
  explicit HandMade(std::vector<Duration> busy)
      : star{{.gpus = static_cast<std::uint32_t>(busy.size())}},
        router{star},
        workload{testing::data_parallel({.gpus = static_cast<std::uint32_t>(busy.size())})} {
    record.step_ends = {Time::at(Duration::seconds(2))};
    record.links.resize(star.fabric.links.size());
    for (const Duration b : busy) {
      sim::TimeSplit split;
      split.by_category[static_cast<std::size_t>(TimeCategory::compute)] = b;
      split.by_category[static_cast<std::size_t>(TimeCategory::idle)] = record.step_time() - b;
      record.splits.push_back(split);
    }
  }
  [[nodiscard]] Result analyzed() const {
    return analyze({.fabric = star.fabric, .router = router, .workload = workload, .options = {}, .record = record});
  }

  Star star;
  StarRouter router;
  workloads::Workload workload;
  sim::Record record;
};

Duration s(double v) { return Duration::seconds(v); }

// 1,000 tokens and 10^12 model FLOP (1.25 x 10^12 done) in 2 s on 4 GPUs of 10^14 FLOP/s.
TEST(Analyze, RatesFollowFromTheStepTime) {
  const Result r = HandMade{{s(1), s(1), s(1), s(1)}}.analyzed();
  EXPECT_EQ(r.step_time, s(2));
  EXPECT_DOUBLE_EQ(*r.tokens_per_s, 500);
  EXPECT_DOUBLE_EQ(*r.tokens_per_s_per_gpu, 125);
  EXPECT_DOUBLE_EQ(*r.mfu, 1e12 / (2 * 4 * 1e14));
  EXPECT_DOUBLE_EQ(*r.hfu, 1.25e12 / (2 * 4 * 1e14));
  EXPECT_DOUBLE_EQ(*r.tflops_per_gpu, 1e12 / (2 * 4) / 1e12);
}

// A workload that counts no tokens and no FLOP has no rates, rather than zeros.
TEST(Analyze, WhatIsNotCountedIsAbsent) {
  HandMade made{{s(1), s(1)}};
  made.workload.tokens_per_step = 0;
  made.workload.model_flop_per_step = sim::Flop{0};
  const Result r = made.analyzed();
  EXPECT_FALSE(r.tokens_per_s || r.tokens_per_s_per_gpu || r.mfu || r.hfu || r.tflops_per_gpu || r.model_flop_per_step);
}

TEST(Analyze, BusiestMedianAndLeastBusyAreFoundByKernelTime) {
  const Result r = HandMade{{s(0.5), s(1.5), s(0.1), s(0.7), s(1.5)}}.analyzed();
  EXPECT_EQ(index(r.busiest.rank), 1U);  // a tie with rank 4 goes to the lower
  EXPECT_EQ(index(r.median.rank), 3U);
  EXPECT_EQ(index(r.least_busy.rank), 2U);
  EXPECT_EQ(r.busiest.gpu, "node1.gpu0");
  EXPECT_EQ(r.busiest.busy, s(1.5));
  EXPECT_EQ(r.busiest.part("idle"), s(0.5));
}

// Rank 2 stands for 7 GPUs of 9: it is the median.
TEST(Analyze, TheMedianCountsMembersOfAClass) {
  HandMade made{{s(0.5), s(0.6), s(0.1)}};
  made.workload.program.ranks[sim::RankId{2}].multiplicity = 7;
  const Result r = made.analyzed();
  EXPECT_EQ(r.gpus, 9U);
  EXPECT_EQ(index(r.median.rank), 2U);
  EXPECT_EQ(r.engine.classes, 3U);
}

TEST(Analyze, ASplitThatMissesAPicosecondIsABrokenPromise) {
  HandMade made{{s(1), s(1)}};
  made.record.splits[sim::RankId{1}].by_category[0] += Duration::ps(1);
  EXPECT_THROW(static_cast<void>(made.analyzed()), sim::InternalError);
}

TEST(Analyze, ALinkAboveItsCapacityIsABrokenPromise) {
  HandMade made{{s(1), s(1)}};
  made.record.links[sim::LinkId{0}].bytes = 2e9 * 1.001;  // 2 s of 1 GB/s
  EXPECT_THROW(static_cast<void>(made.analyzed()), sim::InternalError);
  made.record.links[sim::LinkId{0}].bytes = 2e9;
  made.record.links[sim::LinkId{0}].busy = s(2);
  EXPECT_DOUBLE_EQ(made.analyzed().top_links.at(0).mean_utilization, 1.0);
  made.record.links[sim::LinkId{0}].peak_utilization = 1.001;
  EXPECT_THROW(static_cast<void>(made.analyzed()), sim::InternalError);
}

// 1 GB/s until 0.5 s, then 2 GB/s: the link could carry 3.5 GB in 2 s.
TEST(Analyze, UtilizationIsOfTheMeanCapacity) {
  HandMade made{{s(1), s(1)}};
  made.workload.program.link_changes = {{Time::at(s(0.5)), sim::LinkId{0}, sim::Bandwidth::bytes_per_s(2e9)}};
  made.record.links[sim::LinkId{0}].bytes = 1.75e9;
  const Result r = made.analyzed();
  EXPECT_DOUBLE_EQ(r.top_links.at(0).capacity_bytes_per_s, 1.75e9);
  EXPECT_DOUBLE_EQ(r.top_links.at(0).mean_utilization, 0.5);
}

TEST(Analyze, LinksAreSummedByTierAndTheMostLoadedNamed) {
  HandMade made{std::vector<Duration>(8, s(1))};  // 16 links of 1 GB/s
  for (std::uint32_t l = 0; l < 12; ++l) made.record.links[sim::LinkId{l}] = {1e8 * (1 + l % 6), s(1), 0.5 + 0.01 * l};
  const Result r = made.analyzed();
  ASSERT_EQ(r.tiers.size(), 1U);
  const TierUse& nic = r.tiers[0];
  EXPECT_EQ(nic.tier, "nic");
  EXPECT_EQ(nic.links, 16U);
  EXPECT_EQ(nic.links_used, 12U);
  EXPECT_DOUBLE_EQ(nic.bytes, 2 * (1 + 2 + 3 + 4 + 5 + 6) * 1e8);
  EXPECT_DOUBLE_EQ(nic.busy_fraction, 12 * 0.5 / 16);
  EXPECT_NEAR(nic.mean_utilization, nic.bytes / (16e9 * 2), 1e-15);
  EXPECT_DOUBLE_EQ(nic.peak_utilization, 0.61);
  ASSERT_EQ(r.top_links.size(), 10U);
  EXPECT_EQ(index(r.top_links[0].link), 5U);  // 6e8 bytes, as link 11
  EXPECT_EQ(index(r.top_links[1].link), 11U);
  EXPECT_EQ(r.top_links[0].name, made.star.fabric.link_info[sim::LinkId{5}].name);
}

TEST(Analyze, TheRoleThatNeedsMostMemoryIsShownWithItsTerms) {
  const Result r = HandMade{{s(1), s(1)}}.analyzed();
  EXPECT_EQ(r.memory.role, "replica");
  EXPECT_DOUBLE_EQ(r.memory.peak_memory_bytes, 12e9);
  EXPECT_DOUBLE_EQ(r.memory.capacity_bytes, 80e9);
  ASSERT_EQ(r.memory.terms.size(), 2U);
  EXPECT_EQ(r.memory.terms[1].name, "optimizer states");
}

TEST(Analyze, TheWayCollectivesWerePlayedHasAReason) {
  HandMade made{{s(1), s(1)}};
  made.record.modes = {{.collective = 0, .step = 3, .bulk_exact = 2, .bulk_forced = 0}};
  const CollectiveUse mixed = made.analyzed().collectives.at(0);
  EXPECT_EQ(mixed.calls, 5U);
  EXPECT_EQ(mixed.mode, "mixed");
  EXPECT_EQ(mixed.reason(), "step: bulk would not be exact; bulk: exact by construction");
  made.record.modes = {{.collective = 0, .step = 0, .bulk_exact = 0, .bulk_forced = 9}};
  made.record.program_transfers = 1e9;
  made.record.inexact_transfers = 3.005e8;  // what the engine compares with the limit
  EXPECT_EQ(made.analyzed().collectives.at(0).reason(),
            "bulk: 300.5 million transfers could not be in exact bulk, the limit is 50 million");
  made.record.inexact_transfers = 4e7;
  EXPECT_EQ(made.analyzed().collectives.at(0).reason(),
            "bulk: members entered apart when steps had reached the limit of 50 million transfers");
}

// Four GPUs, 10 + 2 ms of kernels, a ring all-reduce of 4 MB at 1 GB/s (2 x 3/4 x 4 ms = 6 ms), 1 ms of optimizer.
TEST(Analyze, ADataParallelStepAddsUp) {
  const Star star{{.gpus = 4}};
  const StarRouter router{star};
  const Result r = testing::run(star, router, testing::data_parallel({})).result;
  EXPECT_EQ(r.step_time, Duration::ms(19));
  EXPECT_EQ(r.busiest.part("compute"), Duration::ms(10));
  EXPECT_EQ(r.busiest.part("memory_bound"), Duration::ms(2));
  EXPECT_EQ(r.busiest.part("exposed_dp"), Duration::ms(6));
  EXPECT_EQ(r.busiest.part("optimizer"), Duration::ms(1));
  EXPECT_EQ(r.busiest.busy, Duration::ms(13));
  EXPECT_DOUBLE_EQ(r.top_links.at(0).busy_fraction, 6.0 / 19);
  EXPECT_EQ(r.step_ends.size(), 1U);
}

// The last GPU is slow by half: the others wait for it, and only it is never idle.
TEST(Analyze, AStragglerIsTheBusiestGpu) {
  const Star star{{.gpus = 4}};
  const StarRouter router{star};
  const Result r = testing::run(star, router, testing::data_parallel({.slowest = 1.5})).result;
  EXPECT_EQ(index(r.busiest.rank), 3U);
  EXPECT_EQ(r.busiest.busy, Duration::ms(19.5));
  EXPECT_GE(r.least_busy.part("exposed_dp"), Duration::ms(12));  // 6 ms of late arrival and 6 ms of ring
}

// The reported step is the last one of three; all ends are kept.
TEST(Analyze, TheLastStepIsReported) {
  const Star star{{.gpus = 4}};
  const StarRouter router{star};
  const Result r = testing::run(star, router, testing::data_parallel({.steps = 3})).result;
  ASSERT_EQ(r.step_ends.size(), 3U);
  EXPECT_EQ(r.step_ends.back(), Time::at(Duration::ms(57)));
  EXPECT_EQ(r.step_time, Duration::ms(19));
}

// A pipeline's gaps: 2 stages, 1 micro-batch, F = B = 1 ms, free network. Stage 0 waits 2 ms for stage 1, whose data had not
// begun to move: a bubble. exposed_pp is bubble and wait together.
TEST(Analyze, BubbleAndWaitMakeExposedPp) {
  const Star star{{.gpus = 2, .latency = Duration::us(1)}};
  const StarRouter router{star};
  const Duration ms = Duration::ms(1);
  const Result r =
      testing::run(
          star, router,
          testing::pipeline({.microbatches = 1, .forward = {ms, ms}, .backward = {ms, ms}, .bytes = sim::Bytes{1e3}}))
          .result;
  EXPECT_EQ(r.busiest.exposed_pp, r.busiest.part("bubble") + r.busiest.part("wait"));
  EXPECT_GE(r.busiest.part("bubble"), Duration::ms(2));
  EXPECT_GE(r.busiest.part("wait"), Duration::us(3));  // 1 us of bytes and 2 us of latency, at least once
}

}  // namespace
}  // namespace traingraph::analysis
