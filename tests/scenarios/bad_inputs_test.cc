// Wrong scenarios, each with the exact message: tests/data/bad/NN_name.yaml and NN_name.expected. Lines `# --set a.b=c` at
// the head of a file are overrides.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "scenarios/diagnostics.h"
#include "scenarios/scenario.h"

namespace traingraph::scenarios {
namespace {

std::string content(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<std::string> overrides_of(const std::string& text) {
  constexpr std::string_view kHead = "# --set ";
  std::vector<std::string> overrides;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line) && line.starts_with(kHead);) overrides.push_back(line.substr(kHead.size()));
  return overrides;
}

std::vector<std::filesystem::path> bad_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator{std::filesystem::path{TRAINGRAPH_TEST_DATA} / "bad"}) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(BadInputs, EachIsRefusedWithItsExactMessage) {
  const auto files = bad_files();
  EXPECT_GE(files.size(), 60U);
  for (std::filesystem::path file : files) {
    const std::string text = content(file);
    std::string message;
    try {
      static_cast<void>(load_text(text, file.filename().string(), overrides_of(text)));
    } catch (const ScenarioError& e) {
      message = e.what();
    }
    EXPECT_EQ(message + "\n", content(file.replace_extension(".expected"))) << file;
  }
}

// Every line of a message begins with a place that can be found: file:line:column, the file, a preset or an override.
TEST(BadInputs, EveryMessageNamesItsPlace) {
  for (std::filesystem::path file : bad_files()) {
    const std::string name = file.filename().string();
    std::istringstream in{content(file.replace_extension(".expected"))};
    for (std::string line; std::getline(in, line);) {
      EXPECT_TRUE(line.starts_with(name + ":") || line.starts_with("--set ") || line.starts_with("preset ")) << line;
    }
  }
}

}  // namespace
}  // namespace traingraph::scenarios
