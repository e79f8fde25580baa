// `traingraph report`: a result file as one page that needs nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/scenarios/cli_process.h"

namespace traingraph::scenarios::cli_tests {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;

std::string example(const std::string& name) { return std::string{TRAINGRAPH_SOURCE_DIR} + "/scenarios/examples/" + name; }

/// The document inside a report.
Json document_in(const std::string& page) {
  const std::string begin = "id=\"document\">";
  const std::size_t at = page.find(begin) + begin.size();
  return Json::parse(page.substr(at, page.find("</script>", at) - at));
}

TEST(Report, IsOneFileWithTheNumbersOfTheRun) {
  const TemporaryFolder folder;
  const std::string result = folder.file("r.h5"), page = folder.file("r.html");
  const Finished run =
      execute({"run", example("llama3_8b_fsdp_32_h100.yaml"), "-o", result, "--bins", "50", "--format", "json"});
  ASSERT_EQ(run.code, 0) << run.err;
  ASSERT_EQ(execute({"report", result, "-o", page}).code, 0);
  const std::string html = read_file(page);
  EXPECT_LT(html.size(), 3'000'000U);
  EXPECT_THAT(html, Not(HasSubstr("src=")));
  EXPECT_THAT(html, Not(HasSubstr("<link")));
  EXPECT_THAT(html, Not(HasSubstr("\nimport ")));
  EXPECT_THAT(html, Not(HasSubstr("\nexport ")));

  const Json expected = Json::parse(run.out);
  const Json document = document_in(html);
  for (const char* key : {"step_time_s", "mfu", "tokens_per_s", "peak_memory_bytes", "lower_bound_s", "binding_bound"}) {
    EXPECT_EQ(document["summary"][key], expected[key]) << key;
  }
  EXPECT_EQ(document["bounds"].size(), expected["bounds"].size());
  EXPECT_DOUBLE_EQ(document["window_ps"].get<double>() * 1e-12, expected["step_time_s"].get<double>());

  // The categories of a stage are the means of what adds up to the step time on every GPU.
  for (const Json& stage : document["stages"]) {
    double sum = 0;
    for (const Json& seconds : stage["mean_s"]) sum += seconds.get<double>();
    EXPECT_NEAR(sum, expected["step_time_s"].get<double>(), 1e-9);
  }
  // Spans of a stream follow each other inside the run, and the critical path is as long as the step.
  for (const Json& track : document["tracks"]) {
    ASSERT_EQ(track["spans"].size() % 5, 0U);
    for (std::size_t i = 1; i < track["spans"].size(); i += 5) EXPECT_GE(track["spans"][i].get<std::int64_t>(), 0);
  }
  const Json& path = document["critical_path"]["elements"];
  ASSERT_GE(path.size(), 5U);
  EXPECT_LE(path[path.size() - 5].get<std::int64_t>() + path[path.size() - 4].get<std::int64_t>(),
            document["window_ps"].get<std::int64_t>());
}

TEST(Report, SaysWhatIsNoResult) {
  const TemporaryFolder folder;
  const std::string text = folder.write("x.h5", "no HDF5");
  const Finished finished = execute({"report", text});
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("x.h5: cannot be read as an HDF5 file"));
  EXPECT_THAT(execute({"report"}).err, HasSubstr("report: the result file is missing"));

  const std::string limits = folder.file("l.h5");
  ASSERT_EQ(execute({"limits", "--set", "scan.points=2", "-o", limits}).code, 0);
  const Finished other = execute({"report", limits});
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("has no /summary"));
}

}  // namespace
}  // namespace traingraph::scenarios::cli_tests
