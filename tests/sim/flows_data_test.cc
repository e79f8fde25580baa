// Every flow of tests/data/flows, played through the ordinary path of a program, against the completion times of an
// independent max-min solver. One rank per flow: a compute operation until the flow's start, then one send over a path of
// its own.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/sim/flow_file.h"
#include "tests/sim/flow_program.h"
#include "tests/sim/play.h"
#include "tests/sim/property.h"

namespace traingraph::sim::tests {
namespace {

struct FlowRun {
  std::vector<Duration> ends;  ///< when each flow's last byte left the wire
  Counters counters;
};

FlowRun run_of(const FlowFile& file) {
  const FlowProgram flows{file};
  RunOptions options;
  options.critical_path = false;
  const Played played = play(flows.links(), flows.router(), flows.program(), options);
  for (const LinkRecord& link : played.record.links) EXPECT_LE(link.peak_utilization, 1 + 1e-12);

  FlowRun run{std::vector<Duration>(file.flows.size(), Duration::max()), played.record.counters};
  for (const TaskSpan& span : played.tasks) {
    if (index(span.rank) == 0 || span.op != flows.send_op(index(span.rank) - 1)) continue;
    run.ends[index(span.rank) - 1] = span.end.since_start();
  }
  return run;
}

/// 1e-9 relative, or 50 ps: max-min amplifies the rounding of instants over a flow's life.
bool agrees(double seconds, double expected) { return std::abs(seconds - expected) <= std::max(50e-12, 1e-9 * expected); }

std::vector<std::vector<std::string>> read_csv(const std::string& name) {
  std::ifstream in{std::string{TRAINGRAPH_TEST_DATA "/flows/"} + name};
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    rows.emplace_back();
    std::istringstream cells{line};
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(cell);
  }
  return rows;
}

/// Column name -> number, of one input's row.
std::map<std::string, double> expected_row(const std::string& csv, const std::string& input) {
  const auto rows = read_csv(csv);
  for (const auto& row : rows) {
    if (row[0] != input) continue;
    std::map<std::string, double> values;
    for (std::size_t c = 1; c < row.size(); ++c) values[rows[0][c]] = std::stod(row[c]);
    return values;
  }
  throw std::runtime_error{csv + " has no row " + input};
}

struct Case {
  std::string generator;
  std::string csv;
  std::string input;
  bool every_flow = false;  ///< ends/<input>.ends exists
  bool slow = false;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.input; }

const std::vector<Case>& cases() {
  static const std::vector<Case> all{{"generate", "expected.csv", "ring-8"},
                                     {"generate", "expected.csv", "ring-1024"},
                                     {"generate", "expected.csv", "ring-4096"},
                                     {"generate", "expected.csv", "a2a-dmodk-64"},
                                     {"generate", "expected.csv", "a2a-dmodk-512", false, true},
                                     {"generate", "expected.csv", "a2a-over2-ecmp-64"},
                                     {"generate", "expected.csv", "a2a-ecmp-256", false, true},
                                     {"generate", "expected.csv", "a2a-ecmp-512", false, true},
                                     {"generate", "expected.csv", "a2a-over2-ecmp-256", false, true},
                                     {"generate", "expected.csv", "perm-dmodk-4096"},
                                     {"generate", "expected.csv", "perm-ecmp-4096"},
                                     {"generate_mixed", "expected_mixed.csv", "mixed-a2a-64", true},
                                     {"generate_mixed", "expected_mixed.csv", "faults-a2a-64", true},
                                     {"generate_mixed", "expected_mixed.csv", "mixed-perm-4096", true},
                                     {"generate_mixed", "expected_mixed.csv", "spray-perm-512", true},
                                     {"generate_mixed", "expected_mixed.csv", "mixed-a2a-256", false, true}};
  return all;
}

bool slow_suite() { return number_from_environment("TRAINGRAPH_SLOW", 0) != 0; }

/// The inputs are generated once for all tests, into a directory of this process.
class FlowsData : public ::testing::TestWithParam<Case> {
 protected:
  static std::filesystem::path directory() {
    return std::filesystem::temp_directory_path() / fmt::format("traingraph-flows-{}", getpid());
  }
  static void SetUpTestSuite() {
    std::filesystem::create_directory(directory());
    std::map<std::string, std::vector<std::string>> wanted;
    for (const Case& c : cases())
      if (!c.slow || slow_suite()) wanted[c.generator].push_back(c.input);
    for (const auto& [generator, inputs] : wanted) generate_flow_files(generator, inputs, directory());
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(directory()); }
};

TEST_P(FlowsData, EveryFlowEndsWhenTheIndependentSolverSays) {
  const Case& c = GetParam();
  if (c.slow && !slow_suite()) GTEST_SKIP() << "set TRAINGRAPH_SLOW=1";
  const FlowFile file = read_flow_file(directory() / (c.input + ".txt"));
  const auto [ends, counters] = run_of(file);
  // The solver recomputes little more than what changes, in every input, and each flow has few events.
  EXPECT_LE(counters.transfers_touched, counters.transfers_changed * 13 / 10 + 8);
  EXPECT_LE(counters.events, 5 * ends.size() + file.changes.size());
  EXPECT_EQ(counters.transfers, ends.size());

  if (c.every_flow) {
    std::ifstream in{TRAINGRAPH_TEST_DATA "/flows/ends/" + c.input + ".ends"};
    double worst = 0;
    std::size_t checked = 0;
    for (double expected; in >> expected; ++checked) {
      ASSERT_LT(checked, ends.size());
      const double end = ends[checked].in_seconds();
      EXPECT_TRUE(agrees(end, expected)) << fmt::format("flow {}: {:.15g} s, expected {:.15g} s", checked, end, expected);
      worst = std::max(worst, std::abs(end - expected));
    }
    EXPECT_EQ(checked, ends.size());
    RecordProperty("worst_difference_s", fmt::format("{:.3g}", worst));
  }

  std::map<std::string, double> expected = expected_row(c.csv, c.input);
  std::vector<double> sorted;
  for (const Duration end : ends) sorted.push_back(end.in_seconds());
  std::ranges::sort(sorted);
  double sum = 0;
  for (const double end : sorted) sum += end;
  const std::size_t n = sorted.size();
  ASSERT_EQ(static_cast<double>(n), expected["flows"]);
  ASSERT_EQ(static_cast<double>(file.capacities.size()), expected["links"]);
  EXPECT_TRUE(agrees(sorted.front(), expected["first_s"])) << sorted.front();
  EXPECT_TRUE(agrees(sum / static_cast<double>(n), expected["mean_s"])) << sum / static_cast<double>(n);
  EXPECT_TRUE(agrees(sorted[n / 2], expected["p50_s"])) << sorted[n / 2];
  EXPECT_TRUE(agrees(sorted[n * 99 / 100], expected["p99_s"])) << sorted[n * 99 / 100];
  const double last = expected.contains("last_s") ? expected["last_s"] : expected["round_makespan_s"];
  EXPECT_TRUE(agrees(sorted.back(), last)) << sorted.back();
}

INSTANTIATE_TEST_SUITE_P(Inputs, FlowsData, ::testing::ValuesIn(cases()), [](const auto& test) {
  std::string name = test.param.input;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace traingraph::sim::tests
