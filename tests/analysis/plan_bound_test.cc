// The planner's bound of a layout is below what the simulation of that layout takes, on random scenarios of every kind.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analysis/plan/step_bound.h"
#include "tests/analysis/plan_cases.h"

namespace traingraph::analysis::plan {
namespace {

using sim::tests::Dice;
using testing::play;
using testing::Played;
using testing::problem_of;
using testing::random_layout;
using testing::random_scenario;

TEST(PlanBound, NoSimulatedStepIsFasterAndNoneNeedsLessMemory) {
  const std::uint64_t first = sim::tests::number_from_environment("TRAINGRAPH_SEED", 1);
  const std::uint64_t cases = sim::tests::number_from_environment("TRAINGRAPH_CASES", 80);
  std::uint64_t played = 0, exact_memory = 0, tight = 0;
  for (std::uint64_t seed = first; played < cases; ++seed) {
    Dice dice{seed};
    const scenarios::Scenario scenario = random_scenario(dice);
    const PlanLayout layout = random_layout(dice, scenario);
    const std::optional<Played> truth = play(scenario, layout);
    if (!truth) continue;
    ++played;
    StepBound bound{problem_of(scenario)};
    bound.prepare(layout);
    const double seconds = bound.seconds(layout);
    const double memory = bound.memory(layout);
    ASSERT_LE(seconds, truth->seconds) << "seed " << seed << ": " << to_string(layout);
    ASSERT_LE(memory, truth->memory * (1 + 1e-12)) << "seed " << seed << ": " << to_string(layout);
    if (memory > truth->memory * (1 - 1e-9)) ++exact_memory;
    if (seconds > 0.9 * truth->seconds) ++tight;
    if (std::getenv("TRAINGRAPH_PRINT") != nullptr) {
      fmt::print("{:6} {:.4f} {:.4f} {}\n", seed, seconds / truth->seconds, memory / truth->memory, to_string(layout));
    }
  }
  RecordProperty("seeds", fmt::format("{} and the following", first));
  fmt::print("{} layouts from seed {} on: memory exact for {}, bound within 10 % for {}\n", played, first, exact_memory,
             tight);
  EXPECT_GT(2 * exact_memory, played);
  EXPECT_GT(3 * tight, played);
}

}  // namespace
}  // namespace traingraph::analysis::plan
