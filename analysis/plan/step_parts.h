// What of a layout's costs depends on (tp, cp, ep, sequence_parallel, micro_batch) only; StepBound's own.
#pragma once

#include <array>

#include "analysis/plan/step_bound.h"

namespace traingraph::analysis::plan {

struct StepBound::Parts {
  ModelParts costs;
  // Bytes of a layer, by recomputation (none, selective, full): kept from forward to backward.
  std::array<double, 3> stored_layer{}, stored_moe{};
  double pending_layer = 0, pending_moe = 0;  // kept from the input gradient to the weight gradient
  double logits = 0;
};

}  // namespace traingraph::analysis::plan
