// Sweeps: which points a file means, what a row is as a line, and what the journal remembers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "scenarios/diagnostics.h"
#include "scenarios/sweep/sweep.h"
#include "scenarios/sweep/sweep_journal.h"
#include "scenarios/sweep/sweep_table.h"
#include "tests/scenarios/cli_process.h"

namespace traingraph::scenarios {
namespace {

using cli_tests::read_file;
using cli_tests::TemporaryFolder;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kRing =
    "cluster: {nodes: 1, node: {gpus: 4, nic: {bandwidth: 50 GB/s}}, scale_out: {kind: single_switch}}\n"
    "workload: {kind: collective, collective: all_reduce, algorithm: ring, bytes: 4 MB, steps: 1}\n";

struct Folder {
  Folder() { folder.write("ring.yaml", kRing); }
  [[nodiscard]] Sweep load(const std::string& text) const { return load_sweep(folder.write("sweep.yaml", text), {}); }
  [[nodiscard]] std::string fault(const std::string& text) const {
    try {
      static_cast<void>(load(text));
    } catch (const sim::InputError& e) {
      return e.what();
    }
    return "accepted";
  }
  TemporaryFolder folder;
};

TEST(Sweep, TheGridIsEveryCombinationTheLastKeyFastest) {
  const Sweep sweep = Folder{}.load(
      "scenario: ring.yaml\nset: {workload.steps: 2}\n"
      "grid: {workload.bytes: [1 MB, 2 MB], workload.ranks: [2, 3, 4]}\n");
  EXPECT_THAT(sweep.keys, ElementsAre("workload.bytes", "workload.ranks"));
  ASSERT_EQ(sweep.points.size(), 6U);
  EXPECT_THAT(sweep.overrides(0), ElementsAre("workload.steps=2", "workload.bytes=1 MB", "workload.ranks=2"));
  EXPECT_THAT(sweep.points[1].values, ElementsAre("1 MB", "3"));
  EXPECT_THAT(sweep.points[5].values, ElementsAre("2 MB", "4"));
}

TEST(Sweep, EachRowOfTheListMeetsTheWholeGrid) {
  const Sweep sweep = Folder{}.load(
      "scenario: ring.yaml\ngrid: {workload.ranks: [2, 3]}\n"
      "list: [{workload.bytes: 1 MB, name: 'a b'}, {name: c, workload.bytes: 2 MB}]\n");
  EXPECT_THAT(sweep.keys, ElementsAre("workload.ranks", "workload.bytes", "name"));
  ASSERT_EQ(sweep.points.size(), 4U);
  EXPECT_THAT(sweep.points[1].values, ElementsAre("3", "1 MB", "'a b'"));
  EXPECT_THAT(sweep.points[2].values, ElementsAre("2", "2 MB", "c"));
}

TEST(Sweep, ValuesMayBeListsAndMaps) {
  const Sweep sweep = Folder{}.load("scenario: ring.yaml\nlist: [{a: [1, [2, 'x']], b: {c: 1, d: [2]}}]\n");
  EXPECT_THAT(sweep.points[0].values, ElementsAre("[1, [2, 'x']]", "{c: 1, d: [2]}"));
}

TEST(Sweep, FaultsStandAtTheirPlace) {
  const Folder f;
  EXPECT_THAT(f.fault("scenario: ring.yaml\n"), HasSubstr("nothing varies: grid or list is missing"));
  EXPECT_THAT(f.fault("grid: {a: [1]}\n"), HasSubstr("scenario: is missing"));
  EXPECT_THAT(f.fault("scenario: ring.yaml\ngird: {a: [1]}\n"),
              HasSubstr("sweep.yaml:2:1: gird: unknown key; did you mean 'grid'?"));
  EXPECT_THAT(f.fault("scenario: ring.yaml\ngrid: {a: 1}\n"),
              HasSubstr("sweep.yaml:2:11: grid.a: expected a list of values, found '1'"));
  EXPECT_THAT(f.fault("scenario: ring.yaml\ngrid: {a: [1]}\nlist: [{a: 2}]\n"), HasSubstr("list[0].a: varies twice"));
  EXPECT_THAT(f.fault("scenario: ring.yaml\nlist: [{a: 2}, {b: 1}]\n"), HasSubstr("list[1]: 'a' is missing"));
  EXPECT_THAT(f.fault("scenario: nowhere.yaml\ngrid: {a: [1]}\n"), HasSubstr("nowhere.yaml"));
}

TEST(Sweep, ItsDigestTellsSweepsApart) {
  const Folder f;
  const std::string text = "scenario: ring.yaml\ngrid: {workload.ranks: [2, 3]}\n";
  const std::uint64_t digest = f.load(text).digest("1");
  EXPECT_EQ(f.load(text).digest("1"), digest);
  EXPECT_NE(f.load(text).digest("2"), digest);
  EXPECT_NE(f.load("scenario: ring.yaml\ngrid: {workload.ranks: [2, 4]}\n").digest("1"), digest);
}

// A ring of n members on ports of 50 GB/s: 2(n-1)/n · 4 MB.
TEST(Sweep, APointIsRunWithItsValues) {
  const Sweep sweep = Folder{}.load("scenario: ring.yaml\ngrid: {workload.ranks: [2, 4, 5]}\n");
  const SweepRow two = run_point(sweep, 0, nullptr), four = run_point(sweep, 1, nullptr),
                 five = run_point(sweep, 2, nullptr);
  EXPECT_THAT(two.cells, Contains(SweepCell{"step_time_s", true, "0.00008"}));
  EXPECT_THAT(four.cells, Contains(SweepCell{"step_time_s", true, "0.00012"}));
  EXPECT_THAT(five.error, HasSubstr("workload.ranks"));  // there are four GPUs
  EXPECT_TRUE(five.cells.empty());
}

TEST(Sweep, ARowSurvivesItsLine) {
  const SweepRow row{3, "", {{"a", true, "1e-05"}, {"b", false, "x \"y\"\n,z"}}};
  EXPECT_EQ(row_of(to_line(row), 4), row);
  EXPECT_EQ(row_of(to_line(row), 3), std::nullopt);
  EXPECT_EQ(row_of(to_line(row).substr(0, 20), 4), std::nullopt);
  EXPECT_EQ(to_line(row).find('\n'), std::string::npos);
}

TEST(SweepJournal, RemembersWholeLinesOnly) {
  const TemporaryFolder folder;
  const std::string file = folder.file("j");
  const SweepRow one{1, "", {{"a", true, "1"}}}, two{0, "broken", {}};
  {
    SweepJournal journal{file, 7, 3, false};
    journal.append(one);
    journal.append(two);
    EXPECT_THROW((SweepJournal{file, 7, 3, false}), std::system_error);  // it is locked
  }
  const std::string whole = read_file(file);
  std::ofstream{file, std::ios::app} << to_line({2, "", {}}).substr(0, 15);
  {
    const SweepJournal journal{file, 7, 3, false};
    EXPECT_THAT(journal.found(), ElementsAre(one, two));
  }
  EXPECT_EQ(read_file(file), whole);  // the half line is gone
  EXPECT_THROW((SweepJournal{file, 8, 3, false}), sim::InputError);
  const SweepJournal anew{file, 8, 3, true};
  EXPECT_TRUE(anew.found().empty());
}

TEST(SweepTable, HasTheColumnsOfAllRows) {
  const Sweep sweep = Folder{}.load("scenario: ring.yaml\ngrid: {workload.ranks: [2, 3]}\n");
  const std::string csv = to_csv(sweep, {{0, "", {{"x", true, "1"}}}, {1, "a,b", {{"y", false, "z"}}}});
  EXPECT_EQ(csv, "point,workload.ranks,error,x,y\n0,2,,1,\n1,3,\"a,b\",,z\n");
}

}  // namespace
}  // namespace traingraph::scenarios
