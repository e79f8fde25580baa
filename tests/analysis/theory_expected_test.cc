// The rows of tests/data/paper_model/expected.csv: an independent implementation of the closed-form model. The GPUs are
// those of the shipped presets, so the presets are tested too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "analysis/theory/latency_wall.h"
#include "tests/analysis/theory_support.h"

namespace traingraph::analysis::theory {
namespace {

std::vector<std::string> parts(const std::string& text, char separator) {
  std::vector<std::string> result;
  std::istringstream in{text};
  for (std::string part; std::getline(in, part, separator);) result.push_back(part);
  return result;
}

struct Row {
  std::string id, kind, gpu;
  std::map<std::string, std::string> args;
  std::string quantity;
  double value = 0;
  double tolerance = 0;
  bool absolute = false;

  double number(const std::string& key) const { return std::stod(args.at(key)); }
};

std::vector<Row> rows() {
  std::ifstream in{TRAINGRAPH_TEST_DATA "/paper_model/expected.csv"};
  std::vector<Row> all;
  std::string line;
  std::getline(in, line);  // names
  while (std::getline(in, line)) {
    const std::vector<std::string> cells = parts(line, ',');
    Row row{cells.at(0),         cells.at(1), cells.at(2), {}, cells.at(4), std::stod(cells.at(5)), std::stod(cells.at(6)),
            cells.at(7) == "abs"};
    for (const std::string& arg : parts(cells.at(3), ';')) {
      const std::size_t equals = arg.find('=');
      row.args[arg.substr(0, equals)] = arg.substr(equals + 1);
    }
    all.push_back(row);
  }
  return all;
}

/// "H100-Singleton256" is the preset h100_singleton256.
std::string preset(const Row& row) {
  if (row.gpu.empty()) return "h100";
  std::string name = row.gpu == "H100-GlobalNVLink" ? "h100_global_nvlink" : row.gpu;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

LayoutSearch search_of(const Row& row) {
  const std::map<std::string, std::string> keys{
      {"ar_words", "all_reduce_words"}, {"experts", "experts"}, {"b_sparse_exp", "batch_sparsity_exponent"}};
  std::vector<std::string> overrides;
  for (const auto& [name, key] : keys) {
    if (row.args.contains(name)) overrides.push_back(key + "=" + row.args.at(name));
  }
  return test::search_for(preset(row), overrides);
}

std::int8_t exponent(const std::string& degree) {
  return static_cast<std::int8_t>(std::lround(std::log2(std::stod(degree))));
}

Layout layout_of(const Row& row) {
  const std::map<std::string, Dimension> names{
      {"dp", kData}, {"pp", kPipeline}, {"ep", kExpert}, {"tpf", kTensorHidden}, {"tpm", kTensorModel}};
  Layout layout;
  for (const auto& [name, dimension] : names) {
    const std::vector<std::string> degrees = parts(row.args.at(name), 'x');
    for (std::size_t l = 0; l < degrees.size(); ++l) layout.exponents[dimension][l] = exponent(degrees[l]);
  }
  layout.microbatches = exponent(row.args.at("m"));
  return layout;
}

double matmul_value(const Row& row) {
  return workloads::matmul_seconds(
      test::question(preset(row)).gpu.matmul,
      {.d1 = row.number("d1"), .d2 = row.number("d2"), .b = row.number("b"), .weight_gradient = row.args.contains("wgrad")});
}

double workload_value(const Row& row) {
  const ScaledRun run = scaled_run(row.number("C"), {});
  return row.quantity == "d" ? run.residual : run.batch;
}

double step_value(const Row& row) {
  const LayoutSearch search = search_of(row);
  const StepTimes t = search.model().times(search.run(row.number("C")), layout_of(row));
  const std::map<std::string, double> values{{"t_step", t.step_s},      {"bubble", t.bubble_s},   {"mfu", t.mfu},
                                             {"mem", t.memory_bytes},   {"net0", t.network_s[0]}, {"net1", t.network_s[1]},
                                             {"arith", t.arithmetic_s}, {"tail", t.tail_s}};
  return values.at(row.quantity);
}

double search_value(const Row& row) {
  const auto found = search_of(row).best(row.number("C"));
  if (!found) return 0;
  return row.quantity == "rel" ? found->times.relative : found->layout.gpus_exponent();
}

double limit_value(const Row& row) {
  const LinearLimit limit = linear_scaling_limit(search_of(row), row.number("lo"));
  return (row.quantity == "lin_first" ? limit.first : limit.last).value_or(0);
}

TEST(TheoryExpected, EveryRowComesOut) {
  const std::map<std::string, std::function<double(const Row&)>> kinds{
      {"matmul", matmul_value}, {"workload", workload_value},
      {"step", step_value},     {"search", search_value},
      {"limit", limit_value},   {"wall", [](const Row& row) { return latency_wall(search_of(row)); }}};
  const std::vector<Row> all = rows();
  EXPECT_EQ(all.size(), 27U);
  for (const Row& row : all) {
    const double tolerance = row.absolute ? row.tolerance : row.tolerance * std::abs(row.value);
    EXPECT_NEAR(kinds.at(row.kind)(row), row.value, tolerance) << row.id;
  }
}

}  // namespace
}  // namespace traingraph::analysis::theory
