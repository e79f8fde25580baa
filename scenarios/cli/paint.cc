#include "scenarios/cli/paint.h"

namespace traingraph::scenarios::cli {
namespace {

constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kDim = "\x1b[2m";
constexpr std::string_view kReset = "\x1b[0m";

std::string painted(std::string_view code, std::string_view text) {
  return std::string{code} + std::string{text} + std::string{kReset};
}

/// Calls paint(line) for every line, its end left out, and joins what it returns.
template <class Paint>
std::string by_line(std::string_view text, Paint paint) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    out += paint(text.substr(0, end));
    if (end == std::string_view::npos) break;
    out += '\n';
    text.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace

std::string paint_summary(std::string_view text) {
  bool first = true;
  return by_line(text, [&first](std::string_view line) {
    const bool heading = first && !line.empty();
    first = line.empty();
    return heading || line.starts_with("* ") ? painted(kBold, line) : std::string{line};
  });
}

std::string paint_yaml(std::string_view text) {
  return by_line(text, [](std::string_view line) {
    const std::size_t comment = line.starts_with('#') ? 0 : line.find("  # ");
    if (comment == std::string_view::npos) return std::string{line};
    return std::string{line.substr(0, comment)} + painted(kDim, line.substr(comment));
  });
}

}  // namespace traingraph::scenarios::cli
