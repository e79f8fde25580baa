#include "analysis/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace traingraph::analysis {
namespace {

/// Four significant digits, never in exponent form between 0 and 10,000.
std::string four_digits(double v) {
  const double size = std::abs(v);
  if (size == 0) return "0";
  if (size >= 9999.5 || size < 1e-4) return fmt::format("{:.4g}", v);
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
std::string percent(double fraction) { return fmt::format("{:.1f} %", 100 * fraction); }

std::string with_thousands(std::uint64_t n) {
  std::string digits = std::to_string(n);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

}  // namespace traingraph::analysis
