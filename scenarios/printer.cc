#include "scenarios/printer.h"

#include <fmt/format.h>

#include <utility>

namespace traingraph::scenarios {

namespace {

constexpr std::size_t kCommentColumn = 48;

}  // namespace

void Printer::line(std::string_view content, std::string_view comment) {
  std::string indent(2 * depth_, ' ');
  if (dash_) {
    indent[indent.size() - 2] = '-';
    dash_ = false;
  }
  const std::string left = indent + std::string{content};
  out_ += comment.empty() ? left + "\n" : fmt::format("{:<{}}  # {}\n", left, kCommentColumn, comment);
}

std::string Printer::comment_for(const std::string& path) const {
  const auto it = provenance_.entries.find(path);
  if (it == provenance_.entries.end()) return "default";
  std::string text = to_string(it->second.origin);
  if (!it->second.source.empty()) text += "; " + it->second.source;
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';  // a comment is one line
  }
  return text;
}

void Printer::leaf(const Key& key, const Leaf& leaf) {
  const auto value = leaf.print();
  if (value) {
    line(fmt::format("{}: {}", key.name, *value), comment_for(joined(path_, key.name)));
  } else if (!key.if_absent.empty() && !dash_) {
    line(fmt::format("# {}: {}", key.name, key.if_absent), "");
  }
}

void Printer::leaves(const Key& key, const ListAccess& list, const ElementLeaf& element) {
  std::string items;
  for (std::size_t i = 0; i < list.size(); ++i) items += (i == 0 ? "" : ", ") + element(i).print().value_or("\"\"");
  line(fmt::format("{}: [{}]", key.name, items), comment_for(joined(path_, key.name)));
}

void Printer::group(const Key& key, const Body& body) {
  const std::size_t before = out_.size();
  const bool dash_before = dash_;
  line(fmt::format("{}:", key.name), "");
  const std::size_t header = out_.size();
  std::string outer = std::exchange(path_, joined(path_, key.name));
  ++depth_;
  body();
  --depth_;
  path_ = std::move(outer);
  if (out_.size() == header) {  // nothing is set in it
    out_.resize(before);
    dash_ = dash_before;
    line(fmt::format("{}: {{}}", key.name), "");
  }
}

void Printer::optional_group(const Key& key, bool present, const Body&, const Body& body) {
  if (present) {
    group(key, body);
  } else if (!key.if_absent.empty() && !dash_) {
    line(fmt::format("# {}: {}", key.name, key.if_absent), "");
  }
}

void Printer::groups(const Key& key, const ListAccess& list, const ElementBody& body) {
  if (list.size() == 0) return line(fmt::format("{}: []", key.name), comment_for(joined(path_, key.name)));
  line(fmt::format("{}:", key.name), "");
  const std::string outer = path_;
  ++depth_;
  ++depth_;
  for (std::size_t i = 0; i < list.size(); ++i) {
    path_ = fmt::format("{}[{}]", joined(outer, key.name), i);
    dash_ = true;
    body(i);
    if (std::exchange(dash_, false)) {  // an element with nothing set
      --depth_;
      line("- {}", "");
      ++depth_;
    }
  }
  --depth_;
  --depth_;
  path_ = outer;
}

void Printer::when(std::string_view, bool holds, const Body& body) {
  if (holds) body();
}

}  // namespace traingraph::scenarios
