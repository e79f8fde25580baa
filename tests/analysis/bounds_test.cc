// Lower bounds: their values by hand, and that no simulation beats them.
#include "analysis/bounds.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "tests/analysis/support.h"

namespace traingraph::analysis {
namespace {

using sim::Duration;
using testing::Star;
using testing::StarRouter;
using workloads::Algorithm;
using workloads::CollectiveKind;

std::vector<Bound> bounds_of(const Star& star, const workloads::Workload& workload) {
  const StarRouter router{star};
  return lower_bounds({.fabric = star.fabric, .router = router, .workload = workload, .step_ends = {}});
}

const Bound& find(const std::vector<Bound>& bounds, const std::string& name, const std::string& holds_for = "") {
  const auto at = std::find_if(bounds.begin(), bounds.end(), [&](const Bound& b) {
    return b.name == name && (holds_for.empty() || b.holds_for == holds_for);
  });
  if (at == bounds.end()) throw std::runtime_error{"no bound " + name + " " + holds_for};
  return *at;
}

bool has(const std::vector<Bound>& bounds, const std::string& name, const std::string& holds_for = "") {
  return std::any_of(bounds.begin(), bounds.end(),
                     [&](const Bound& b) { return b.name == name && (holds_for.empty() || b.holds_for == holds_for); });
}

// The last GPU takes 1.5 times as long: 15 ms of arithmetic, 4.5 ms of memory-bound kernels.
TEST(Bounds, ArithmeticAndMemoryAreThoseOfTheBusiestGpu) {
  const Star star{{.gpus = 4}};
  const auto bounds = bounds_of(star, testing::data_parallel({.slowest = 1.5}));
  EXPECT_EQ(find(bounds, "arithmetic").value, Duration::ms(15));
  EXPECT_EQ(find(bounds, "arithmetic").subject, "node3.gpu0");
  EXPECT_EQ(find(bounds, "memory").value, Duration::ms(4.5));
}

// A ring all-reduce of 4 MB among 4 puts 6 MB on every 1 GB/s port; any algorithm must move 4 MB in and out of every GPU,
// and 4 MB over the bisection of 2 GB/s, over which the ring moves 6 MB one way.
TEST(Bounds, ARingAllReduceOnAStar) {
  const Star star{{.gpus = 4}};
  const auto bounds = bounds_of(star, testing::collective_workload(4, {}));
  EXPECT_EQ(find(bounds, "link").value, Duration::ms(6));
  EXPECT_EQ(find(bounds, "switch").value, Duration::ms(6));
  EXPECT_EQ(find(bounds, "cut node", "any routing").value, Duration::ms(6));
  EXPECT_EQ(find(bounds, "cut node", "any algorithm").value, Duration::ms(4));
  EXPECT_EQ(find(bounds, "cut bisection", "any routing").value, Duration::ms(3));
  EXPECT_EQ(find(bounds, "cut bisection", "any algorithm").value, Duration::ms(2));
}

// What any algorithm must move over the boundary of one GPU of 4 (m = 1) with 1 GB/s each way, S = 4 MB.
TEST(Bounds, WhatAnyAlgorithmMovesOverACut) {
  const Star star{{.gpus = 4}};
  const auto node = [&](CollectiveKind kind, Algorithm algorithm) {
    return find(bounds_of(star, testing::collective_workload(4, {.kind = kind, .algorithm = algorithm})), "cut node",
                "any algorithm")
        .value;
  };
  EXPECT_EQ(node(CollectiveKind::all_reduce, Algorithm::in_switch), Duration::ms(4));
  EXPECT_EQ(node(CollectiveKind::reduce_scatter, Algorithm::ring), Duration::ms(3));
  EXPECT_EQ(node(CollectiveKind::all_gather, Algorithm::ring), Duration::ms(3));
  EXPECT_EQ(node(CollectiveKind::all_to_all, Algorithm::direct), Duration::ms(3));
}

// Two of four GPUs inside (m = 2): 2 x 2 / 4 x 4 MB of an all-to-all over 2 GB/s.
TEST(Bounds, AnAllToAllCrossesTheBisection) {
  const Star star{{.gpus = 4}};
  const auto bounds =
      bounds_of(star, testing::collective_workload(4, {.kind = CollectiveKind::all_to_all, .algorithm = Algorithm::direct}));
  EXPECT_EQ(find(bounds, "cut bisection", "any algorithm").value, Duration::ms(2));
  EXPECT_EQ(find(bounds, "cut bisection", "any routing").value, Duration::ms(2));
}

// In-switch reduction carries S once each way over every port: it attains the bound that holds for any algorithm.
TEST(Bounds, InSwitchReductionAttainsTheBoundOfAnyAlgorithm) {
  const Star star{{.gpus = 4}};
  const StarRouter router{star};
  const auto run =
      testing::run(star, router,
                   testing::collective_workload(4, {.kind = CollectiveKind::all_reduce, .algorithm = Algorithm::in_switch}));
  EXPECT_EQ(run.result.step_time, Duration::ms(4));
  EXPECT_EQ(find(run.result.bounds, "cut node", "any algorithm").value, Duration::ms(4));
}

// A link that will carry 2 GB/s during the run is counted with 2 GB/s, or the bound would be too high.
TEST(Bounds, TheLargestCapacityOfALinkCounts) {
  const Star star{{.gpus = 2}};
  auto w = testing::collective_workload(2, {});  // 4 MB each way over all four links
  for (std::uint32_t l = 0; l < 4; ++l) {
    w.program.link_changes.push_back({sim::Time::zero(), sim::LinkId{l}, sim::Bandwidth::bytes_per_s(2e9)});
  }
  const auto bounds = bounds_of(star, w);
  EXPECT_EQ(find(bounds, "link").value, Duration::ms(2));
  const StarRouter router{star};
  for (const Bound& b : testing::run(star, router, w).result.bounds) EXPECT_TRUE(b.holds()) << b.name;
}

// Bytes over a link that is down for ever: no finite time.
TEST(Bounds, BytesOverADeadLinkHaveNoFiniteTime) {
  Star star{{.gpus = 2}};
  star.fabric.links[sim::LinkId{0}].capacity = {};
  EXPECT_EQ(find(bounds_of(star, testing::collective_workload(2, {})), "link").value, Duration::max());
}

// Equal stages: (M + P - 1)(F + B) for both schedules; the simulation attains it when messages are free.
TEST(Bounds, APipelineOfEqualStagesAttainsItsBound) {
  const Star star{{.gpus = 4}};
  const StarRouter router{star};
  const std::vector<Duration> f(4, Duration::ms(1)), b(4, Duration::ms(2));
  for (const char* schedule : {"1f1b", "gpipe"}) {
    const auto run = testing::run(star, router,
                                  testing::pipeline({.schedule = schedule, .microbatches = 6, .forward = f, .backward = b}));
    const Bound& bound = find(run.result.bounds, "pipeline");
    EXPECT_EQ(bound.value, Duration::ms((6 + 3) * 3)) << schedule;
    EXPECT_EQ(run.result.step_time, bound.value) << schedule;
    EXPECT_DOUBLE_EQ(run.result.gap, 1.0);
  }
}

// Interleaving by v = 2 halves the fill and drain: M(F+B) + (P-1)(F+B)/2.
TEST(Bounds, InterleavingShortensTheBubble) {
  const Star star{{.gpus = 4}};
  const std::vector<Duration> f(4, Duration::ms(1)), b(4, Duration::ms(2));
  auto w = testing::pipeline({.microbatches = 8, .forward = f, .backward = b});
  w.pipeline.chunks = 2;
  w.pipeline.first_chunk.assign(4, Duration::ms(1.5));
  EXPECT_EQ(find(bounds_of(star, w), "pipeline").value, Duration::ms(8 * 3 + 3 * 1.5));
}

// Equal chunks: the interleaved schedule itself, 8 (F+B) + 3 (F+B)/2 as above; with deferred weight gradients W = 1 beside a
// hand-off after B = 1 the first stage works M (F+B+W) without a pause once it has its gradients, and the last stage's first
// gradient needs 3 x F/2 to come and 3 x B/2 to go back through either chunk.
TEST(Bounds, EqualChunksAndDeferredWeightGradientsArePlayed) {
  const Star star{{.gpus = 4}};
  const std::vector<Duration> f(4, Duration::ms(1)), b(4, Duration::ms(2)), one(4, Duration::ms(1));
  auto w = testing::pipeline({.microbatches = 8, .forward = f, .backward = b});
  w.pipeline.chunks = 2;
  w.pipeline.equal_chunks = true;
  EXPECT_EQ(find(bounds_of(star, w), "pipeline").value, Duration::ms(8 * 3 + 3 * 1.5));
  w.pipeline.chunks = 1;
  w.pipeline.backward = one;
  w.pipeline.after_hand_off = one;
  // M (F+B+W) and a fill and drain of (P-1)(F+B): the weight gradients of the last stages are behind their hand-offs.
  EXPECT_EQ(find(bounds_of(star, w), "pipeline").value, Duration::ms(8 * 3 + 3 * 2));
}

// Two slow stages that follow each other: stage 1 (F 1, B 1) starts after stage 0 and is fed by it. By hand, M = 2, 1f1b,
// stages of F+B = 2+2 and 3+3: stage 0 forwards at 0-2, 2-4; stage 1 forward 2-5, backward 5-8, forward 8-11, backward
// 11-14; stage 0 backward 8-10, 14-16.
TEST(Bounds, UnevenStagesArePlayed) {
  const Star star{{.gpus = 2}};
  const std::vector<Duration> f{Duration::ms(2), Duration::ms(3)};
  EXPECT_EQ(find(bounds_of(star, testing::pipeline({.microbatches = 2, .forward = f, .backward = f})), "pipeline").value,
            Duration::ms(16));
}

TEST(Bounds, AScheduleWhoseBubbleIsNotKnownHasNoPipelineBound) {
  const Star star{{.gpus = 2}};
  auto w =
      testing::pipeline({.forward = {Duration::ms(1), Duration::ms(1)}, .backward = {Duration::ms(1), Duration::ms(1)}});
  ASSERT_TRUE(has(bounds_of(star, w), "pipeline"));
  w.pipeline.schedule = "zb_v";
  EXPECT_FALSE(has(bounds_of(star, w), "pipeline"));
}

// The longest chain of a ring all-reduce is its closed form, 2(N-1)(L + S/(N B)); here it is also the simulated time.
TEST(Bounds, TheChainOfARingIsItsClosedForm) {
  const Star star{{.gpus = 4, .latency = Duration::us(1)}};
  const StarRouter router{star, Duration::us(3)};
  const auto run = testing::run(star, router, testing::collective_workload(4, {}));
  const Bound& chain = find(run.result.bounds, "chain");
  EXPECT_NEAR(chain.value.in_seconds(), 6 * (5e-6 + 1e-3), 1e-11);
  EXPECT_TRUE(chain.holds());
  EXPECT_TRUE(chain.binds);
  EXPECT_NEAR(run.result.gap, 1.0, 1e-9);
}

// Two all-to-alls' worth of contention is in no chain: 8 GPUs send to one, alone each would take 1 ms, together 7 ms.
TEST(Bounds, TheChainKnowsNoContention) {
  const Star star{{.gpus = 8}};
  const StarRouter router{star};
  const auto run =
      testing::run(star, router,
                   testing::collective_workload(
                       8, {.kind = CollectiveKind::gather, .algorithm = Algorithm::direct, .bytes = sim::Bytes{8e6}}));
  EXPECT_EQ(find(run.result.bounds, "chain").value, Duration::ms(1));
  EXPECT_EQ(find(run.result.bounds, "link").value, Duration::ms(7));
  EXPECT_EQ(run.result.step_time, Duration::ms(7));
  EXPECT_EQ(run.result.lower_bound, Duration::ms(7));
}

// Windows: of three steps, whole-step bounds speak of the first, per-step ones of each, and a second chain of the steady
// one.
TEST(Bounds, EachBoundIsComparedWithItsWindow) {
  const Star star{{.gpus = 4}};
  const StarRouter router{star};
  const auto run = testing::run(star, router, testing::data_parallel({.steps = 3}));
  std::vector<BoundWindow> chains;
  for (const Bound& b : run.result.bounds) {
    EXPECT_TRUE(b.holds()) << b.name << " " << b.subject;
    if (b.name == "chain") chains.push_back(b.window);
    EXPECT_FALSE(b.binds && b.window == BoundWindow::first_step);
    EXPECT_EQ(b.simulated, Duration::ms(19)) << b.name;
  }
  EXPECT_EQ(chains, (std::vector{BoundWindow::first_step, BoundWindow::steady_step}));
  EXPECT_EQ(run.result.lower_bound, Duration::ms(19));  // the chain: nothing is shared here
}

TEST(Bounds, ABoundAboveTheSimulatedTimeIsBroken) {
  Bound b;
  b.value = Duration::ms(2);
  b.simulated = Duration::ms(1);
  EXPECT_FALSE(b.holds());
  b.simulated = Duration::ms(2);
  EXPECT_TRUE(b.holds());
}

/// A duration of 0.1 to 5 ms.
rc::Gen<Duration> some_ms() {
  return rc::gen::map(rc::gen::inRange(100, 5000), [](int us) { return Duration::us(us); });
}

void expect_all_hold(const std::vector<Bound>& bounds) {
  for (const Bound& b : bounds) {
    RC_LOG() << b.number << " " << b.name << " (" << b.subject << "): " << b.value.in_seconds() << " s against "
             << b.simulated.in_seconds() << " s\n";
    RC_ASSERT(b.holds());
  }
}

// No pipeline, whatever its stages and messages, beats a bound.
RC_GTEST_PROP(BoundsProperty, NoPipelineBeatsABound, ()) {
  const auto stages = *rc::gen::inRange<std::uint32_t>(2, 7);
  const Star star{{.gpus = stages, .latency = *some_ms()}};
  const StarRouter router{star};
  const auto w = testing::pipeline({.schedule = *rc::gen::element<std::string>("1f1b", "gpipe"),
                                    .microbatches = *rc::gen::inRange<std::uint32_t>(1, 9),
                                    .steps = *rc::gen::inRange<std::uint32_t>(1, 4),
                                    .forward = *rc::gen::container<std::vector<Duration>>(stages, some_ms()),
                                    .backward = *rc::gen::container<std::vector<Duration>>(stages, some_ms()),
                                    .bytes = sim::Bytes{static_cast<double>(*rc::gen::inRange(0, 5'000'000))}});
  const auto r = testing::run(star, router, w).result;
  RC_ASSERT(has(r.bounds, "pipeline"));
  expect_all_hold(r.bounds);
}

// No collective on any star beats a bound, by any algorithm, played in steps or as the engine chooses.
RC_GTEST_PROP(BoundsProperty, NoCollectiveBeatsABound, ()) {
  const auto kinds = workloads::all_collective_kinds();
  const CollectiveKind kind = kinds[*rc::gen::inRange<std::size_t>(0, kinds.size())];
  RC_PRE(kind != CollectiveKind::all_to_all_v);
  const auto algorithms = workloads::algorithms_of(kind);
  testing::CollectiveProgram call{.kind = kind,
                                  .algorithm = algorithms[*rc::gen::inRange<std::size_t>(0, algorithms.size())]};
  call.bytes = sim::Bytes{static_cast<double>(*rc::gen::inRange(1, 50'000'000))};
  call.calls = *rc::gen::inRange<std::uint32_t>(1, 4);
  call.options.domain_size = 2;
  const std::uint32_t gpus = 1U << *rc::gen::inRange(1, 4);
  const Star star{{.gpus = gpus, .latency = Duration::us(*rc::gen::inRange(0, 1000))}};
  const StarRouter router{star};
  sim::RunOptions options;
  options.collectives = *rc::gen::element(sim::CollectiveMode::step, sim::CollectiveMode::automatic);
  expect_all_hold(testing::run(star, router, testing::collective_workload(gpus, call), options).result.bounds);
}

// No data-parallel run with a straggler beats a bound; nor does the sum over its steps.
RC_GTEST_PROP(BoundsProperty, NoDataParallelRunBeatsABound, ()) {
  testing::DataParallel what;
  what.gpus = *rc::gen::inRange<std::uint32_t>(2, 9);
  what.steps = *rc::gen::inRange<std::uint32_t>(1, 5);
  what.compute = *some_ms();
  what.memory_bound = *some_ms();
  what.optimizer = *some_ms();
  what.gradients = sim::Bytes{static_cast<double>(*rc::gen::inRange(1, 20'000'000))};
  what.slowest = 1.0 + 0.01 * *rc::gen::inRange(0, 200);
  const Star star{{.gpus = what.gpus, .latency = *some_ms()}};
  const StarRouter router{star};
  expect_all_hold(testing::run(star, router, testing::data_parallel(what)).result.bounds);
}

}  // namespace
}  // namespace traingraph::analysis
