// What would move the limits: each input of the model halved and doubled, everything else as it is.
//
//   d log(limit) / d log(x) ~ [log limit(f x) - log limit(x/f)] / (2 log f)
//
// with f = 2, except where doubling makes no sense (the sustained share of the clock: 1.1). The steps are this wide because
// the number of GPUs is a power of two and the utilization a sawtooth: a small step would measure a tooth.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/theory/limits.h"

namespace traingraph::analysis::theory {

struct Elasticity {
  double below_log10 = 0;  ///< the limit with the input divided by f
  double above_log10 = 0;  ///< the limit with the input times f
  double slope = 0;        ///< d log(limit) / d log(input)
};

struct InputSensitivity {
  std::string input;                 ///< "gpu.network[1].bandwidth", "tokens_per_param"
  double factor = 2;                 ///< f
  std::optional<Elasticity> linear;  ///< of the linear-scaling limit (first crossing); nothing where one of the two has none
  std::optional<Elasticity> wall;    ///< of the latency wall
};

/// Every numeric input that is not 0 or infinite, in the order of the documentation.
[[nodiscard]] std::vector<InputSensitivity> limits_sensitivity(const Limits& base);

}  // namespace traingraph::analysis::theory
