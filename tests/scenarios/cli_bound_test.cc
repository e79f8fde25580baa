// `traingraph bound`: lower bounds and the step model of a scenario, in three forms.
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

const std::string kExample = TRAINGRAPH_SOURCE_DIR "/scenarios/examples/linear_blocks_two_level.yaml";

TEST(CliBound, NamesWhatBindsAndHowFarTheNextIs) {
  const Finished done = execute({"bound", kExample});
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("\n* chain"));
  EXPECT_THAT(done.out, HasSubstr("x, then arithmetic\n"));
  EXPECT_THAT(done.out, HasSubstr("\n* products"));
}

TEST(CliBound, AllFormsSayTheSame) {
  const Finished done = execute({"bound", kExample, "--format", "json"});
  ASSERT_EQ(done.code, 0) << done.err;
  const auto json = nlohmann::json::parse(done.out);
  EXPECT_EQ(json.at("schema"), "traingraph/bound/1");
  const double value = json.at("bounds").at(0).at("value_s");
  const Finished csv = execute({"bound", kExample, "--format", "csv"});
  EXPECT_THAT(csv.out, StartsWith("of,name,subject,holds_for,value_s,"));
  EXPECT_THAT(csv.out, HasSubstr("lower bound,chain,one step to the next,this program on any load," +
                                 nlohmann::json(value).dump() + ",true,"));
}

TEST(CliBound, OverridesCount) {
  const Finished done = execute({"bound", kExample, "--set", "workload.batch_tokens=2097152", "--format", "json"});
  ASSERT_EQ(done.code, 0) << done.err;
  const auto twice = nlohmann::json::parse(done.out).at("step_model").at("step_time_s").get<double>();
  const auto once = nlohmann::json::parse(execute({"bound", kExample, "--format", "json"}).out)
                        .at("step_model")
                        .at("step_time_s")
                        .get<double>();
  EXPECT_GT(twice, 1.8 * once);
}

TEST(CliBound, WithoutAScenarioItSaysSo) {
  const Finished done = execute({"bound"});
  EXPECT_EQ(done.code, 2);
  EXPECT_THAT(done.err, HasSubstr("bound: the scenario is missing"));
}

}  // namespace
}  // namespace traingraph::scenarios
