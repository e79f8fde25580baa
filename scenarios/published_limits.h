// What the paper of the closed-form model publishes, beside what the model here gives.
#pragma once

#include <string>
#include <vector>

namespace traingraph::scenarios {

enum class LimitQuantity {
  linear_limit,       ///< FLOP at which utilization first falls below 80 %
  linear_limit_gain,  ///< that limit over the H100's
  latency_wall,       ///< FLOP
  gpus,               ///< of the best layout at `compute`
  data_parallel,
  pipeline_parallel,
  tensor_parallel,  ///< both dimensions together
};
enum class LimitRelation { about, at_most };

struct PublishedLimit {
  std::string claim;
  std::string gpu;  ///< a preset of scenarios/presets/theory
  LimitQuantity quantity = LimitQuantity::linear_limit;
  double compute = 0;  ///< FLOP, for what a layout is asked for
  LimitRelation relation = LimitRelation::about;
  double published = 0;
  std::string source;
  double here = 0;  ///< this model; 0 where it has none

  [[nodiscard]] double ratio() const { return here / published; }
};

/// Every published result that is shipped (scenarios/presets/published), with the model's own value.
[[nodiscard]] std::vector<PublishedLimit> published_limits();

}  // namespace traingraph::scenarios
