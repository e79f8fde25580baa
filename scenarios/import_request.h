// What is to be imported: a kind, files, and what the files leave open. The command line makes one, and so does
// `cluster: {import: ...}` of a scenario: a word (the file), or a map {kind, files, and the keys of ImportOptions}.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/diagnostics.h"
#include "scenarios/document.h"
#include "scenarios/fields.h"
#include "topology/import/import.h"

namespace traingraph::scenarios {

inline constexpr std::size_t kLargestImport = 67108864;  ///< bytes of a file: 64 MiB

struct ImportRequest {
  std::string kind = "auto";       ///< a topology::ImportKind, or auto
  std::vector<std::string> files;  ///< relative to the scenario's folder
  topology::ImportOptions options;
};

void fields(Fields& f, topology::ImportOptions& o);
void fields(Fields& f, ImportRequest& r);

/// The words that name a kind, auto first.
[[nodiscard]] std::vector<std::string> import_kinds();

/// A request as the command line gives it; `overrides` are the options ("bandwidth=200 Gb/s"). Throws ScenarioError.
[[nodiscard]] ImportRequest import_request(std::string kind, std::vector<std::string> files,
                                           const std::vector<std::string>& overrides);

/// Reads and imports. Throws ScenarioError: a file that cannot be read or is larger than kLargestImport, or what an importer
/// says of it.
[[nodiscard]] topology::Imported run_import(const ImportRequest& request, const std::filesystem::path& folder);

/// Replaces `import` in the map `cluster` of `root`, if it is there, by what is imported; the other keys of `cluster` are
/// laid over it.
void resolve_import(Value& root, const std::filesystem::path& folder, Diagnostics& diagnostics);

/// The list of keys that --set of `import` takes, for its help.
[[nodiscard]] std::string describe_import_options();

}  // namespace traingraph::scenarios
