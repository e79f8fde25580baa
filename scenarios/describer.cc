#include "scenarios/describer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "scenarios/provenance.h"

namespace traingraph::scenarios {

void Describer::add(const Key& key, std::string type, std::string default_text) {
  if (key.need == Need::required) default_text = "required";
  keys_.push_back({joined(path_, key.name), std::move(type), std::move(default_text),
                   fmt::format("{}", fmt::join(conditions_, "; ")), std::string{key.doc}});
}

void Describer::inside(std::string path, const Body& body) {
  std::string outer = std::exchange(path_, std::move(path));
  body();
  path_ = std::move(outer);
}

void Describer::leaf(const Key& key, const Leaf& leaf) {
  add(key, leaf.type, leaf.print().value_or(key.if_absent.empty() ? "none" : std::string{key.if_absent}));
}

void Describer::leaves(const Key& key, const ListAccess& list, const ElementLeaf& element) {
  std::string items;
  for (std::size_t i = 0; i < list.size(); ++i) items += (i == 0 ? "" : ", ") + element(i).print().value_or("");
  if (list.size() == 0) list.resize(1);
  const std::string default_text = items.empty() && !key.if_absent.empty() ? std::string{key.if_absent} : "[" + items + "]";
  add(key, "list of: " + element(0).type, default_text);
}

void Describer::group(const Key& key, const Body& body) {
  if (!key.preset_folder.empty()) {
    add({.name = key.name, .doc = key.doc}, fmt::format("map, or the name of a preset in {}", key.preset_folder),
        key.need == Need::required ? "required" : "as below");
  }
  inside(joined(path_, key.name), body);
}

void Describer::optional_group(const Key& key, bool, const Body& create, const Body& body) {
  create();
  if (!key.preset_folder.empty()) {
    add(key, fmt::format("map, or the name of a preset in {}", key.preset_folder), std::string{key.if_absent});
  }
  conditions_.push_back(fmt::format("{} is given", joined(path_, key.name)));
  inside(joined(path_, key.name), body);
  conditions_.pop_back();
}

void Describer::groups(const Key& key, const ListAccess& list, const ElementBody& body) {
  list.resize(1);
  inside(joined(path_, key.name) + "[]", [&] { body(0); });
}

void Describer::when(std::string_view condition, bool, const Body& body) {
  conditions_.emplace_back(condition);
  body();
  conditions_.pop_back();
}

std::string to_text(const std::vector<KeyInfo>& keys, std::size_t width) {
  std::string out;
  std::string condition;
  for (const KeyInfo& key : keys) {
    if (key.condition != condition) {
      condition = key.condition;
      out += condition.empty() ? "\nalways:\n" : fmt::format("\n{}:\n", condition);
    }
    out += fmt::format("  {:<{}} {} [{}]\n  {:<{}}   {}\n", key.path, width, key.type, key.default_text, "", width, key.doc);
  }
  return out;
}

}  // namespace traingraph::scenarios
