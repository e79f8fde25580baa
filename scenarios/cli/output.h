// Where results go: stdout, and files that appear whole under their name or not at all.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "scenarios/cli/interrupt.h"

namespace traingraph::scenarios::cli {

/// Writes all of `text` to stdout. Throws ReaderGone when the reader has gone away, EnvironmentError on every other failure.
void write_stdout(std::string_view text);

/// Writes `text` to stderr, best effort: there is nobody left to tell when it fails.
void write_stderr(std::string_view text);

struct OutputPolicy {
  bool force = false;         ///< an existing file may be replaced
  bool keep_partial = false;  ///< NAME.part stays when the run does not end well
};

/// A result file in the making, made before any work is done. Data go to `part()`, which is locked: another run of ours
/// cannot take it. `commit()`, or whoever writes to part(), gives it its final name. What has no final name in the end is
/// removed, by a signal that ends the process too, unless it is to be kept and holds something.
class OutputFile {
 public:
  /// Throws UsageError when NAME exists (and `force` is not set); when it is, whatever `force` says, a directory, a symbolic
  /// link or anything else but a regular file; when its folder does not exist; when another run is writing to NAME.part.
  /// EnvironmentError when NAME.part cannot be created.
  OutputFile(std::filesystem::path name, OutputPolicy policy);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  [[nodiscard]] const std::filesystem::path& name() const { return name_; }
  [[nodiscard]] const std::filesystem::path& part() const { return part_; }

  /// Writes `text` as the whole content of part().
  void write(std::string_view text);
  /// Renames part() to name(). Throws UsageError when NAME has appeared meanwhile (and `force` is not set), EnvironmentError
  /// when the disk refuses.
  void commit();

 private:
  std::filesystem::path name_;
  std::filesystem::path part_;
  OutputPolicy policy_;
  int fd_ = -1;  // of part(), locked
  std::optional<RemovedOnSignal> on_signal_;
};

}  // namespace traingraph::scenarios::cli
