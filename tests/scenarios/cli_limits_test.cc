// `traingraph limits`: what goes to stdout and into files, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/scenarios/cli_process.h"

namespace traingraph::scenarios {
namespace {

using cli_tests::execute;
using cli_tests::Finished;
using cli_tests::read_file;
using cli_tests::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const std::vector<std::string> kShort{"--set", "scan.points=3", "--set", "scan.limit_from=1e28"};

std::vector<std::string> limits(std::vector<std::string> words) {
  words.insert(words.begin(), "limits");
  words.insert(words.end(), kShort.begin(), kShort.end());
  return words;
}

TEST(CliLimits, TheDefaultIsThePapersH100) {
  const Finished done = execute({"limits"});
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, StartsWith("H100: 989.4 TFLOP/s peak"));
  EXPECT_THAT(done.out, HasSubstr("2.198e28"));
  EXPECT_THAT(done.out, HasSubstr("1.577e31"));
  EXPECT_THAT(done.err, IsEmpty());
}

TEST(CliLimits, AllPresetsStandInOneTable) {
  const Finished done = execute({"limits", "--gpu", "all", "--format", "json", "--set", "scan.points=1"});
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(nlohmann::json::parse(done.out).at("limits").size(), 15U);
}

TEST(CliLimits, TheEndingChoosesTheFormOfTheFile) {
  const TemporaryFolder folder;
  const std::vector<std::pair<std::string, std::string>> forms{{"r.json", "{\n  \"schema\": \"traingraph/limits/1\""},
                                                               {"r.csv", "compute_flop,utilization"},
                                                               {"r.svg", "<svg "},
                                                               {"r.txt", "H100: "},
                                                               {"r.h5", "\x89HDF"}};
  for (const auto& [name, start] : forms) {
    const Finished done = execute(limits({"-o", folder.file(name)}));
    ASSERT_EQ(done.code, 0) << done.err;
    EXPECT_THAT(done.out, StartsWith("H100: "));
    EXPECT_THAT(done.err, HasSubstr("wrote "));
    EXPECT_THAT(read_file(folder.file(name)), StartsWith(start));
    const Finished again = execute(limits({"-q", "-o", folder.file(name)}));
    EXPECT_EQ(again.code, 2);
    EXPECT_THAT(again.err, HasSubstr("--force"));
  }
  EXPECT_THAT(folder.names(), ElementsAre("r.csv", "r.h5", "r.json", "r.svg", "r.txt"));
  EXPECT_EQ(execute(limits({"-o", folder.file("r.png")})).code, 2);
}

TEST(CliLimits, AFileHoldsWhatDiffersFromThePaper) {
  const TemporaryFolder folder;
  const std::string file = folder.write("fast.yaml", "gpu: a100\nbatch_exponent: 0.3\n");
  const Finished done = execute(limits({file, "--format", "json"}));
  ASSERT_EQ(done.code, 0) << done.err;
  const auto entry = nlohmann::json::parse(done.out).at("limits").at(0);
  EXPECT_EQ(entry.at("name"), "A100");
  EXPECT_THAT(entry.at("question").get<std::string>(), HasSubstr("batch_exponent: 0.3 "));
  const std::string wrong = folder.write("wrong.yaml", "gpu: a100\nbatch_exponent: much\n");
  const Finished refused = execute(limits({wrong}));
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, StartsWith(wrong + ":2:17: batch_exponent: expected a"));
}

TEST(CliLimits, TwoSetsOfAssumptionsStandSideBySide) {
  const TemporaryFolder folder;
  const std::string slow = folder.write("slow.yaml", "{}\n");
  const std::string fast = folder.write("fast.yaml", "batch_exponent: 0.3333333333333333\n");
  const Finished done = execute(limits({"--compare", slow, fast}));
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("batch_exponent: 0.3333333333333333"));
  EXPECT_THAT(done.out, HasSubstr("ratio"));
  EXPECT_EQ(execute(limits({"--compare", slow})).code, 2);
  EXPECT_EQ(execute(limits({"--compare", slow, fast, "--gpu", "all"})).code, 2);
}

TEST(CliLimits, SensitivityListsEveryInput) {
  const Finished done = execute(limits({"--sensitivity", "--format", "json"}));
  ASSERT_EQ(done.code, 0) << done.err;
  const auto list = nlohmann::json::parse(done.out).at("limits").at(0).at("sensitivity");
  EXPECT_EQ(list.size(), 25U);  // 9 of the GPU, 5 of its network, 11 of the run
  EXPECT_EQ(execute(limits({"--sensitivity", "--gpu", "all"})).code, 2);
}

TEST(CliLimits, PublishedResultsStandAlone) {
  const Finished done = execute({"limits", "--published", "--format", "csv"});
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, StartsWith("claim,relation,published,here,ratio,source\n"));
  EXPECT_EQ(execute({"limits", "--published", "--gpu", "a100"}).code, 2);
}

TEST(CliLimits, TheReadmeShowsWhatTheCommandPrints) {
  std::string indented = "    $ traingraph limits --published\n";
  std::istringstream out{execute({"limits", "--published"}).out};
  for (std::string line; std::getline(out, line);) indented += "    " + line + "\n";
  EXPECT_THAT(read_file(TRAINGRAPH_SOURCE_DIR "/README.md"), HasSubstr(indented));
}

TEST(CliLimits, HelpListsTheAssumptions) {
  const Finished done = execute({"limits", "--help"});
  EXPECT_EQ(done.code, 0);
  EXPECT_THAT(done.out, HasSubstr("tokens_per_param"));
  EXPECT_THAT(done.out, HasSubstr("kappa, tokens per active parameter D/N [paper]"));
  EXPECT_THAT(done.out, HasSubstr("scan.from"));
}

TEST(CliLimits, AGpuMayBeNamedAsThePaperNamesIt) {
  for (const char* name : {"h100_global_nvlink", "H100-GlobalNVLink"}) {
    const Finished done = execute(limits({"--gpu", name}));
    ASSERT_EQ(done.code, 0) << done.err;
    EXPECT_THAT(done.out, StartsWith("H100-GlobalNVLink: "));
  }
}

TEST(CliLimits, AnUnknownGpuFindsItsNeighbour) {
  const Finished done = execute(limits({"--gpu", "h100_superpd"}));
  EXPECT_EQ(done.code, 2);
  EXPECT_THAT(done.err, HasSubstr("did you mean 'h100_superpod'?"));
}

}  // namespace
}  // namespace traingraph::scenarios
