// The house: what stands at the top, and what every folder has.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace {

const std::filesystem::path kRoot{TRAINGRAPH_SOURCE_DIR};

TEST(Layout, TheTopLevelHoldsExactlyTheHouse) {
  const std::set<std::string> allowed{"CMakeLists.txt", "CMakePresets.json", "README.md", "sim",  "topology",
                                      "workloads",      "scenarios",         "analysis",  "tests"};
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator{kRoot}) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with('.') || name.starts_with("build") || name.starts_with("LICEN") || name.ends_with(".h5")) continue;
    found.insert(name);
  }
  EXPECT_EQ(found, allowed);
}

TEST(Layout, EveryFolderSaysWhatLivesInIt) {
  for (const char* folder : {"sim", "topology", "workloads", "analysis", "scenarios", "tests"}) {
    EXPECT_TRUE(std::filesystem::is_regular_file(kRoot / folder / "README.md")) << folder;
  }
}

TEST(Layout, EveryHeaderIsIncludedOnce) {
  for (const char* folder : {"sim", "topology", "workloads", "analysis", "scenarios", "tests"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator{kRoot / folder}) {
      if (entry.path().extension() != ".h") continue;
      std::ifstream in{entry.path()};
      const std::string text{std::istreambuf_iterator<char>{in}, {}};
      EXPECT_NE(text.find("#pragma once"), std::string::npos) << entry.path();
    }
  }
}

}  // namespace
