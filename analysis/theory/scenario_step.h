// The closed-form step model at a scenario's own layout, on the two-level abstraction of its fabric: what the theory says of
// the step that a simulation plays.
//
// linear_blocks is the model's own workload: layout, widths, microbatches and batch are taken as they are. A transformer is
// seen as such blocks: d its hidden size, ff such that 2 d ff are the weights of a layer, B its batch in tokens, TF its
// tensor-parallel degree; attention scores, embeddings, pointwise work and recomputation are not counted. Ranks fill the
// inner level in the order of the layout.
//
// Collectives of full-duplex links: a ring or direct all-reduce moves 4 words per word (ar_words = 4 with both directions of
// a port added), one in the switch 2p/(p-1); its latency is that of 2(p-1) steps (ring) or of 2.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/theory/step_model.h"
#include "topology/cluster_spec.h"
#include "workloads/hardware_spec.h"
#include "workloads/workload_spec.h"

namespace traingraph::analysis::theory {

struct ScenarioStep {
  StepTimes hidden;   ///< all communication of other microbatches hides behind arithmetic
  StepTimes exposed;  ///< none does
  std::size_t levels = 0;
  Degrees degrees;
  Gpu gpu;
};

struct ScenarioStepAnswer {
  std::optional<ScenarioStep> step;
  std::string why_not;  ///< what the model cannot say anything about
};

/// `ranks`: GPUs that the workload uses; a layout of another number of GPUs has dimensions that the model does not see.
[[nodiscard]] ScenarioStepAnswer scenario_step(const topology::ClusterSpec& cluster, const workloads::HardwareSpec& hardware,
                                               const workloads::WorkloadSpec& workload, std::uint64_t ranks);

}  // namespace traingraph::analysis::theory
