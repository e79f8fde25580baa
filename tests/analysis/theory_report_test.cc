// The printers of the limits say what the model says: same rows in JSON, CSV, HDF5 and text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/plot/plot.h"
#include "analysis/theory/limits_csv.h"
#include "analysis/theory/limits_figure.h"
#include "analysis/theory/limits_hdf5.h"
#include "analysis/theory/limits_json.h"
#include "analysis/theory/limits_text.h"
#include "tests/analysis/support.h"
#include "tests/analysis/theory_support.h"

namespace traingraph::analysis::theory {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The last points lie beyond the wall.
LimitsEntry entry(const std::string& gpu, const std::vector<std::string>& overrides = {}) {
  LimitsQuestion q = test::question(gpu, overrides);
  q.scan.from = 1e26;
  q.scan.points = 7;
  return {q.gpu.name, "gpu: " + gpu + "\n", limits(q), {}};
}

const LimitsReport& single() {
  static const LimitsReport kReport{ReportKind::single, {entry("h100")}};
  return kReport;
}

const LimitsReport& several() {
  static const LimitsReport kReport{ReportKind::several, {entry("h100"), entry("h100_infinite_network_zl")}};
  return kReport;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);) result.push_back(line);
  return result;
}

TEST(LimitsReport, JsonHoldsTheRows) {
  const nlohmann::json json = nlohmann::json::parse(to_json(single()).dump());
  EXPECT_EQ(json.at("schema"), "traingraph/limits/1");
  const auto& h100 = json.at("limits").at(0);
  const std::vector<CurveRow> rows = curve_rows(single().entries[0].limits);
  ASSERT_EQ(h100.at("curve").size(), rows.size());
  EXPECT_EQ(h100.at("curve").at(0).at("utilization"), rows[0].relative);
  EXPECT_EQ(h100.at("curve").at(0).at("layout").at("dp"), "1x128");
  EXPECT_EQ(h100.at("curve").back().at("feasible"), false);
  EXPECT_NEAR(h100.at("linear_scaling_limit").at("first").at("log10_flop"), 28.342, 1e-3);
  EXPECT_EQ(h100.at("latency_wall").at("state"), "found");
}

TEST(LimitsReport, NoLimitIsNullAndSaysWhy) {
  const nlohmann::json json = nlohmann::json::parse(to_json(several()).dump());
  const auto& wall = json.at("limits").at(1).at("latency_wall");
  EXPECT_TRUE(wall.at("flop").is_null());
  EXPECT_EQ(wall.at("state"), "unlimited");
}

TEST(LimitsReport, CsvRowsHaveAllColumns) {
  for (const LimitsReport* report : {&single(), &several()}) {
    const std::vector<std::string> table = lines(to_csv(*report));
    const auto commas = std::count(table[0].begin(), table[0].end(), ',');
    for (const std::string& line : table) EXPECT_EQ(std::count(line.begin(), line.end(), ','), commas) << line;
  }
  EXPECT_EQ(lines(to_csv(single())).size(), 8U);
  EXPECT_EQ(lines(to_csv(several())).size(), 3U);
  EXPECT_THAT(to_csv(single()), HasSubstr(",1x128,1x2,1x1,1x8,8x2,4,"));
}

TEST(LimitsReport, TextNamesLimitsAndClosedForms) {
  const std::string text = to_text(single());
  for (const char* part :
       {"2.198e28", "2.157e28", "1.577e31", "1.578e31", "38 us a block", "1x128", "no layout finishes in time"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  const std::string table = to_text(several());
  EXPECT_THAT(table, HasSubstr("H100-InfNet-ZL"));
  EXPECT_THAT(table, HasSubstr("unlimited"));
}

TEST(LimitsReport, AComparisonShowsWhatDiffers) {
  LimitsReport report{ReportKind::compare, {entry("h100"), entry("h100", {"batch_exponent=0.3333333333333333"})}};
  report.entries[0].label = "slow";
  report.entries[1].label = "fast";
  report.entries[0].questions = "name: slow\nbatch_exponent: 0.17  # default\noverlap: true\n";
  report.entries[1].questions = "name: fast\nbatch_exponent: 0.33  # file\noverlap: true\n";
  const std::string text = to_text(report);
  EXPECT_THAT(text, HasSubstr("batch_exponent: 0.17                    batch_exponent: 0.33\n"));
  EXPECT_THAT(text, Not(HasSubstr("overlap")));
  EXPECT_THAT(text, Not(HasSubstr("name:")));
  EXPECT_THAT(text, HasSubstr("61.5x"));  // 1.351e30 over 2.198e28
}

TEST(LimitsReport, FiguresHaveACurveForEachEntry) {
  const plot::Figure one = figure_of(single());
  EXPECT_EQ(one.panels.size(), 3U);
  EXPECT_EQ(one.panels[0].series.size(), 1U);
  EXPECT_EQ(one.panels[0].vertical.size(), 2U);
  const plot::Figure two = figure_of(several());
  ASSERT_EQ(two.panels.size(), 1U);
  EXPECT_EQ(two.panels[0].series[1].name, "H100-InfNet-ZL");
  EXPECT_THAT(plot::to_svg(one), HasSubstr("latency wall 1.577e31"));
}

TEST(LimitsReport, Hdf5HoldsTheRowsAndIsRepeatable) {
  const analysis::testing::ScratchDirectory dir;
  LimitsReport report = single();
  report.entries[0].sensitivity = {{"duration", 2, Elasticity{27, 28, 1.5}, std::nullopt}};
  for (const char* name : {"a.h5", "b.h5"}) {
    H5File file{dir.file(name), false};
    write_hdf5(file, report, "1.2.3");
    file.commit();
  }
  EXPECT_EQ(analysis::testing::read_bytes(dir.file("a.h5")), analysis::testing::read_bytes(dir.file("b.h5")));

  const hid_t file = H5Fopen(dir.file("a.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  const hid_t curve = H5Dopen2(file, "/0/curve", H5P_DEFAULT);
  ASSERT_GE(curve, 0);
  const hid_t utilization = H5Tcreate(H5T_COMPOUND, sizeof(double));
  H5Tinsert(utilization, "utilization", 0, H5T_NATIVE_DOUBLE);
  std::vector<double> read(7, -1);
  EXPECT_GE(H5Dread(curve, utilization, H5S_ALL, H5S_ALL, H5P_DEFAULT, read.data()), 0);
  const std::vector<CurveRow> rows = curve_rows(report.entries[0].limits);
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(read[i], rows[i].relative);
  EXPECT_GT(H5Lexists(file, "/0/sensitivity", H5P_DEFAULT), 0);
  EXPECT_GT(H5Lexists(file, "/limits", H5P_DEFAULT), 0);
  H5Tclose(utilization);
  H5Dclose(curve);
  H5Fclose(file);
}

TEST(LimitsReport, ComputesArePrintedWithFourDigits) {
  EXPECT_EQ(flop_text(28.342), "2.198e28");
  EXPECT_EQ(flop_text(INFINITY), "unlimited");
  EXPECT_EQ(flop_text(std::nullopt), "-");
}

}  // namespace
}  // namespace traingraph::analysis::theory
