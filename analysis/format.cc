#include "analysis/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace traingraph::analysis {
namespace {

/// Four significant digits; whole above 9,999. In exponent form only below 0.0001.
std::string four_digits(double v) {
  const double size = std::abs(v);
  if (size == 0) return "0";
  if (size < 1e-4) return fmt::format("{:.4g}", v);
  if (size >= 9999.5) return fmt::format("{}{}", v < 0 ? "-" : "", fmt::group_digits(std::llround(size)));
  const int before = static_cast<int>(std::floor(std::log10(size))) + 1;
  std::string text = fmt::format("{:.{}f}", v, std::max(0, 4 - std::max(1, before)));
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string scaled(double v, const std::string& unit) {
  constexpr std::array<const char*, 7> kPrefixes{"", "k", "M", "G", "T", "P", "E"};
  std::size_t p = 0;
  while (std::abs(v) >= 999.95 && p + 1 < kPrefixes.size()) {
    v /= 1000;
    ++p;
  }
  const std::string suffix = kPrefixes[p] + unit;
  return suffix.empty() ? four_digits(v) : four_digits(v) + " " + suffix;
}

}  // namespace

std::string human_time(sim::Duration d) {
  struct Unit {
    double ps;
    const char* name;
  };
  constexpr std::array<Unit, 5> kUnits{{{1e12, "s"}, {1e9, "ms"}, {1e6, "us"}, {1e3, "ns"}, {1, "ps"}}};
  const double ps = static_cast<double>(d.count_ps());
  if (ps == 0) return "0 s";
  for (const Unit& unit : kUnits) {
    if (std::abs(ps) >= 0.99995 * unit.ps) return four_digits(ps / unit.ps) + " " + unit.name;
  }
  return four_digits(ps) + " ps";
}

std::string human_bytes(double bytes) { return scaled(bytes, "B"); }
std::string human_rate(double bytes_per_s) { return scaled(bytes_per_s, "B/s"); }
std::string human_count(double n) { return scaled(n, ""); }
std::string human_words(double n) {
  constexpr std::array<std::pair<double, const char*>, 4> kWords{
      {{1e15, "quadrillion"}, {1e12, "trillion"}, {1e9, "billion"}, {1e6, "million"}}};
  for (const auto& [size, word] : kWords) {
    if (std::abs(n) >= 0.99995 * size) return four_digits(n / size) + " " + word;
  }
  return four_digits(n);
}

std::string percent(double fraction) { return fmt::format("{:.1f} %", 100 * fraction); }

std::string with_thousands(std::uint64_t n) { return fmt::format("{}", fmt::group_digits(n)); }

std::string counted(std::uint64_t n, const std::string& noun) {
  return with_thousands(n) + " " + noun + (n == 1 ? "" : "s");
}

}  // namespace traingraph::analysis
