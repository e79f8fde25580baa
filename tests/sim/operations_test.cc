// Streams, dependencies and compute operations, by hand.
#include <gtest/gtest.h>

#include "sim/error.h"
#include "tests/sim/play.h"
#include "tests/sim/program_builder.h"
#include "tests/sim/table_router.h"

namespace traingraph::sim::tests {
namespace {

Played play_alone(const ProgramBuilder& b) { return play({}, TableRouter{}, b.build()); }

TEST(Operations, AStreamIsInOrder) {
  // 3 us, then 4 us: ends at 3 and 7.
  ProgramBuilder b;
  const RankId r = b.rank(0);
  b.compute(r, 3_us);
  b.compute(r, 4_us);
  const Played p = play_alone(b);
  EXPECT_EQ(p.end(r, 0), 3_us);
  EXPECT_EQ(p.start(r, 1), 3_us);
  EXPECT_EQ(p.end(r, 1), 7_us);
  EXPECT_EQ(p.record.step_time(), 7_us);
  EXPECT_EQ(p.record.counters.operations, 2U);
}

TEST(Operations, StreamsRunBesideEachOther) {
  ProgramBuilder b;
  const RankId r = b.rank(0);
  b.compute(r, 3_us);
  b.compute(r, 5_us, {.stream = 1});
  EXPECT_EQ(play_alone(b).record.step_time(), 5_us);
}

TEST(Operations, ADependencyHoldsAnotherStream) {
  // Stream 1's operation (2 us) waits for the first of two operations of stream 0 (3 us, 10 us), not for the second: 3 .. 5
  // us.
  ProgramBuilder b;
  const RankId r = b.rank(0);
  const Dependency first = b.compute(r, 3_us);
  b.compute(r, 10_us);
  b.compute(r, 2_us, {.stream = 1, .after = {first}});
  const Played p = play_alone(b);
  EXPECT_EQ(p.start(r, 2), 3_us);
  EXPECT_EQ(p.end(r, 2), 5_us);
  EXPECT_EQ(p.record.step_time(), 13_us);
}

TEST(Operations, TheLatestOfSeveralDependenciesDecides) {
  // Three streams of 1, 6 and 4 us are joined by a marker; then 2 us: 6 .. 8 us.
  ProgramBuilder b;
  const RankId r = b.rank(0);
  const Dependency x = b.compute(r, 1_us, {.stream = 1});
  const Dependency y = b.compute(r, 6_us, {.stream = 2});
  const Dependency z = b.compute(r, 4_us, {.stream = 3});
  const Dependency joined = b.marker(r, {.label = "join", .after = {x, y, z}});
  b.compute(r, 2_us, {.after = {joined}});
  const Played p = play_alone(b);
  EXPECT_EQ(p.start(r, 3), 6_us);
  EXPECT_EQ(p.end(r, 3), 6_us);
  EXPECT_EQ(p.end(r, 4), 8_us);
}

TEST(Operations, ADependencyOnAStreamThatIsFurtherHoldsNothing) {
  ProgramBuilder b;
  const RankId r = b.rank(0);
  const Dependency first = b.compute(r, 1_us, {.stream = 1});
  b.compute(r, 1_us, {.stream = 1});
  b.compute(r, 5_us);
  b.compute(r, 1_us, {.after = {first}});
  EXPECT_EQ(play_alone(b).record.step_time(), 6_us);
}

TEST(Operations, WhatTakesNoTimeTakesNoTime) {
  // A hundred empty operations in two streams that wait for each other in turn.
  ProgramBuilder b;
  const RankId r = b.rank(0);
  Dependency last = b.compute(r, 1_us);
  for (std::uint32_t i = 1; i <= 100; ++i) last = b.compute(r, Duration{}, {.stream = i % 2, .after = {last}});
  EXPECT_EQ(play_alone(b).record.step_time(), 1_us);
}

TEST(Operations, ASlowGpuScalesItsComputeOperationsOneByOne) {
  // Scale 1.5: 3 ps -> 4.5 -> 5 (to nearest, halves away from zero), three times, joined or not: 15 ps.
  for (const bool watched : {false, true}) {
    ProgramBuilder b;
    const RankId slow = b.rank(0, 1.5);
    for (int i = 0; i < 3; ++i) {
      const Dependency d = b.compute(slow, 3_ps);
      if (watched) b.marker(slow, {.label = "watch", .stream = 1, .after = {d}});
    }
    EXPECT_EQ(play_alone(b).record.step_time(), 15_ps);
  }
}

TEST(Operations, JoinedOrNotTheSpansAreTheSame) {
  // Operations of a run are played inside one event; when something watches each of them they are not. The same spans.
  const auto spans = [](bool watched) {
    ProgramBuilder b;
    const RankId r = b.rank(0);
    for (std::uint32_t i = 1; i <= 5; ++i) {
      const Dependency d = b.compute(r, i * 1_us);
      if (watched) b.marker(r, {.label = "watch", .stream = 1, .after = {d}});
    }
    const Played p = play_alone(b);
    std::vector<std::pair<Time, Time>> out;
    for (const TaskSpan& s : p.tasks)
      if (s.end > s.start) out.emplace_back(s.start, s.end);
    return out;
  };
  EXPECT_EQ(spans(false), spans(true));
  EXPECT_EQ(spans(false).size(), 5U);
}

TEST(Operations, StepsFollowEachOtherPerStream) {
  // Stream 0: 10 us a step. Stream 1: 15 us a step, after stream 0's. So stream 1 is the bottleneck from the first step on:
  // E_1 = 10 + 15, then 15 us each: E_2 = 40, E_3 = 55; stream 0 runs ahead.
  ProgramBuilder b;
  const RankId r = b.rank(0);
  const Dependency d = b.compute(r, 10_us);
  b.compute(r, 15_us, {.stream = 1, .after = {d}});
  b.steps(3);
  const Played p = play_alone(b);
  EXPECT_EQ(p.record.step_ends, (std::vector<Time>{Time::at(25_us), Time::at(40_us), Time::at(55_us)}));
  EXPECT_EQ(p.record.window_begin(), Time::at(40_us));
  EXPECT_EQ(p.record.step_time(), 15_us);
  EXPECT_EQ(p.start(r, 0, 2), 20_us);
  EXPECT_EQ(p.start(r, 1, 2), 40_us);
  EXPECT_EQ(p.record.counters.operations, 6U);
}

TEST(Operations, AnEmptyProgramTakesNoTime) {
  ProgramBuilder b;
  b.rank(0);
  const Played p = play_alone(b);
  EXPECT_EQ(p.record.step_time(), Duration{});
  EXPECT_EQ(p.record.counters.operations, 0U);
}

TEST(Operations, AProgramOfAnotherRankOnlyLeavesIdleTime) {
  ProgramBuilder b;
  b.rank(0);
  b.compute(b.rank(1), 2_us);
  const Played p = play_alone(b);
  EXPECT_EQ(p.record.splits[RankId{0}].by_category[b.category("idle")], 2_us);
}

TEST(Operations, ProgramsThatMakeNoSenseAreRefused) {
  ProgramBuilder b;
  const RankId r = b.rank(0);
  b.compute(r, 1_us);
  Program p = b.build();
  const auto refused = [](const Program& program) { EXPECT_THROW(program.check(), InternalError); };
  EXPECT_NO_THROW(p.check());

  Program q = p;
  q.steps = 0;
  refused(q);
  q = p;
  q.templates[TemplateId{0}].ops[0].argument = 7;
  refused(q);
  q = p;
  q.templates[TemplateId{0}].ops[0].label = 7;
  refused(q);
  q = p;
  q.ranks[r].role = TemplateId{3};
  refused(q);
  q = p;
  q.ranks[r].compute_scale = 0;
  refused(q);
  q = p;
  q.labels[0].category = 23;
  refused(q);
}

TEST(Operations, SlotsMustBelongToTheirRank) {
  // A send on a channel of another rank, a receive at the wrong end, a collective under another member's name.
  ProgramBuilder b;
  const RankId x = b.rank(0), y = b.rank(1);
  const ChannelId c = b.channel(x, y);
  const CommunicatorId world = b.communicator({x, y});
  const std::uint32_t barrier = b.collective("barrier", Bytes{0}, nullptr);
  b.send(x, c, Bytes{1});
  b.receive(y, c);
  b.call(x, world, barrier);
  b.call(y, world, barrier);
  const Program good = b.build();
  EXPECT_NO_THROW(good.check());
  Program bad = good;
  bad.slots[0].target = 9;  // no such channel
  EXPECT_THROW(bad.check(), InternalError);
  bad = good;
  bad.channels[c] = {y, x, 1, {}};  // x sends on y's channel
  EXPECT_THROW(bad.check(), InternalError);
  bad = good;
  bad.slots[1].member = 1;  // x enters as y
  EXPECT_THROW(bad.check(), InternalError);
}

}  // namespace
}  // namespace traingraph::sim::tests
