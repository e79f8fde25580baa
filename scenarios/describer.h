// Describer: the schema as a list of keys, for `check --schema` and for the test that every key has an effect.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenarios/fields.h"

namespace traingraph::scenarios {

/// One key that takes a value; paths through lists are written `links[].capacity`.
struct KeyInfo {
  std::string path;
  std::string type;
  std::string default_text;  ///< "required", the default's YAML text, or what an absent key means
  std::string condition;     ///< "kind: torus"; empty: always
  std::string doc;
};

class Describer : public Fields {
 public:
  [[nodiscard]] const std::vector<KeyInfo>& keys() const { return keys_; }

  [[nodiscard]] Visit visit() const override { return Visit::describe; }
  void leaf(const Key& key, const Leaf& leaf) override;
  void leaves(const Key& key, const ListAccess& list, const ElementLeaf& element) override;
  void group(const Key& key, const Body& body) override;
  void groups(const Key& key, const ListAccess& list, const ElementBody& body) override;
  void when(std::string_view condition, bool holds, const Body& body) override;
  void optional_group(const Key& key, bool present, const Body& create, const Body& body) override;

 private:
  void add(const Key& key, std::string type, std::string default_text);
  void inside(std::string path, const Body& body);

  std::vector<KeyInfo> keys_;
  std::string path_;
  std::vector<std::string> conditions_;
};

/// Two lines a key, the paths in a column of `width`; a heading wherever the condition changes.
[[nodiscard]] std::string to_text(const std::vector<KeyInfo>& keys, std::size_t width);

/// That text of all keys of a T, with its defaults.
template <class T>
[[nodiscard]] std::string described(std::size_t width) {
  T defaults;
  Describer describer;
  fields(describer, defaults);
  return to_text(describer.keys(), width);
}

}  // namespace traingraph::scenarios
