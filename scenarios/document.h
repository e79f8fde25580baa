// Document: a YAML file as a tree of values that remember where they stand; all that is left of YAML outside yaml_reader.cc.
//
// Every value and every key carries an Origin: a line of the scenario file, of a preset, or an override of the command line.
// Values are copied freely (an alias is a copy of its anchor's value), so layers (a preset under a user's map) can be merged
// while each leaf still knows its own source.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traingraph::scenarios {

enum class OriginKind : std::uint8_t { file, preset, override_, default_ };

/// Where a value came from; prints as the head of an error message.
struct Origin {
  OriginKind kind = OriginKind::default_;
  std::string name;          ///< the file as the user named it, "hardware/h100_sxm" for a preset, "a.b=c" for an override
  std::uint32_t line = 0;    ///< 1-based; 0: the whole file
  std::uint32_t column = 0;  ///< 1-based

  bool operator==(const Origin&) const = default;
};

/// "s.yaml:3:5", "preset hardware/h100_sxm:3:5", "--set a.b=c", "default".
[[nodiscard]] std::string to_string(const Origin& origin);
/// Order of appearance: the file by line, then presets, then overrides.
[[nodiscard]] bool before(const Origin& a, const Origin& b);

enum class ValueKind : std::uint8_t { null, scalar, list, map };

struct Entry;

struct Value {
  ValueKind kind = ValueKind::null;
  Origin origin;
  std::string text;            ///< of a scalar
  bool quoted = false;         ///< a scalar in quotes is text, never a number
  std::vector<Value> items;    ///< of a list
  std::vector<Entry> entries;  ///< of a map, in the order written

  [[nodiscard]] const Entry* find(std::string_view key) const;
  [[nodiscard]] Entry* find(std::string_view key);
};

struct Entry {
  std::string key;
  Origin key_origin;
  Value value;
};

/// "a map", "a list", "'text'", "nothing": what a message says was found.
[[nodiscard]] std::string describe(const Value& value);

/// A document that is nothing but `key: name`, the name of a preset.
[[nodiscard]] Value naming_preset(std::string_view key, std::string_view name);

/// `over` laid on `base`: maps are merged key by key, anything else in `over` replaces what `base` has. Keys keep base's
/// order, new ones follow. A map replaces base as a whole when it names a preset of its own, or when its `kind` is another
/// one; laid on a word, which names a preset, it becomes that preset with changes.
[[nodiscard]] Value merged(Value base, const Value& over);

}  // namespace traingraph::scenarios
