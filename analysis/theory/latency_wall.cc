#include "analysis/theory/latency_wall.h"

#include <cmath>
#include <limits>

namespace traingraph::analysis::theory {

double latency_wall(const LayoutSearch& search) {
  constexpr double kBase = 10;
  constexpr double kTolerance = 1e-7;
  double low = 24;
  double high = 40;
  if (search.feasible_without_pipeline(std::pow(kBase, high))) return std::numeric_limits<double>::infinity();
  if (!search.feasible_without_pipeline(std::pow(kBase, low))) return -std::numeric_limits<double>::infinity();
  while (high - low > kTolerance) {
    const double middle = (low + high) / 2;
    (search.feasible_without_pipeline(std::pow(kBase, middle)) ? low : high) = middle;
  }
  return low;
}

}  // namespace traingraph::analysis::theory
