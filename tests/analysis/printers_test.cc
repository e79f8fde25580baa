// Text, JSON and CSV are one Result printed three ways.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/csv.h"
#include "analysis/fields.h"
#include "analysis/format.h"
#include "analysis/json.h"
#include "analysis/text.h"
#include "tests/analysis/support.h"

namespace traingraph::analysis {
namespace {

using testing::Star;
using testing::StarRouter;

Result sample() {
  const Star star{{.gpus = 12, .latency = sim::Duration::us(1)}};
  const StarRouter router{star};
  Result r = testing::run(star, router, testing::data_parallel({.gpus = 12, .steps = 2, .slowest = 1.3})).result;
  r.sensitivity = {{"bandwidth nic", -0.75}};
  r.effort = Effort{12.5, 1e9};
  return r;
}

std::string line_with(const std::string& text, const std::string& begin) {
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(begin, 0) == 0) return line;
  }
  throw std::runtime_error{"no line begins with " + begin};
}

TEST(Printers, TheTextShowsTheNumbersOfTheJson) {
  const Result r = sample();
  const nlohmann::json json = to_json(r);
  const std::string text = to_text(r);
  const auto time = [&](const char* at) {
    return human_time(sim::Duration::seconds(json.at(nlohmann::json::json_pointer{at}).get<double>()));
  };
  const auto number = [&](const char* at) { return json.at(nlohmann::json::json_pointer{at}).get<double>(); };
  const auto shows = [&](const std::string& line, const std::string& what) {
    EXPECT_NE(line.find(what), std::string::npos) << "'" << what << "' in '" << line << "'";
  };
  shows(line_with(text, "step time"), time("/step_time_s"));
  shows(line_with(text, "lower bound"), time("/lower_bound_s"));
  shows(line_with(text, "MFU"), percent(number("/mfu")));
  shows(line_with(text, "MFU"), percent(number("/hfu")));
  shows(line_with(text, "throughput"), human_count(number("/tokens_per_s")));
  shows(line_with(text, "peak memory"), human_bytes(number("/peak_memory_bytes")));
  shows(line_with(text, "  exposed_dp"), time("/time_split/busiest/exposed_dp_s"));
  shows(line_with(text, "  exposed_dp"), time("/time_split/least_busy/exposed_dp_s"));
  shows(line_with(text, "  nic"), human_bytes(number("/links/nic/bytes")));
  shows(line_with(text, "  nic"), percent(number("/links/nic/mean_utilization")));
  shows(line_with(text, "critical path"), time("/critical_path/length_s"));
  shows(line_with(text, "  bandwidth nic"), "-0.750");
  shows(line_with(text, "transient"), time("/transient/step_1_end_s"));
}

TEST(Printers, TheTextSaysWhenTheChainOfAStepIsNotKnown) {
  Result r = sample();
  constexpr const char* kMissing = "chain from one step to the next: not known";
  Bound chain;
  chain.name = "chain";
  chain.window = BoundWindow::steady_step;
  std::erase_if(r.bounds, [](const Bound& b) { return b.name == "chain"; });
  EXPECT_NE(to_text(r).find(kMissing), std::string::npos);
  r.bounds.push_back(chain);
  EXPECT_EQ(to_text(r).find(kMissing), std::string::npos);
  r.bounds.pop_back();
  r.steps = 1;
  EXPECT_EQ(to_text(r).find(kMissing), std::string::npos);
}

TEST(Printers, TheTimeSplitOfTheJsonAddsUp) {
  const nlohmann::json json = to_json(sample());
  for (const char* which : {"busiest", "median", "least_busy"}) {
    std::int64_t sum = 0;
    for (const std::string& name : workloads::category_names()) {
      sum += std::llround(json["time_split"][which][name + "_s"].get<double>() * 1e12);
    }
    EXPECT_EQ(sum, std::llround(json["step_time_s"].get<double>() * 1e12)) << which;
  }
}

TEST(Printers, TheCsvHasTheListsOfTheJson) {
  const Result r = sample();
  const nlohmann::json json = to_json(r);
  const std::string csv = to_csv(r);
  for (const char* list : {"bounds", "most_loaded_links", "collectives"}) {
    ASSERT_FALSE(json.at(list).empty()) << list;
    for (std::size_t i = 0; i < json.at(list).size(); ++i) {
      for (const auto& [key, value] : json.at(list)[i].items()) {
        std::string line = "\n";
        line += list;
        line += "." + std::to_string(i) + "." + key + ",";
        EXPECT_NE(csv.find(line), std::string::npos) << line;
      }
    }
  }
}

TEST(Printers, TheCsvHasTheFieldsOfTheJson) {
  const Result r = sample();
  const nlohmann::json json = to_json(r);
  std::istringstream lines{to_csv(r)};
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "name,value,unit");
  std::size_t numbers = 0;
  while (std::getline(lines, line)) {
    const std::size_t comma = line.find(','), last = line.rfind(',');
    std::string path{"/"};
    path += line.substr(0, comma);
    std::replace(path.begin(), path.end(), '.', '/');
    const auto& value = json.at(nlohmann::json::json_pointer{path});
    if (!value.is_number()) continue;
    EXPECT_EQ(std::strtod(line.c_str() + comma + 1, nullptr), value.get<double>()) << line;
    EXPECT_GT(line.size(), last + 1) << "a number has a unit: " << line;
    ++numbers;
  }
  EXPECT_GT(numbers, 50U);
}

TEST(Printers, TheSchemaComesFirstAndListsAreThere) {
  const Result r = sample();
  const nlohmann::ordered_json json = to_json(r);
  EXPECT_EQ(json.begin().key(), "schema");
  EXPECT_EQ(json["schema"], "traingraph/run/1");
  EXPECT_EQ(json["bounds"].size(), r.bounds.size());
  EXPECT_EQ(json["most_loaded_links"].size(), 10U);
  EXPECT_EQ(json["collectives"][0]["algorithm"], "ring");
  EXPECT_EQ(std::count_if(json["bounds"].begin(), json["bounds"].end(), [](const auto& b) { return b["binds"] == true; }),
            1);
}

// Wall time and memory differ from run to run: only on request.
TEST(Printers, TheEffortIsPrintedOnlyWhenAskedFor) {
  const Result r = sample();
  EXPECT_FALSE(to_json(r)["engine"].contains("wall_s"));
  EXPECT_EQ(to_json(r, true)["engine"]["wall_s"], 12.5);
  EXPECT_EQ(to_csv(r).find("peak_rss"), std::string::npos);
  EXPECT_NE(to_csv(r, true).find("engine.peak_rss_bytes,"), std::string::npos);
}

TEST(Printers, NoLineOfTheTextIsWiderThanATerminal) {
  Result r = sample();
  r.description = std::string(300, 'x');
  r.top_links[0].name = "pod12.unit3.rack17.node1234.gpu7.nic3>pod12.unit3.leaf99.port17#3";
  r.busiest.gpu = std::string(60, 'g');
  std::istringstream lines{to_text(r)};
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), kTextWidth) << line;
}

// A long reason takes nothing from the table: every number keeps its column, and each reason is said once.
TEST(Printers, TheTableOfCollectivesKeepsItsColumns) {
  Result r = sample();
  const std::string exact = "bulk: exact by construction";
  const std::string forced = "bulk: 300.5 million transfers could not be in exact bulk, the limit is 50 million";
  r.collectives = {{"all_reduce", "ring", 4e6, 12, 0, 5, 7, "bulk", {exact, forced}},
                   {"all_gather", "direct", 2e9, 1234, 0, 1234, 0, "bulk", {exact}}};
  const std::string text = to_text(r);
  EXPECT_EQ(line_with(text, "  all_reduce"),
            "  all_reduce ring                         4 MB          12           0             5             7");
  EXPECT_EQ(line_with(text, "  all_gather"),
            "  all_gather direct                       2 GB       1,234           0         1,234             0");
  EXPECT_EQ(line_with(text, "  bulk: 300"), "  " + forced);
  EXPECT_EQ(text.find(exact), text.rfind(exact));
}

TEST(Printers, OneThingIsNoPlural) {
  Result r = sample();
  r.gpus = 1;
  r.critical_path.elements.resize(1);
  const std::string text = to_text(r);
  EXPECT_NE(text.find("\n1 GPU on"), std::string::npos) << text;
  EXPECT_NE(text.find("in 1 element\n"), std::string::npos) << text;
}

TEST(Printers, ABrokenBoundIsShown) {
  Result r = sample();
  EXPECT_EQ(to_text(r).find("BROKEN"), std::string::npos);
  r.bounds[0].value = r.bounds[0].simulated + sim::Duration::ms(1);
  EXPECT_NE(to_text(r).find("BROKEN"), std::string::npos);
}

TEST(Format, NumbersHaveFourDigitsAndAUnitThatFits) {
  using sim::Duration;
  EXPECT_EQ(human_time(Duration::seconds(12.3456)), "12.35 s");
  EXPECT_EQ(human_time(Duration::ms(47.13)), "47.13 ms");
  EXPECT_EQ(human_time(Duration::ns(850)), "850 ns");
  EXPECT_EQ(human_time(Duration::ps(3)), "3 ps");
  EXPECT_EQ(human_time({}), "0 s");
  EXPECT_EQ(human_time(Duration::ms(999.99)), "1 s");
  EXPECT_EQ(human_time(Duration::seconds(12345)), "12,345 s");
  EXPECT_EQ(human_time(Duration::seconds(-1234567.8)), "-1,234,568 s");
  EXPECT_EQ(human_bytes(1.0737e9), "1.074 GB");
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_rate(25e9), "25 GB/s");
  EXPECT_EQ(human_count(174.6e9), "174.6 G");
  EXPECT_EQ(human_count(999.96), "1 k");
  EXPECT_EQ(human_words(300'491'776), "300.5 million");
  EXPECT_EQ(human_words(5e7), "50 million");
  EXPECT_EQ(human_words(1.2e9), "1.2 billion");
  EXPECT_EQ(human_words(999'999), "1 million");
  EXPECT_EQ(human_words(48'000), "48,000");
  EXPECT_EQ(human_words(112), "112");
  EXPECT_EQ(human_words(2e19), "20,000 quadrillion");
  EXPECT_EQ(percent(0.4512), "45.1 %");
  EXPECT_EQ(with_thousands(16384), "16,384");
  EXPECT_EQ(with_thousands(999), "999");
  EXPECT_EQ(with_thousands(1'234'567), "1,234,567");
  EXPECT_EQ(counted(1, "GPU"), "1 GPU");
  EXPECT_EQ(counted(0, "GPU"), "0 GPUs");
  EXPECT_EQ(counted(1024, "GPU"), "1,024 GPUs");
}

TEST(Format, SecondsAreExactToThePicosecond) {
  using sim::Duration;
  EXPECT_EQ(exact_seconds(Duration::ps(1)), "0.000000000001");
  EXPECT_EQ(exact_seconds(Duration::ps(20'000'000'000'000'001)), "20000.000000000001");  // beyond a double
  EXPECT_EQ(exact_seconds(Duration::seconds(-1.5)), "-1.5");
  EXPECT_EQ(exact_seconds({}), "0");
  EXPECT_EQ(seconds(Duration::us(12300)), 0.0123);
}

TEST(Format, LongNamesKeepTheirEnds) {
  EXPECT_EQ(shortened("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(shortened("abcdefghijk", 10), "abcd...ijk");
  EXPECT_EQ(shortened("ääääääääääää", 10), "ääää...äää");
}

TEST(Csv, ValuesWithCommasOrQuotesAreQuoted) {
  EXPECT_EQ(csv_value("a b"), "a b");
  EXPECT_EQ(csv_value("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_value("a\"b"), "\"a\"\"b\"");
}

}  // namespace
}  // namespace traingraph::analysis
