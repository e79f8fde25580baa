// `traingraph plan`: what it says in three forms, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/scenarios/cli_process.h"

namespace traingraph::scenarios {
namespace {

using cli_tests::execute;
using cli_tests::Finished;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kExample = TRAINGRAPH_SOURCE_DIR "/scenarios/examples/llama3_8b_fsdp_32_h100.yaml";
const std::vector<std::string> kParts{"plan",       "--model",  "gpt3_xl", "--cluster", "rail_optimized",
                                      "--hardware", "h100_sxm", "--batch", "64"};

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(CliPlan, OneSearchInThreeForms) {
  const std::vector<std::string> words = with(kParts, {"--gpus", "16", "--top", "5"});
  const Finished text = execute(words);
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("5 simulated; "));
  EXPECT_THAT(text.out, HasSubstr("the ZeRO stage does not go with this schedule or model"));
  EXPECT_THAT(text.out, HasSubstr("parts of the bound"));
  const auto json = nlohmann::json::parse(execute(with(words, {"--format", "json"})).out);
  EXPECT_EQ(json.at("schema"), "traingraph/plan/1");
  const auto& simulated = json.at("plans").at(0).at("simulated");
  ASSERT_EQ(simulated.size(), 5U);
  for (const auto& s : simulated) EXPECT_LE(s.at("bound_s").get<double>(), s.at("step_time_s").get<double>());
  EXPECT_GT(json.at("plans").at(0).at("layouts").get<int>(), 1000);
  const Finished csv = execute(with(words, {"--format", "csv"}));
  EXPECT_THAT(csv.out, StartsWith("gpus,step_time_s,bound_s,"));
  EXPECT_THAT(csv.out, HasSubstr("\n16," + simulated.at(0).at("step_time_s").dump() + ","));
}

TEST(CliPlan, KeptDimensionsStay) {
  const Finished done = execute({"plan", kExample, "--keep", "tp,zero_stage,schedule", "--top", "0", "--format", "json"});
  ASSERT_EQ(done.code, 0) << done.err;
  for (const auto& c : nlohmann::json::parse(done.out).at("plans").at(0).at("least_bounds")) {
    EXPECT_EQ(c.at("layout").at("tp"), 1);
    EXPECT_EQ(c.at("layout").at("zero_stage"), 3);
  }
}

// Twice the GPUs, about half the step, and so the whole training in half the time.
TEST(CliPlan, ATrainingIsSeenOverGpus) {
  const Finished done =
      execute(with(kParts, {"--gpus", "8..32", "--top", "0", "--tokens", "1e11", "--deadline", "2d", "--format", "json"}));
  ASSERT_EQ(done.code, 0) << done.err;
  const auto trainings = nlohmann::json::parse(done.out).at("trainings");
  ASSERT_EQ(trainings.size(), 3U);
  const double eight = trainings.at(0).at("train_s"), thirty_two = trainings.at(2).at("train_s");
  EXPECT_GT(eight / thirty_two, 3);
  EXPECT_NEAR(trainings.at(0).at("tokens_in_time").get<double>() / (1e11 * 2 * 86400 / eight), 1, 1e-9);
}

TEST(CliPlan, WhatItCannotDoItSays) {
  EXPECT_THAT(execute({"plan"}).err, HasSubstr("plan: the scenario is missing"));
  EXPECT_THAT(execute({"plan", kExample, "--model", "gpt3_xl"}).err, HasSubstr("give a scenario, or its parts"));
  EXPECT_THAT(execute({"plan", kExample, "--keep", "zero"}).err, HasSubstr("unknown dimension 'zero'"));
  EXPECT_THAT(execute({"plan", kExample, "--gpus", "64..8"}).err, HasSubstr("the smaller first"));
  EXPECT_THAT(execute({"plan", kExample, "--gpus", "12"}).err, HasSubstr("12 GPUs are no whole nodes of 8"));
  EXPECT_THAT(execute({"plan", kExample, "--deadline", "90"}).err, HasSubstr("--deadline: found '90'"));
  const Finished ring = execute({"plan", TRAINGRAPH_SOURCE_DIR "/scenarios/examples/ring_8.yaml"});
  EXPECT_EQ(ring.code, 2);
  EXPECT_THAT(ring.err, HasSubstr("workload.kind transformer"));
}

}  // namespace
}  // namespace traingraph::scenarios
