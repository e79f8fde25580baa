// Fields: the schema as code. One function per spec struct names every key once, with its document line, type and bounds:
//
//     void fields(Fields& f, ModelSpec& m) {
//       f.leaf({"layers", "transformer layers", kRequired}, leaf(m.layers, kAtLeastOne));
//       ...
//
// and every reader of the schema is a visitor of it: Binder (a document into the struct, with all errors), Printer (the
// struct as YAML with each value's source), Describer (the list of keys). So no key can be read and not printed, or printed
// and not described; the default of a key is the struct's own default member value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/leaf.h"

namespace traingraph::scenarios {

enum class Visit : std::uint8_t { read, print, describe };
enum class Need : std::uint8_t { optional, required };

struct Key {
  std::string_view name;
  std::string_view doc;  ///< one line: what it is
  Need need = Need::optional;
  std::string_view preset_folder = {};  ///< of a group: presets that may fill it ("hardware"); a bare word names one
  std::string_view if_absent = {};      ///< of an unset optional: what happens then ("hidden/heads")
};
inline constexpr Need kRequired = Need::required;

/// A list of leaves or of groups, seen through its size and its elements.
struct ListAccess {
  std::function<std::size_t()> size;
  std::function<void(std::size_t)> resize;
};

class Fields {
 public:
  using Body = std::function<void()>;
  using ElementBody = std::function<void(std::size_t)>;
  using ElementLeaf = std::function<Leaf(std::size_t)>;

  virtual ~Fields() = default;

  /// What this visitor does; the few keys whose default or words depend on another key ask.
  [[nodiscard]] virtual Visit visit() const = 0;

  /// A key with one value.
  virtual void leaf(const Key& key, const Leaf& leaf) = 0;
  /// A key with a list of values.
  virtual void leaves(const Key& key, const ListAccess& list, const ElementLeaf& element) = 0;
  /// A key with a map of keys; `body` visits them.
  virtual void group(const Key& key, const Body& body) = 0;
  /// A key with a list of maps.
  virtual void groups(const Key& key, const ListAccess& list, const ElementBody& body) = 0;
  /// Keys that exist only where `holds`; `condition` says so to people ("kind: torus").
  virtual void when(std::string_view condition, bool holds, const Body& body) = 0;
  /// A group that may be absent: `present` says whether it is there (printing), `create` makes it (reading, describing).
  virtual void optional_group(const Key& key, bool present, const Body& create, const Body& body) = 0;

  /// A list of numbers, quantities or words held in a vector; `further` are the arguments that leaf(T&) takes.
  template <class T, class... Further>
  void list(const Key& key, std::vector<T>& v, const Further&... further) {
    leaves(key, access(v), [&v, further...](std::size_t i) { return scenarios::leaf(v[i], further...); });
  }
  /// A list of maps held in a vector; `body` visits one element.
  template <class T>
  void list_of(const Key& key, std::vector<T>& v, const std::function<void(Fields&, T&)>& body) {
    groups(key, access(v), [this, &v, &body](std::size_t i) { body(*this, v[i]); });
  }
  /// A group held in a std::optional.
  template <class T>
  void maybe(const Key& key, std::optional<T>& v, const std::function<void(Fields&, T&)>& body) {
    optional_group(
        key, v.has_value(),
        [&v] {
          if (!v) v.emplace();
        },
        [this, &v, &body] { body(*this, *v); });
  }

 private:
  template <class T>
  static ListAccess access(std::vector<T>& v) {
    return {[&v] { return v.size(); }, [&v](std::size_t n) { v.assign(n, T{}); }};
  }
};

}  // namespace traingraph::scenarios
