// Binder: a Document into the spec structs, by visiting the schema (fields.h). Collects every error, merges presets under
// what the user wrote, and notes where each value came from.
//
// A value may be written with its source, `{value: 2039 GB/s, source: "..."}`, wherever a plain value is allowed.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/diagnostics.h"
#include "scenarios/document.h"
#include "scenarios/fields.h"
#include "scenarios/provenance.h"

namespace traingraph::scenarios {

class Binder : public Fields {
 public:
  /// Reads `root` (a map) as the top level.
  Binder(const Value& root, Diagnostics& diagnostics, Provenance& provenance);

  /// Reports the keys that nothing asked for; call after the schema has been visited.
  void finish();

  [[nodiscard]] Visit visit() const override { return Visit::read; }
  void leaf(const Key& key, const Leaf& leaf) override;
  void leaves(const Key& key, const ListAccess& list, const ElementLeaf& element) override;
  void group(const Key& key, const Body& body) override;
  void groups(const Key& key, const ListAccess& list, const ElementBody& body) override;
  void when(std::string_view condition, bool holds, const Body& body) override;
  void optional_group(const Key& key, bool present, const Body& create, const Body& body) override;

 private:
  struct Frame {
    const Value* map = nullptr;
    std::string path;
    std::vector<std::string> known;
    std::vector<std::pair<std::string, std::string>> foreign;  // key, the condition under which it exists
    bool failed = false;  // a value here could not be read, so a condition on it may be wrong
  };

  /// The entry of `key` in the current map; notes that the key is known, reports a required one that is missing.
  const Entry* look_up(const Key& key, std::string_view type);
  void enter(const Value& map, std::string path, const Body& body);
  void leave(const Frame& frame);
  /// The value behind `{value: , source: }`, and the source.
  std::pair<const Value*, std::string> unwrap(const Value& value, const std::string& path);
  /// The preset that `value` names, under the rest of `value`; the value itself if it names none. nullptr after an error.
  const Value* with_preset(const Value& value, std::string_view folder, const std::string& path);
  void note(const std::string& path, const Value& value, std::string source);
  void error(const Value& at, const std::string& path, const std::string& text);

  Diagnostics& diagnostics_;
  Provenance& provenance_;
  std::vector<Frame> frames_;
  std::deque<Value> merged_;           // values made by merging; frames point into them
  std::vector<std::string> inactive_;  // conditions that do not hold around the current key
};

}  // namespace traingraph::scenarios
