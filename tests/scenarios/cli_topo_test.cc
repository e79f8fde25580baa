// `topo list` and `topo show` as their users meet them; counts are those that the clusters' makers publish.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

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

TEST(CliTopo, ListNamesEveryPresetAndItsSize) {
  const Finished list = execute({"topo", "list", "--format", "json"});
  ASSERT_EQ(list.code, 0) << list.err;
  const auto json = nlohmann::json::parse(list.out);
  EXPECT_EQ(json.at("schema"), "traingraph/topo-list/1");
  bool found = false;
  for (const auto& preset : json.at("presets")) {
    if (preset.at("name") != "dgx_h100_superpod") continue;
    found = true;
    EXPECT_EQ(preset.at("gpus"), 1016);  // NVIDIA DGX SuperPOD reference architecture, H100: 4 SUs, 127 nodes
  }
  EXPECT_TRUE(found);
  EXPECT_THAT(execute({"topo", "list"}).out, HasSubstr("dgx_h100_superpod"));
}

// NVIDIA DGX SuperPOD reference architecture, H100, 4 scalable units: 127 nodes, 32 leaves, 16 spines, 1,024 leaf-spine
// cables.
TEST(CliTopo, ShowCountsAPreset) {
  const Finished shown = execute({"topo", "show", "dgx_h100_superpod"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("1016 GPUs, 127 nodes"));
  EXPECT_THAT(shown.out, testing::ContainsRegex("leaf +32\n"));
  EXPECT_THAT(shown.out, testing::ContainsRegex("spine +16\n"));
  EXPECT_THAT(shown.out, testing::ContainsRegex("leaf - spine +1024 x"));
  EXPECT_THAT(shown.out, HasSubstr("bisection"));
  EXPECT_THAT(shown.out, HasSubstr("oversubscription"));
  EXPECT_THAT(shown.out, HasSubstr("diameter"));
}

TEST(CliTopo, AnOverrideMayBeNamedAsInThePresetOrInAScenario) {
  for (const char* set : {"nodes=4", "cluster.nodes=4"}) {
    const Finished shown = execute({"topo", "show", "fat_tree", "--set", set, "--format", "json"});
    ASSERT_EQ(shown.code, 0) << shown.err;
    EXPECT_EQ(nlohmann::json::parse(shown.out).at("nodes"), 4);
  }
}

TEST(CliTopo, DrawingsGoToStdoutOrWholeIntoAFile) {
  const TemporaryFolder folder;
  const std::string file = folder.file("x.svg");
  ASSERT_EQ(execute({"topo", "show", "fat_tree", "-o", file}).code, 0);
  EXPECT_THAT(folder.names(), ElementsAre("x.svg"));
  EXPECT_THAT(read_file(file), HasSubstr("<svg"));
  EXPECT_EQ(read_file(file), execute({"topo", "show", "fat_tree", "--format", "svg"}).out);
  EXPECT_THAT(execute({"topo", "show", "fat_tree", "--format", "dot"}).out, HasSubstr("graph"));
  const Finished again = execute({"topo", "show", "fat_tree", "-o", file});
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.err, HasSubstr("--force"));
  EXPECT_EQ(execute({"topo", "show", "fat_tree", "-o", file, "--force"}).code, 0);
}

TEST(CliTopo, AnUnknownPresetFindsItsNeighbourAndLeavesNothing) {
  const TemporaryFolder folder;
  const Finished unknown = execute({"topo", "show", "dgx_h100_superpd", "-o", folder.file("x.dot")});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err,
              StartsWith("traingraph: topo show: no cluster preset 'dgx_h100_superpd'; did you mean 'dgx_h100_superpod'?"));
  EXPECT_THAT(folder.names(), IsEmpty());
  EXPECT_EQ(execute({"topo", "show", folder.file("none.yaml")}).code, 2);
}

}  // namespace
}  // namespace traingraph::scenarios
