// Includes go one way only: scenarios -> analysis -> workloads -> topology -> sim. A file of a folder may include its own
// folder and those to its right; libraries with bad manners stay behind the few files that are named for it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::array<std::string_view, 5> kFolders{"sim", "topology", "workloads", "analysis", "scenarios"};

struct Include {
  std::string file;  // relative to the checkout
  int line = 0;
  std::string target;
};

bool is_source(const std::filesystem::path& path) {
  return path.extension() == ".h" || path.extension() == ".inl" || path.extension() == ".cc";
}

std::vector<Include> includes_in(std::string_view folder) {
  static const std::regex pattern{R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])"};
  const std::filesystem::path root{TRAINGRAPH_SOURCE_DIR};
  std::vector<Include> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{root / folder}) {
    if (!entry.is_regular_file() || !is_source(entry.path())) continue;
    std::ifstream in{entry.path()};
    std::string text;
    for (int line = 1; std::getline(in, text); ++line) {
      std::smatch match;
      if (std::regex_search(text, match, pattern)) {
        found.push_back({std::filesystem::relative(entry.path(), root).string(), line, match[1]});
      }
    }
  }
  return found;
}

/// Position in kFolders of the folder that a project include names, or -1 for a system or library header.
int folder_index(std::string_view target) {
  const auto it = std::find(kFolders.begin(), kFolders.end(), target.substr(0, target.find('/')));
  return target.find('/') == std::string_view::npos || it == kFolders.end() ? -1 : static_cast<int>(it - kFolders.begin());
}

TEST(IncludeDirection, AFolderIncludesOnlyWhatStandsToItsRight) {
  for (std::size_t own = 0; own < kFolders.size(); ++own) {
    const std::vector<Include> includes = includes_in(kFolders[own]);
    ASSERT_FALSE(includes.empty()) << "nothing found in " << kFolders[own] << ": is the checkout where it was built from?";
    for (const Include& include : includes) {
      EXPECT_LE(folder_index(include.target), static_cast<int>(own))
          << fmt::format("{}:{} includes {}", include.file, include.line, include.target);
    }
  }
}

TEST(IncludeDirection, NoSourceIncludesATest) {
  for (const std::string_view folder : kFolders) {
    for (const Include& include : includes_in(folder)) {
      EXPECT_FALSE(include.target.starts_with("tests/") || include.target.starts_with("../"))
          << fmt::format("{}:{} includes {}", include.file, include.line, include.target);
    }
  }
}

// A library that is slow to compile or awkward to use is seen by the folder that wraps it and by nobody else.
TEST(IncludeDirection, AwkwardLibrariesStayBehindTheirWrappers) {
  const std::map<std::string, std::string> homes{{"yaml-cpp/", "scenarios/yaml_reader"},
                                                 {"CLI/", "scenarios/cli/command_line"},
                                                 {"httplib", "scenarios/serve/page_server"},
                                                 {"hdf5", "analysis/|scenarios/cli/version"}};
  for (const std::string_view folder : kFolders) {
    for (const Include& include : includes_in(folder)) {
      for (const auto& [library, home] : homes) {
        if (!include.target.starts_with(library)) continue;
        EXPECT_TRUE(std::regex_search(include.file, std::regex{"^(" + home + ")"}))
            << fmt::format("{}:{} includes {}", include.file, include.line, include.target);
      }
    }
  }
}

}  // namespace
