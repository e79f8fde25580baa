#include "scenarios/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace traingraph::scenarios {

std::string to_string(const Origin& origin) {
  switch (origin.kind) {
    case OriginKind::override_:
      return "--set " + origin.name;
    case OriginKind::default_:
      return "default";
    case OriginKind::file:
    case OriginKind::preset:
      break;
  }
  const std::string head = origin.kind == OriginKind::preset ? "preset " + origin.name : origin.name;
  return origin.line == 0 ? head : fmt::format("{}:{}:{}", head, origin.line, origin.column);
}

bool before(const Origin& a, const Origin& b) {
  return std::tie(a.kind, a.name, a.line, a.column) < std::tie(b.kind, b.name, b.line, b.column);
}

Value naming_preset(std::string_view key, std::string_view name) {
  const Origin place{OriginKind::file, std::string{name}, 0, 0};
  Value word;
  word.kind = ValueKind::scalar;
  word.origin = place;
  word.text = name;
  Value root;
  root.kind = ValueKind::map;
  root.origin = place;
  root.entries.push_back({std::string{key}, place, std::move(word)});
  return root;
}

const Entry* Value::find(std::string_view key) const {
  const auto it = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.key == key; });
  return it == entries.end() ? nullptr : &*it;
}

Entry* Value::find(std::string_view key) {
  const auto it = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.key == key; });
  return it == entries.end() ? nullptr : &*it;
}

std::string describe(const Value& value) {
  constexpr std::size_t kLongest = 60;
  switch (value.kind) {
    case ValueKind::null:
      return "nothing";
    case ValueKind::list:
      return "a list";
    case ValueKind::map:
      return "a map";
    case ValueKind::scalar:
      break;
  }
  if (value.text.size() <= kLongest) return "'" + value.text + "'";
  std::size_t cut = kLongest;
  while (cut > 0 && (static_cast<unsigned char>(value.text[cut]) & 0xC0U) == 0x80U) --cut;  // not inside a UTF-8 character
  return "'" + value.text.substr(0, cut) + "...'";
}

Value merged(Value base, const Value& over) {
  if (over.kind != ValueKind::map || over.find("preset") != nullptr) return over;
  if (base.kind == ValueKind::scalar && over.find("value") == nullptr) {  // a word that names a preset
    const Origin origin = base.origin;
    Value named;
    named.kind = ValueKind::map;
    named.entries.push_back({"preset", origin, std::move(base)});
    base = std::move(named);
  }
  if (base.kind != ValueKind::map) return over;
  const Entry* const kind = over.find("kind");
  const Entry* const base_kind = base.find("kind");
  if (kind != nullptr && base_kind != nullptr && kind->value.text != base_kind->value.text) return over;
  for (const Entry& entry : over.entries) {
    if (Entry* const known = base.find(entry.key)) {
      known->value = merged(std::move(known->value), entry.value);
      known->key_origin = entry.key_origin;
    } else {
      base.entries.push_back(entry);
    }
  }
  base.origin = over.origin;
  return base;
}

}  // namespace traingraph::scenarios
