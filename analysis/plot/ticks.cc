#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "analysis/plot/plot.h"

namespace traingraph::analysis::plot {
namespace {

constexpr double kBase = 10;

std::string superscript(int number) {
  constexpr std::string_view kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text;
  for (const char c : fmt::format("{}", number)) text += c == '-' ? "⁻" : kDigits[c - '0'];
  return text;
}

std::vector<double> decades(AxisRange range) {
  constexpr double kMost = 12;  // labels that fit side by side
  const double low = std::ceil(std::log10(range.low) - 1e-9);
  const double high = std::floor(std::log10(range.high) + 1e-9);
  const double stride = std::max(1.0, std::ceil((high - low) / kMost));
  std::vector<double> values;
  for (double e = low; e <= high; e += stride) values.push_back(std::pow(kBase, e));
  return values;
}

std::vector<double> round_steps(AxisRange range) {
  constexpr double kAbout = 6;  // ticks
  const double raw = (range.high - range.low) / kAbout;
  const double magnitude = std::pow(kBase, std::floor(std::log10(raw)));
  double step = magnitude;
  for (const double nice : {1.0, 2.0, 5.0, 10.0}) {
    step = nice * magnitude;
    if (step >= raw) break;
  }
  std::vector<double> values;
  const double slack = step * 1e-9;
  for (double i = std::ceil((range.low - slack) / step); i * step <= range.high + slack; ++i) {
    values.push_back(i == 0 ? 0 : i * step);  // no negative zero
  }
  return values;
}

}  // namespace

std::vector<double> ticks(AxisRange range, Scale scale) {
  if (!(range.high > range.low)) return {range.low};
  return scale == Scale::logarithmic ? decades(range) : round_steps(range);
}

std::string tick_label(double value, Scale scale) {
  constexpr double kLargestPlain = 1000;
  constexpr double kSmallestPlain = 0.01;
  if (scale == Scale::linear || (value >= kSmallestPlain && value <= kLargestPlain)) return fmt::format("{:.6g}", value);
  return "10" + superscript(static_cast<int>(std::lround(std::log10(value))));
}

}  // namespace traingraph::analysis::plot
