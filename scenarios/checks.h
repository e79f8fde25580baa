// What the fields of a scenario say about each other: degrees against GPUs, what divides what, names that must exist. Each
// error stands at the key that the reader would change, and is left out when a key that it follows from could not be read.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "scenarios/diagnostics.h"
#include "scenarios/scenario.h"

namespace traingraph::scenarios {

class Checker {
 public:
  Checker(const Provenance& provenance, Diagnostics& diagnostics) : provenance_{provenance}, diagnostics_{diagnostics} {}

  /// Whether all these keys could be read.
  [[nodiscard]] bool readable(std::initializer_list<std::string_view> paths) const {
    for (const std::string_view path : paths) {
      if (diagnostics_.failed(path)) return false;
    }
    return true;
  }
  /// Reports unless `holds`, at the place where `path` was set.
  template <class... Arguments>
  void expect(bool holds, std::string_view path, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    if (!holds)
      diagnostics_.error(provenance_.origin(path), path, fmt::format(format, std::forward<Arguments>(arguments)...));
  }

  /// Reports what a part of the program that knows no files says of the value at `path`.
  void report(std::string_view path, std::string_view text) { diagnostics_.error(provenance_.origin(path), path, text); }

  /// Of paths that contradict each other, the one to complain of: the first that the file or an override sets.
  [[nodiscard]] std::string_view blamed(std::initializer_list<std::string_view> paths) const {
    for (const std::string_view path : paths) {
      const auto it = provenance_.entries.find(path);
      if (it == provenance_.entries.end()) continue;
      const OriginKind kind = it->second.origin.kind;
      if (kind == OriginKind::file || kind == OriginKind::override_) return path;
    }
    return *paths.begin();
  }

 private:
  const Provenance& provenance_;
  Diagnostics& diagnostics_;
};

void check_cluster(const topology::ClusterSpec& cluster, Checker& check);
void check_workload(const Scenario& scenario, Checker& check);
void check_parallel(const workloads::TransformerSpec& transformer, Checker& check);

}  // namespace traingraph::scenarios
