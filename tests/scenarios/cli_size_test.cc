// What `check` says that a run will need, against what the run then needs.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/scenarios/cli_process.h"

namespace traingraph::scenarios {
namespace {

using cli_tests::execute;
using cli_tests::Finished;

double number(const std::vector<std::string>& words, const char* pointer) {
  const Finished done = execute(words);
  EXPECT_EQ(done.code, 0) << done.err;
  if (done.code != 0) return 0;
  return nlohmann::json::parse(done.out).at(nlohmann::json::json_pointer{pointer}).get<double>();
}

#if !defined(__SANITIZE_ADDRESS__)
// Small and large, with and without a pipeline, and a program whose templates alone are 10 MB.
TEST(CliSize, TheMemoryIsRightToAFactorOfOneAndAHalf) {
  struct Case {
    const char* example;
    std::vector<std::string> overrides;
  };
  const std::vector<Case> cases{
      {"ring_8", {}},
      {"custom_graph_5", {}},
      {"linear_blocks_two_level", {}},
      {"gpt3_175b_1024_a100", {"workload.steps=1", "workload.global_batch=256"}},
      {"llama3_405b_2048_h100", {"workload.steps=1", "workload.global_batch=128"}},
      {"ring_8",
       {"cluster={nodes: 1024, node: {gpus: 1, nic: {bandwidth: 400 Gb/s, latency: 1 us}}, scale_out: {kind: "
        "single_switch}}",
        "workload.bytes=1 MiB"}},
  };
  const std::filesystem::path examples = std::filesystem::path{TRAINGRAPH_SOURCE_DIR} / "scenarios" / "examples";
  for (const Case& c : cases) {
    std::vector<std::string> tail{(examples / c.example).string() + ".yaml", "--format", "json"};
    for (const std::string& o : c.overrides) tail.insert(tail.end(), {"--set", o});
    std::vector<std::string> check{"check"}, run{"run", "--stats"};
    check.insert(check.end(), tail.begin(), tail.end());
    run.insert(run.end(), tail.begin(), tail.end());
    const double estimated = number(check, "/memory_bytes");
    const double measured = number(run, "/engine/peak_rss_bytes");
    EXPECT_LT(estimated, 1.5 * measured) << c.example;
    EXPECT_GT(estimated, measured / 1.5) << c.example;
  }
}
#endif

}  // namespace
}  // namespace traingraph::scenarios
