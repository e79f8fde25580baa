#include "scenarios/binder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "scenarios/preset_merge.h"

namespace traingraph::scenarios {

namespace {

std::string element(std::string_view path, std::size_t i) { return fmt::format("{}[{}]", path, i); }

}  // namespace

Binder::Binder(const Value& root, Diagnostics& diagnostics, Provenance& provenance)
    : diagnostics_{diagnostics}, provenance_{provenance} {
  frames_.push_back({&root, "", {}, {}, false});
  note("", root, {});
}

void Binder::finish() { leave(frames_.front()); }

void Binder::note(const std::string& path, const Value& value, std::string source) {
  provenance_.entries.insert_or_assign(path, Provenance::Entry{value.origin, std::move(source)});
}

void Binder::error(const Value& at, const std::string& path, const std::string& text) {
  frames_.back().failed = true;
  diagnostics_.error(at.origin, path, text);
}

const Entry* Binder::look_up(const Key& key, std::string_view type) {
  Frame& frame = frames_.back();
  if (!inactive_.empty()) {
    frame.foreign.emplace_back(key.name, inactive_.back());
    return nullptr;
  }
  frame.known.emplace_back(key.name);
  const Entry* const entry = frame.map->find(key.name);
  if (entry == nullptr && key.need == Need::required) {
    error(*frame.map, joined(frame.path, key.name), fmt::format("is missing: {} ({})", key.doc, type));
  }
  return entry;
}

std::pair<const Value*, std::string> Binder::unwrap(const Value& value, const std::string& path) {
  const Entry* const inner = value.kind == ValueKind::map ? value.find("value") : nullptr;
  if (inner == nullptr) return {&value, {}};
  std::string source;
  for (const Entry& e : value.entries) {
    if (e.key == "source" && e.value.kind == ValueKind::scalar) {
      source = e.value.text;
    } else if (e.key == "source") {
      error(e.value, joined(path, "source"), fmt::format("expected text, found {}", describe(e.value)));
    } else if (e.key != "value") {
      diagnostics_.error(e.key_origin, "",
                         fmt::format("unknown key '{}' in '{}'{}", e.key, path, suggestion(e.key, {"value", "source"})));
    }
  }
  return {&inner->value, std::move(source)};
}

void Binder::leaf(const Key& key, const Leaf& leaf) {
  const Entry* const entry = look_up(key, leaf.type);
  if (entry == nullptr) return;
  const std::string path = joined(frames_.back().path, key.name);
  auto [value, source] = unwrap(entry->value, path);
  if (const std::string wrong = leaf.read(*value); !wrong.empty()) return error(*value, path, wrong);
  note(path, *value, std::move(source));
}

void Binder::leaves(const Key& key, const ListAccess& list, const ElementLeaf& element_leaf) {
  const Entry* const entry = look_up(key, "a list");
  if (entry == nullptr) return;
  const std::string path = joined(frames_.back().path, key.name);
  auto [value, source] = unwrap(entry->value, path);
  if (value->kind != ValueKind::list) {
    return error(*value, path, fmt::format("expected a list such as [a, b], found {}", describe(*value)));
  }
  list.resize(value->items.size());
  for (std::size_t i = 0; i < value->items.size(); ++i) {
    const Value& item = value->items[i];
    if (const std::string wrong = element_leaf(i).read(item); !wrong.empty()) error(item, element(path, i), wrong);
  }
  note(path, *value, std::move(source));
}

const Value* Binder::with_preset(const Value& value, std::string_view folder, const std::string& path) {
  if (folder.empty()) return &value;
  std::optional<Value> merged = scenarios::with_preset(value, folder, path, diagnostics_);
  if (!merged) {
    frames_.back().failed = true;
    return nullptr;
  }
  return &merged_.emplace_back(std::move(*merged));
}

void Binder::enter(const Value& map, std::string path, const Body& body) {
  frames_.push_back({&map, std::move(path), {}, {}, false});
  body();
  leave(frames_.back());
  frames_.pop_back();
}

void Binder::leave(const Frame& frame) {
  for (const Entry& e : frame.map->entries) {
    if (std::find(frame.known.begin(), frame.known.end(), e.key) != frame.known.end()) continue;
    const std::string where = frame.path.empty() ? std::string{} : fmt::format(" in '{}'", frame.path);
    std::vector<std::string> conditions;
    for (const auto& [key, condition] : frame.foreign) {
      if (key == e.key) conditions.push_back(condition);
    }
    diagnostics_.mark_failed(frame.path);
    if (conditions.empty()) {
      diagnostics_.error(e.key_origin, "",
                         fmt::format("unknown key '{}'{}{}", e.key, where, suggestion(e.key, frame.known)));
    } else if (!frame.failed) {
      diagnostics_.error(e.key_origin, "",
                         fmt::format("key '{}'{} is for {} only", e.key, where, fmt::join(conditions, " or ")));
    }
  }
}

void Binder::group(const Key& key, const Body& body) {
  const Entry* const entry = look_up(key, "a map");
  if (!inactive_.empty()) return;
  const std::string path = joined(frames_.back().path, key.name);
  if (entry == nullptr) {
    if (key.need == Need::required) return;
    Value& none = merged_.emplace_back();
    none.kind = ValueKind::map;
    none.origin = frames_.back().map->origin;
    return enter(none, path, body);
  }
  const Value* const value = with_preset(entry->value, key.preset_folder, path);
  if (value == nullptr) return;
  if (value->kind != ValueKind::map) return error(*value, path, fmt::format("expected a map, found {}", describe(*value)));
  note(path, *value, {});
  enter(*value, path, body);
}

void Binder::optional_group(const Key& key, bool, const Body& create, const Body& body) {
  const Frame& frame = frames_.back();
  if (inactive_.empty() && frame.map->find(key.name) == nullptr) {
    static_cast<void>(look_up(key, "a map"));
    return;
  }
  create();
  group(key, body);
}

void Binder::groups(const Key& key, const ListAccess& list, const ElementBody& body) {
  const Entry* const entry = look_up(key, "a list of maps");
  if (entry == nullptr) return;
  const std::string path = joined(frames_.back().path, key.name);
  const Value& value = entry->value;
  if (value.kind != ValueKind::list)
    return error(value, path, fmt::format("expected a list of maps, found {}", describe(value)));
  note(path, value, {});
  list.resize(value.items.size());
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    const Value& item = value.items[i];
    const std::string item_path = element(path, i);
    if (item.kind != ValueKind::map) {
      error(item, item_path, fmt::format("expected a map, found {}", describe(item)));
      continue;
    }
    note(item_path, item, {});
    enter(item, item_path, [&] { body(i); });
  }
}

void Binder::when(std::string_view condition, bool holds, const Body& body) {
  if (!holds) inactive_.emplace_back(condition);
  body();
  if (!holds) inactive_.pop_back();
}

}  // namespace traingraph::scenarios
