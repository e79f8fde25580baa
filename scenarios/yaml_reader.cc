#include "scenarios/yaml_reader.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

namespace traingraph::scenarios {

namespace {

constexpr std::size_t kMostValues = 1000000;
constexpr std::size_t kDeepest = 64;     // maps and lists inside each other; no key is deeper than ten
constexpr std::size_t kMostKeys = 1000;  // of one map; keys are looked up one after the other

/// Thrown out of the parser when going on makes no sense; the error has been reported.
struct GiveUp {};

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7F;
}

std::size_t count_values(const Value& v) {
  std::size_t n = 1;
  for (const Value& item : v.items) n += count_values(item);
  for (const Entry& entry : v.entries) n += count_values(entry.value);
  return n;
}

// yaml-cpp's events carry a mark for every node, keys included, and hide no duplicate: the tree is built from them directly.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(Origin place, Diagnostics& diagnostics) : place_{std::move(place)}, diagnostics_{diagnostics} {}

  [[nodiscard]] Value take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Value v;
    v.origin = at(mark);
    finish(std::move(v), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto it = anchors_.find(anchor);
    if (it == anchors_.end()) {
      diagnostics_.error(at(mark), "", "an alias may not stand inside the value that it names");
      throw GiveUp{};
    }
    count(it->second.size, mark);
    put(Value{it->second.value});
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& text) override {
    if (tag != "?" && tag != "!" && !tag.empty()) refuse_tag(mark, tag);
    if (const auto bad = std::find_if(text.begin(), text.end(), is_control); bad != text.end())  // by an escape
      diagnostics_.error(at(mark), "",
                         fmt::format("control character 0x{:02X} in a value", static_cast<unsigned char>(*bad)));
    Value v;
    v.kind = ValueKind::scalar;
    v.origin = at(mark);
    v.text = text;
    v.quoted = tag == "!";
    finish(std::move(v), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, ValueKind::list);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, ValueKind::map);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Anchored {
    Value value;
    std::size_t size = 0;
  };
  struct Open {
    Value value;
    YAML::anchor_t anchor = YAML::NullAnchor;
    bool has_key = false;  // of a map: the next value belongs to `key`
    bool drop = false;     // of a map: the next value belongs to a refused key
    std::string key;
    Origin key_origin;
  };

  [[nodiscard]] Origin at(const YAML::Mark& mark) const {
    Origin o = place_;
    o.line = mark.is_null() ? 0 : static_cast<std::uint32_t>(mark.line + 1);
    o.column = mark.is_null() ? 0 : static_cast<std::uint32_t>(mark.column + 1);
    return o;
  }

  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    diagnostics_.error(at(mark), "", fmt::format("tags ('{}') are not supported; write the value alone", tag));
  }

  void count(std::size_t values, const YAML::Mark& mark) {
    values_ += values;
    if (values_ <= kMostValues) return;
    diagnostics_.error(at(mark), "", fmt::format("aliases expand to more than {} values", kMostValues));
    throw GiveUp{};
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, ValueKind kind) {
    if (tag != "?" && !tag.empty()) refuse_tag(mark, tag);
    if (open_.size() == kDeepest) {
      diagnostics_.error(at(mark), "", fmt::format("maps and lists nest more than {} deep", kDeepest));
      throw GiveUp{};
    }
    Open o;
    o.value.kind = kind;
    o.value.origin = at(mark);
    o.anchor = anchor;
    open_.push_back(std::move(o));
  }

  void close() {
    Open o = std::move(open_.back());
    open_.pop_back();
    finish(std::move(o.value), o.anchor);
  }

  void finish(Value v, YAML::anchor_t anchor) {
    ++values_;
    if (anchor != YAML::NullAnchor) {
      const std::size_t size = count_values(v);
      anchors_.insert_or_assign(anchor, Anchored{v, size});
    }
    put(std::move(v));
  }

  void put(Value v) {
    if (open_.empty()) {
      root_ = std::move(v);
      return;
    }
    Open& top = open_.back();
    if (top.value.kind == ValueKind::list) {
      top.value.items.push_back(std::move(v));
    } else if (top.has_key) {
      if (!top.drop) top.value.entries.push_back({std::move(top.key), std::move(top.key_origin), std::move(v)});
      top.has_key = false;
    } else {
      take_key(top, std::move(v));
    }
  }

  void take_key(Open& top, Value key) {
    top.has_key = true;
    top.drop = true;
    if (key.kind != ValueKind::scalar) {
      diagnostics_.error(key.origin, "", fmt::format("a key must be a word, found {}", describe(key)));
      return;
    }
    if (key.text == "<<" && !key.quoted) {
      diagnostics_.error(key.origin, "", "merge keys ('<<') are not supported; write the keys out, or use a preset");
      return;
    }
    if (const Entry* const first = top.value.find(key.text)) {
      diagnostics_.error(key.origin, "",
                         fmt::format("key '{}' is given twice; the first is at line {}", key.text, first->key_origin.line));
      return;
    }
    if (top.value.entries.size() == kMostKeys) {
      diagnostics_.error(key.origin, "", fmt::format("more than {} keys in one map", kMostKeys));
      throw GiveUp{};
    }
    top.drop = false;
    top.key = std::move(key.text);
    top.key_origin = std::move(key.origin);
  }

  Origin place_;
  Diagnostics& diagnostics_;
  Value root_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  std::size_t values_ = 0;
};

/// The bytes of the UTF-8 character that begins at `at` (RFC 3629); 0 where there is none.
std::size_t character_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(at);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xC2 && first < 0xE0   ? 2
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  const unsigned second = byte(at + 1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool beyond = (first == 0xED && second >= 0xA0) || (first == 0xF4 && second >= 0x90);  // surrogates, U+110000
  return overlong || beyond ? 0 : length;
}

// YAML forbids both, but the parser lets them through into values.
bool has_bad_character(std::string_view text, const Origin& place, Diagnostics& diagnostics) {
  Origin o = place;
  o.line = 1;
  o.column = 1;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t length = character_length(text, i);
    if (is_control(text[i])) {
      diagnostics.error(o, "", fmt::format("control character 0x{:02X} in the text", byte));
      return true;
    }
    if (length == 0) {
      diagnostics.error(o, "", fmt::format("byte 0x{:02X} in the text; a scenario is UTF-8", byte));
      return true;
    }
    if (text[i] == '\n') {
      ++o.line;
      o.column = 1;
    } else {
      ++o.column;
    }
    i += length;
  }
  return false;
}

}  // namespace

std::string read_text(const std::filesystem::path& file, const SizeLimit& limit) {
  std::error_code ec;
  if (std::filesystem::is_directory(file, ec))
    throw sim::InputError{fmt::format("{}: is a directory, not a file", file.string())};
  std::ifstream in{file, std::ios::binary};
  if (!in) throw sim::InputError{fmt::format("{}: cannot be read: {}", file.string(), std::strerror(errno))};
  std::string text;
  std::vector<char> block(65536);
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0) {
    text.append(block.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > limit.bytes) {
      const auto size = std::filesystem::is_regular_file(file, ec) ? std::filesystem::file_size(file, ec) : text.size();
      throw sim::InputError{fmt::format("{}: {} bytes; {} may have at most {} bytes ({})", file.string(), size, limit.what,
                                        limit.bytes, limit.human)};
    }
  }
  return text;
}

Value read_yaml(std::string_view text, const Origin& place, Diagnostics& diagnostics) {
  if (has_bad_character(text, place, diagnostics)) return {};
  std::istringstream in{std::string{text}};
  TreeBuilder builder{place, diagnostics};
  try {
    YAML::Parser parser{in};
    if (!parser.HandleNextDocument(builder)) {
      Value nothing;
      nothing.origin = place;
      return nothing;
    }
    Value root = builder.take();
    TreeBuilder rest{place, diagnostics};
    if (parser.HandleNextDocument(rest)) {
      diagnostics.error(place, "", "more than one YAML document ('---'); a scenario is one");
    }
    return root;
  } catch (const GiveUp&) {
    return {};
  } catch (const YAML::Exception& e) {
    Origin o = place;
    o.line = e.mark.is_null() ? 0 : static_cast<std::uint32_t>(e.mark.line + 1);
    o.column = e.mark.is_null() ? 0 : static_cast<std::uint32_t>(e.mark.column + 1);
    diagnostics.error(o, "", fmt::format("not valid YAML: {}", e.msg));
    return {};
  }
}

}  // namespace traingraph::scenarios
