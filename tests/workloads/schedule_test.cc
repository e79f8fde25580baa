#include "workloads/schedule.h"

#include <gtest/gtest.h>

#include <string>

#include "workload_cases.h"

namespace traingraph::workloads {
namespace {

std::string written(ScheduleKind kind, const PipelineShape& shape, std::uint32_t stage) {
  std::string s;
  for (const Pass& p : passes_of_stage(kind, shape, stage)) {
    s += (s.empty() ? "" : " ") + std::string(p.forward ? "F" : "B") + std::to_string(p.microbatch);
    if (shape.chunks > 1) s += std::string(1, static_cast<char>('a' + p.chunk));
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

// Each micro-batch goes forward and backward once through each chunk, forward first; what is in flight never exceeds the
// stated number, min(M, P - stage) for 1F1B, and reaches it.
TEST(Schedule, EveryPassOnceAndNoMoreInFlightThanStated) {
  for (const ScheduleKind kind : {ScheduleKind::one_f_one_b, ScheduleKind::gpipe}) {
    for (const PipelineShape shape : {PipelineShape{1, 5, 1}, {4, 2, 1}, {4, 9, 1}, {8, 8, 1}, {4, 8, 3}, {4, 4, 2}}) {
      for (std::uint32_t stage = 0; stage < shape.stages; ++stage) {
        std::vector<int> state(shape.microbatches * shape.chunks, 0);
        std::uint32_t in_flight = 0;
        std::uint32_t most = 0;
        for (const Pass& p : passes_of_stage(kind, shape, stage)) {
          int& s = state[p.microbatch * shape.chunks + p.chunk];
          EXPECT_EQ(s, p.forward ? 0 : 1);
          ++s;
          p.forward ? ++in_flight : --in_flight;
          most = std::max(most, in_flight);
        }
        for (const int s : state) EXPECT_EQ(s, 2);
        EXPECT_EQ(most, passes_in_flight(kind, shape, stage));
        if (kind == ScheduleKind::one_f_one_b && shape.chunks == 1) {
          EXPECT_EQ(most, std::min(shape.microbatches, shape.stages - stage));
        }
      }
    }
  }
}

}  // namespace
}  // namespace traingraph::workloads
