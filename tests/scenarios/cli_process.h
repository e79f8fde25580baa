// Starts the built program and looks at what it leaves behind.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace traingraph::scenarios::cli_tests {

struct Finished {
  int code = -1;  ///< exit code, or 128 + the signal that ended it
  std::string out;
  std::string err;
};

struct Start {
  std::vector<std::string> words;        ///< without the program's name
  std::string in;                        ///< what stdin holds
  std::string out_to;                    ///< a file for stdout instead of a pipe
  bool reader_leaves = false;            ///< stdout is a pipe that nobody reads
  bool close_stdout = false;             ///< descriptor 1 is not open at all
  std::size_t address_space_bytes = 0;   ///< a limit; 0: none
  std::filesystem::path folder;          ///< to start in; empty: this one
  std::function<void(pid_t)> meanwhile;  ///< called once the process runs
};

[[nodiscard]] Finished execute(const Start& start);
[[nodiscard]] Finished execute(std::vector<std::string> words);

/// A folder of its own, removed with all it holds at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  /// Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& text) const;
  [[nodiscard]] std::vector<std::string> names() const;  ///< of what it holds, sorted

 private:
  std::filesystem::path path_;
};

[[nodiscard]] std::string read_file(const std::filesystem::path& file);

}  // namespace traingraph::scenarios::cli_tests
