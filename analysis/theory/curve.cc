#include "analysis/theory/curve.h"

#include <cmath>
#include <limits>

namespace traingraph::analysis::theory {
namespace {

constexpr double kBase = 10;

CurvePoint point_at(const LayoutSearch& search, double x, const Curve& before, const Curve& neighbour) {
  std::vector<Layout> incumbents;
  if (!before.empty() && before.back().found) incumbents.push_back(before.back().found->layout);
  const std::size_t index = before.size();
  if (index < neighbour.size() && neighbour[index].found) incumbents.push_back(neighbour[index].found->layout);
  const double compute = std::pow(kBase, x);
  return {x, search.run(compute), search.best(compute, incumbents)};
}

}  // namespace

std::vector<double> grid(double first, double step, std::size_t count) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(first + step * static_cast<double>(i));
  return values;
}

Curve utilization_curve(const LayoutSearch& search, std::span<const double> log10_compute, const Curve& neighbour) {
  Curve curve;
  for (const double x : log10_compute) curve.push_back(point_at(search, x, curve, neighbour));
  return curve;
}

LinearLimit linear_scaling_limit(const LayoutSearch& search, double lo, const Curve& neighbour) {
  constexpr int kEnough = 10;        // points in a row below the line
  constexpr double kHalfStep = 0.5;  // of the grid: sums of steps are not exact
  LinearLimit limit;
  int below = 0;
  for (int i = 0; below < kEnough; ++i) {
    const double x = lo + kScanStep * i;
    if (x > kScanEnd + kHalfStep * kScanStep) break;
    limit.scanned.push_back(point_at(search, x, limit.scanned, neighbour));
    const double u = limit.scanned.back().relative();
    below = u < kLinearUtilization ? below + 1 : 0;
    if (i == 0 && below > 0) return limit;
    if (below != 1) continue;
    const double before = limit.scanned[limit.scanned.size() - 2].relative();
    limit.last = x - kScanStep * (kLinearUtilization - u) / (before - u);
    if (!limit.first) limit.first = limit.last;
  }
  if (below == 0) limit.last = std::numeric_limits<double>::infinity();
  if (!limit.first) limit.first = limit.last;
  return limit;
}

}  // namespace traingraph::analysis::theory
