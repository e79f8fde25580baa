// Utilization against training compute, and where it starts to fall.
//
// Linear-scaling limit (arXiv 2411.01137): the compute at which utilization, relative to the largest that the GPU sustains,
// falls below 80 %. Since the number of GPUs is a power of two the curve is a sawtooth: it may fall below more than once, so
// there is a first and a last crossing. They are found on the grid x = log10 C = lo, lo + 0.05, ...; at each fall from
// u(x-0.05) >= 0.8 to u(x) < 0.8 the crossing is x - 0.05 (0.8 - u(x))/(u(x-0.05) - u(x)). The scan ends after 10 points in
// a row below 0.8, or at x = 36.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/theory/search.h"

namespace traingraph::analysis::theory {

inline constexpr double kLinearUtilization = 0.8;
inline constexpr double kScanStep = 0.05;
inline constexpr double kScanEnd = 36;

struct CurvePoint {
  double log10_compute = 0;
  ScaledRun run;
  std::optional<FoundLayout> found;  ///< nothing: no number of GPUs finishes in time

  [[nodiscard]] double compute() const { return run.compute; }
  /// rel, or 0 where nothing was found.
  [[nodiscard]] double relative() const { return found ? found->times.relative : 0; }
};

using Curve = std::vector<CurvePoint>;

/// The best layout at each of `log10_compute`. `neighbour`, a curve of a similar assumption set over the same computes (or
/// their beginning), makes it faster and changes nothing.
[[nodiscard]] Curve utilization_curve(const LayoutSearch& search, std::span<const double> log10_compute,
                                      const Curve& neighbour = {});

/// `count` values from `first` in steps of `step`.
[[nodiscard]] std::vector<double> grid(double first, double step, std::size_t count);

struct LinearLimit {
  /// log10 FLOP of the crossings. Infinite: still at least 80 % at 10^36 FLOP. Nothing: below 80 % at the start already.
  std::optional<double> first;
  std::optional<double> last;
  Curve scanned;  ///< the grid points that were looked at
};

/// `lo` is log10 of the smallest compute looked at.
[[nodiscard]] LinearLimit linear_scaling_limit(const LayoutSearch& search, double lo, const Curve& neighbour = {});

}  // namespace traingraph::analysis::theory
