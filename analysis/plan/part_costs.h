// PartCosts: the least time of one micro-batch in one part of a transformer (embedding, layer, head) on one GPU, in terms
// that do not depend on where ranks are. They follow the same lists of kernels and collectives as the simulated program
// (workloads/layer_kernels.h).
//
// On a rank's stream of kernels, kernels follow one another, and so does every collective that the next kernel waits for: a
// part takes at least the sum of both. Collectives beside which the next kernel may run are left out. A host that launches
// kernels takes at least its own launches.
#pragma once

#include <array>
#include <cstdint>

#include "analysis/plan/plan_layout.h"
#include "workloads/hardware_spec.h"

namespace traingraph::analysis::plan {

/// One list of operations.
struct ListCost {
  double kernels = 0;                                        ///< s
  double tp_gathered = 0, tp_scattered = 0, tp_reduced = 0;  ///< full bytes of all-gathers, reduce-scatters, all-reduces
  double tp_gathers = 0, tp_scatters = 0, tp_reduces = 0;    ///< how many
  double cp_gathered = 0, cp_scattered = 0, cp_exchanged = 0, cp_passed_on = 0;
  double cp_gathers = 0, cp_scatters = 0, cp_exchanges = 0, cp_passes = 0;
  double ep_exchanged = 0, ep_exchanges = 0;
  double host = 0;  ///< s of launches

  ListCost& operator+=(const ListCost& other);
};

struct PartCosts {
  ListCost forward, backward, input_gradient, weight_gradient;
  ListCost recompute_selective, recompute_full;
  /// Collectives before the first kernel of what the backward begins with: they may run before the pass's input is there.
  ListCost first_of_backward, first_of_selective;
};

/// The parts of a layout's (tp, cp, ep, sequence_parallel, micro_batch); the other fields do not matter.
struct ModelParts {
  PartCosts layer, moe_layer, embedding, head;
};
[[nodiscard]] ModelParts model_parts(const workloads::TransformerSpec& base, const workloads::HardwareSpec& hardware,
                                     const PlanLayout& layout);

}  // namespace traingraph::analysis::plan
