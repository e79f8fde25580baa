// The only file that sees YAML: text in, Document tree out, every fault of the file in Diagnostics.
//
// What is accepted is the plain part of YAML 1.2: one document of maps, lists and scalars, comments, quotes, block text,
// anchors and aliases. Refused, each with its place: duplicate keys, keys that are not plain words, merge keys (<<), tags,
// several documents, control characters, maps of more than 1,000 keys, aliases that would expand to more than a million
// values. Scalars stay text: what `010`, `yes` or `1e3` mean is decided by the key that reads them (leaf.h), never by YAML's
// rules.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "scenarios/diagnostics.h"
#include "scenarios/document.h"

namespace traingraph::scenarios {

inline constexpr std::size_t kLargestFile = 1048576;  ///< bytes: 1 MiB

struct SizeLimit {
  std::size_t bytes = kLargestFile;
  std::string_view what = "a scenario file";  ///< for the message
  std::string_view human = "1 MiB";
};

/// The whole file; InputError if it cannot be read or is larger than the limit (named with its size).
[[nodiscard]] std::string read_text(const std::filesystem::path& file, const SizeLimit& limit = {});

/// Parses `text`. `place` gives the kind and name of every origin (its line and column are ignored). Faults go to
/// `diagnostics`; after a syntax error the value is null.
[[nodiscard]] Value read_yaml(std::string_view text, const Origin& place, Diagnostics& diagnostics);

}  // namespace traingraph::scenarios
