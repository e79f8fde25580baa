#include "workloads/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "schedule_cases.h"
#include "workload_cases.h"
#include "workloads/pipeline_map.h"

namespace traingraph::workloads {
namespace {

std::string written(ScheduleKind kind, const PipelineShape& shape, std::uint32_t stage) {
  const bool chunked = shape.chunks > 1 || kind == ScheduleKind::zb_v || kind == ScheduleKind::dualpipe;
  std::string s;
  for (const Pass& p : passes_of_stage(kind, shape, stage)) {
    const char letter = p.kind == PassKind::forward ? 'F' : p.kind == PassKind::weight_gradient ? 'W' : 'B';
    s += (s.empty() ? "" : " ") + std::string(1, letter) + std::to_string(p.microbatch);
    if (chunked) s += std::string(1, static_cast<char>('a' + p.chunk));
  }
  return s;
}

// PipeDream-Flush, 3 stages, 4 micro-batches: the stage furthest from the end runs ahead by two.
TEST(Schedule, OneForwardOneBackward) {
  const PipelineShape shape{3, 4, 1};
  EXPECT_EQ(written(ScheduleKind::one_f_one_b, shape, 0), "F0 F1 F2 B0 F3 B1 B2 B3");
  EXPECT_EQ(written(ScheduleKind::one_f_one_b, shape, 1), "F0 F1 B0 F2 B1 F3 B2 B3");
  EXPECT_EQ(written(ScheduleKind::one_f_one_b, shape, 2), "F0 B0 F1 B1 F2 B2 F3 B3");
}

// Fewer micro-batches than stages: all forwards, then all backwards.
TEST(Schedule, OneForwardOneBackwardWithFewMicrobatches) {
  EXPECT_EQ(written(ScheduleKind::one_f_one_b, {4, 2, 1}, 0), "F0 F1 B0 B1");
  EXPECT_EQ(written(ScheduleKind::one_f_one_b, {4, 2, 1}, 3), "F0 B0 F1 B1");
}

TEST(Schedule, GPipeRunsAllForwardsFirst) { EXPECT_EQ(written(ScheduleKind::gpipe, {3, 3, 1}, 1), "F0 F1 F2 B0 B1 B2"); }

// Narayanan et al. 2021, 2 stages, 4 micro-batches, 2 chunks (a, b). Stage 1: warm-up (v-1)P = 2 forwards.
TEST(Schedule, InterleavedTakesMicrobatchesInGroupsOfStages) {
  const PipelineShape shape{2, 4, 2};
  EXPECT_EQ(written(ScheduleKind::one_f_one_b, shape, 1), "F0a F1a F0b B0b F1b B1b F2a B0a F3a B1a F2b B2b F3b B3b B2a B3a");
  EXPECT_EQ(written(ScheduleKind::one_f_one_b, shape, 0), "F0a F1a F0b F1b F2a B0b F3a B1b F2b B0a F3b B1a B2b B3b B2a B3a");
}

TEST(Schedule, InterleavedNeedsAMultipleOfTheStages) {
  EXPECT_EQ(test::error_of([] {
              return passes_of_stage(ScheduleKind::one_f_one_b, {4, 6, 2}, 0);
            }),
            "an interleaved schedule needs a multiple of 4 micro-batches, not 6");
}

// Qi et al. 2023, figure 3 top: 4 stages; weight gradients lag as many micro-batches behind as the stage's number.
TEST(Schedule, ZeroBubbleH1DelaysWeightGradientsByTheStage) {
  const PipelineShape shape{4, 5, 1};
  EXPECT_EQ(written(ScheduleKind::zb_h1, shape, 0), "F0 F1 F2 F3 B0 W0 F4 B1 W1 B2 W2 B3 W3 B4 W4");
  EXPECT_EQ(written(ScheduleKind::zb_h1, shape, 3), "F0 B0 F1 B1 F2 B2 F3 B3 W0 F4 B4 W1 W2 W3 W4");
}

// Two stages in a V: the last stage turns round at once; the first has the loss.
TEST(Schedule, ZeroBubbleV) {
  EXPECT_EQ(written(ScheduleKind::zb_v, {2, 3, 1}, 1),
            "F0a F0b F1a F1b B0b W0b F2a B0a W0a F2b B1b W1b B1a B2b B2a W1a W2b W2a");
  EXPECT_EQ(written(ScheduleKind::zb_v, {2, 3, 1}, 0),
            "F0a F1a F2a F0b B0b W0b F1b B1b W1b B0a W0a F2b B2b W2b B1a W1a B2a W2a");
}

// The published DualPipe code, 2 stages and 4 micro-batches: both stages are in the middle, and mirror each other.
TEST(Schedule, DualPipe) {
  EXPECT_EQ(written(ScheduleKind::dualpipe, {2, 4, 1}, 0), "F0a F2b F1a B2b F3b B0a B3b B1a W1a");
  EXPECT_EQ(written(ScheduleKind::dualpipe, {2, 4, 1}, 1), "F2b F0a F3b B0a F1a B2b B1a B3b W3b");
}

TEST(Schedule, WhatDoesNotExistIsNamed) {
  const auto error = [](ScheduleKind kind, const PipelineShape& shape) {
    return test::error_of([&] { return passes_of_stage(kind, shape, 0); });
  };
  EXPECT_EQ(error(ScheduleKind::zb_h1, {1, 4, 1}), "schedule zb_h1 needs pp above 1");
  EXPECT_EQ(error(ScheduleKind::zb_h1, {2, 4, 2}),
            "schedule zb_h1 takes no virtual_stages: it always has one chunk of each stage");
  EXPECT_EQ(error(ScheduleKind::zb_v, {2, 4, 2}),
            "schedule zb_v takes no virtual_stages: it always has two chunks of each stage");
  EXPECT_EQ(error(ScheduleKind::dualpipe, {3, 8, 1}), "schedule dualpipe needs an even pp, not 3");
  EXPECT_EQ(error(ScheduleKind::dualpipe, {4, 6, 1}),
            "schedule dualpipe needs an even number of micro-batches, at least 8, not 6");
  EXPECT_EQ(error(ScheduleKind::dualpipe, {4, 9, 1}),
            "schedule dualpipe needs an even number of micro-batches, at least 8, not 9");
}

// Each (micro-batch, chunk) goes forward, then back, then its weight gradients follow, each exactly once. In a bidirectional
// pipeline each micro-batch passes one chunk.
TEST(Schedule, EveryPassOnceAndInOrder) {
  for (const test::ScheduleCase& c : test::schedule_cases()) {
    const PipelineMap map{c.kind, c.shape.stages, c.shape.chunks};
    for (std::uint32_t stage = 0; stage < c.shape.stages; ++stage) {
      enum State { untouched, forward, input, done };
      std::vector<State> state(std::size_t{c.shape.microbatches} * map.chunks(), untouched);
      for (const Pass& p : passes_of_stage(c.kind, c.shape, stage)) {
        State& s = state[p.microbatch * map.chunks() + p.chunk];
        const State needed = p.kind == PassKind::forward ? untouched : p.kind == PassKind::weight_gradient ? input : forward;
        ASSERT_EQ(s, needed) << c.name() << " stage " << stage;
        s = p.kind == PassKind::forward ? forward : p.kind == PassKind::input_gradient ? input : done;
      }
      const auto finished = std::count(state.begin(), state.end(), done);
      EXPECT_EQ(finished, c.shape.microbatches * map.chunks() / map.copies()) << c.name();
      EXPECT_EQ(std::count(state.begin(), state.end(), untouched), static_cast<std::ptrdiff_t>(state.size()) - finished);
    }
  }
}

// Passes of all chunks that have gone forward and not back.
std::uint32_t most_forward(ScheduleKind kind, const PipelineShape& shape, std::uint32_t stage) {
  const PipelineMap map{kind, shape.stages, shape.chunks};
  std::uint32_t sum = 0;
  for (const InFlight& chunk : most_in_flight(passes_of_stage(kind, shape, stage), std::vector<double>(map.chunks(), 1),
                                              std::vector<double>(map.chunks(), 0))) {
    sum += chunk.forward;
  }
  return sum;
}

// Activations held, in chunks: GPipe M·v; 1F1B min(M, P - s); interleaved 2(P-1-s) + (v-1)P + 1, on stage 0 Korthikanti's
// P·v(1 + (P-1)/(P·v)); ZB-H1 as 1F1B; ZB-V 2P chunks (P whole stages) on every stage (Qi et al. 2023, table 2 and section
// 6); DualPipe P + 1 (DeepSeek-V3, table 2).
TEST(Schedule, MicrobatchesInFlight) {
  for (const std::uint32_t P : {2U, 4U, 8U}) {
    const std::uint32_t M = 3 * P;
    for (std::uint32_t s = 0; s < P; ++s) {
      EXPECT_EQ(most_forward(ScheduleKind::gpipe, {P, M, 1}, s), M);
      EXPECT_EQ(most_forward(ScheduleKind::one_f_one_b, {P, M, 1}, s), P - s);
      EXPECT_EQ(most_forward(ScheduleKind::one_f_one_b, {P, 1, 1}, s), 1U);
      for (const std::uint32_t v : {2U, 3U}) {
        EXPECT_EQ(most_forward(ScheduleKind::one_f_one_b, {P, M, v}, s), 2 * (P - 1 - s) + (v - 1) * P + 1);
      }
      EXPECT_EQ(most_forward(ScheduleKind::zb_h1, {P, M, 1}, s), P - s);
      EXPECT_EQ(most_forward(ScheduleKind::zb_v, {P, M, 1}, s), 2 * P);
      EXPECT_EQ(most_forward(ScheduleKind::dualpipe, {P, 2 * M, 1}, s), P + 1);
    }
  }
}

// ZB-H1's weight gradients wait on stage s for s micro-batches: (P - s) whole activations and s of what they need.
TEST(Schedule, ZeroBubbleH1HoldsWhatItsWeightGradientsNeed) {
  for (std::uint32_t s = 0; s < 4; ++s) {
    const auto passes = passes_of_stage(ScheduleKind::zb_h1, {4, 12, 1}, s);
    EXPECT_EQ(most_in_flight(passes, {34}, {32})[0], (InFlight{.forward = 4 - s, .weight_gradient = s}));
  }
}

// Chunks of unequal size count by their size: F0a F1a F0b B0b F1b B1b F2a ..., with b three times as large as a, is fullest
// with F0a F1a F0b, with a three times as large at F0a F1a F2a.
TEST(Schedule, ChunksCountByTheirSize) {
  const auto passes = passes_of_stage(ScheduleKind::one_f_one_b, {2, 4, 2}, 1);
  using Held = std::vector<InFlight>;
  EXPECT_EQ(most_in_flight(passes, {1, 3}, {0, 0}), (Held{{.forward = 2}, {.forward = 1}}));
  EXPECT_EQ(most_in_flight(passes, {3, 1}, {0, 0}), (Held{{.forward = 3}, {.forward = 0}}));
}

}  // namespace
}  // namespace traingraph::workloads
