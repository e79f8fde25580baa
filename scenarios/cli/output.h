// Where results go: stdout, and files that appear whole under their name or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace traingraph::scenarios::cli {

/// Writes all of `text` to stdout. Throws ReaderGone when the reader has gone away, EnvironmentError on every other failure.
void write_stdout(std::string_view text);

/// Writes `text` to stderr, best effort: there is nobody left to tell when it fails.
void write_stderr(std::string_view text);

struct OutputPolicy {
  bool force = false;         ///< an existing file may be replaced
  bool keep_partial = false;  ///< NAME.part stays when the run does not end well
};

/// Proves, before any work is done, that a result can be written to `name` by way of NAME.part, and leaves nothing behind.
/// Throws UsageError when NAME exists (and `force` is not set), is a directory or a device, or its folder does not exist;
/// EnvironmentError when NAME.part cannot be created.
void prove_writable(const std::filesystem::path& name, OutputPolicy policy);

/// A result file in the making. Data go to `part()`; `commit()` gives it its final name. A file that is not committed is
/// removed by the destructor, unless it is to be kept.
class OutputFile {
 public:
  /// Throws as prove_writable() does.
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
  bool committed_ = false;
};

}  // namespace traingraph::scenarios::cli
