#include "topology/import/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace traingraph::topology::imports {
namespace {

constexpr std::string_view kBlanks = " \t\r\f\v";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

void fail(const ImportFile& file, std::size_t line, std::size_t column, std::string_view text) {
  throw ImportError{fmt::format("{}:{}:{}: {}", file.name, line, column, text)};
}

std::vector<Word> Line::words() const {
  std::vector<Word> words;
  std::size_t begin = text.find_first_not_of(kBlanks);
  while (begin != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    words.push_back({text.substr(begin, end - begin), begin + 1});
    begin = text.find_first_not_of(kBlanks, end);
  }
  return words;
}

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back({line, number});
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  return lines;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string shown(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string out{text.substr(0, kLongest)};
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return fmt::format("'{}{}'", out, text.size() > kLongest ? "..." : "");
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::uint32_t> whole_number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::uint32_t expect_whole(const ImportFile& file, const Line& line, const Word& word, std::uint32_t least,
                           std::uint32_t most) {
  const auto value = whole_number(word.text);
  if (!value || *value < least || *value > most) {
    fail(file, line.number, word.column,
         fmt::format("found {}, allowed: a whole number from {} to {}", shown(word.text), least, most));
  }
  return *value;
}

}  // namespace traingraph::topology::imports
