// Printer: the effective scenario as YAML, every default filled in, each line with a comment that tells the value's source.
// The text is itself a scenario: loading it gives the same values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenarios/fields.h"
#include "scenarios/provenance.h"

namespace traingraph::scenarios {

class Printer : public Fields {
 public:
  explicit Printer(const Provenance& provenance) : provenance_{provenance} {}

  [[nodiscard]] std::string text() const { return out_; }

  [[nodiscard]] Visit visit() const override { return Visit::print; }
  void leaf(const Key& key, const Leaf& leaf) override;
  void leaves(const Key& key, const ListAccess& list, const ElementLeaf& element) override;
  void group(const Key& key, const Body& body) override;
  void groups(const Key& key, const ListAccess& list, const ElementBody& body) override;
  void when(std::string_view condition, bool holds, const Body& body) override;
  void optional_group(const Key& key, bool present, const Body& create, const Body& body) override;

 private:
  void line(std::string_view content, std::string_view comment);
  [[nodiscard]] std::string comment_for(const std::string& path) const;

  const Provenance& provenance_;
  std::string out_;
  std::string path_;
  std::size_t depth_ = 0;
  bool dash_ = false;  // the next line opens an element of a list
};

/// What fields(Printer&, T&) prints of a value.
template <class T>
[[nodiscard]] std::string printed(T value,
                                  const Provenance& provenance) {  // a copy: visitors take what they visit by reference
  Printer printer{provenance};
  fields(printer, value);
  return printer.text();
}

}  // namespace traingraph::scenarios
