// `traingraph collective` and `traingraph compare` as their users meet them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "scenarios/nccl_log.h"
#include "tests/scenarios/cli_process.h"

namespace traingraph::scenarios {
namespace {

using cli_tests::execute;
using cli_tests::Finished;
using testing::HasSubstr;

const std::string kLogs = std::string{TRAINGRAPH_TEST_DATA} + "/nccl_logs/";

// What it prints is a table of nccl-tests: our own reader of such logs reads it.
TEST(CliCollective, PrintsATableOfNcclTests) {
  const Finished run =
      execute({"collective", "all_reduce", "azure_nd_h100_v5", "--set", "nodes=1", "-b", "1M", "-e", "1G", "-f", "4"});
  ASSERT_EQ(run.code, 0) << run.err;
  const NcclLog log = read_nccl_log("all_reduce.txt", run.out);
  ASSERT_EQ(log.rows.size(), 6U);
  EXPECT_EQ(log.rows.front().bytes, 1048576);
  EXPECT_EQ(log.rows.back().bytes, 1073741824);
  EXPECT_NEAR(log.rows.back().busbw, 460e9, 25e9) << "a DGX H100 with NVLS: 466 GB/s measured at 1 GiB";
  EXPECT_THAT(run.out, HasSubstr("NVLS/Simple"));
}

TEST(CliCollective, ExplainsTheChoiceAndTheLinks) {
  const Finished run =
      execute({"collective", "all_reduce", "azure_nd_h100_v5", "--set", "nodes=2", "-b", "1G", "-e", "1G", "--explain"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("NCCL's cost table"));
  EXPECT_THAT(run.out, HasSubstr("Ring/Simple"));
  EXPECT_THAT(run.out, HasSubstr("fullest links"));
  const Finished json =
      execute({"collective", "alltoall", "mi300x_rail", "--gpus", "0-7,8-15", "-b", "1M", "-e", "1M", "--format", "json"});
  ASSERT_EQ(json.code, 0) << json.err;
  EXPECT_EQ(nlohmann::json::parse(json.out).at("ranks"), 16);
}

TEST(CliCollective, SaysWhatItNeeds) {
  const Finished facts = execute({"collective", "all_reduce", "gcp_a4", "-e", "8"});
  EXPECT_EQ(facts.code, 2);
  EXPECT_THAT(facts.err, HasSubstr("NCCL's own choice needs the channels and graph speeds of the node"));
  EXPECT_THAT(execute({"collective", "allreduce", "gcp_a4"}).err, HasSubstr("did you mean 'all_reduce'?"));
  EXPECT_THAT(execute({"collective", "all_reduce", "gcp_a5"}).err, HasSubstr("did you mean 'gcp_a4'?"));
  EXPECT_THAT(execute({"collective", "all_reduce", "gcp_a4", "-b", "8Q"}).err, HasSubstr("-b: found '8Q', allowed"));
  EXPECT_THAT(execute({"collective", "all_reduce", "gcp_a4", "--gpus", "7-0"}).err, HasSubstr("--gpus: found '7-0'"));
  EXPECT_THAT(execute({"collective", "all_reduce", "gcp_a4", "--algo", "star"}).err,
              HasSubstr("--algo: found 'star', allowed: auto, Tree, Ring, NVLS, NVLSTree, PAT"));
}

TEST(CliCompare, SetsALogBesideThePrediction) {
  const Finished healthy =
      execute({"compare", "azure_nd_h100_v5", kLogs + "nccl_h100_8gpu_all_reduce.txt", "--set", "nodes=1"});
  EXPECT_EQ(healthy.code, 0) << healthy.err;
  EXPECT_THAT(healthy.out, HasSubstr("within the usual spread"));
  const Finished slow = execute(
      {"compare", "polaris", kLogs + "nccl_a100_polaris_2node_8gpu_all_reduce.txt", "--algo", "ring", "--set", "nodes=2"});
  EXPECT_EQ(slow.code, 1) << slow.err;
  EXPECT_THAT(slow.out, HasSubstr("FLAGGED: "));
  const Finished none = execute({"compare", "gcp_a4", kLogs + "README.md"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("README.md:1:1: no row of an nccl-tests table"));
}

}  // namespace
}  // namespace traingraph::scenarios
