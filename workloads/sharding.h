// Sharding: what data parallelism keeps whole and what it shards, in the terms of ZeRO (Rajbhandari et al. 2020) and PyTorch
// FSDP (Zhao et al. 2023).
//
//   stage  sharded                              communication of one step, P parameters, M micro-batches
//   0      nothing                              all-reduce of gradients
//   1      optimizer states                     reduce-scatter of gradients, all-gather of parameters
//   2      and gradients                        the same, but a reduce-scatter after each micro-batch's backward
//   3      and parameters (FSDP full shard)     all-gather of each unit before its forward, and again before its backward
//   when it
//                                               is resharded after forward; reduce-scatter of each unit's gradients after
//                                               its backward. A unit is the embedding, a layer or the head.
//
// Hybrid sharding (HSDP): states are sharded over a group of `shards` ranks and replicated over groups; gradients are
// reduce-scattered inside a group and the shards all-reduced over the groups.
#pragma once

#include <cstdint>

#include "workloads/workload_spec.h"

namespace traingraph::workloads {

struct Sharding {
  std::uint32_t stage = 0;
  std::uint32_t replicas = 1;  ///< copies of each parameter when nothing is sharded: DP·CP, twice that if bidirectional
  std::uint32_t shards = 1;    ///< ranks that share one copy of the sharded states
  bool hybrid = false;         ///< 1 < shards < replicas
  std::uint32_t expert_replicas = 1;  ///< copies of each expert: replicas ÷ EP
  bool every_microbatch = false;      ///< gradients are reduced after each micro-batch, not once a step

  explicit Sharding(const ParallelSpec& spec);

  [[nodiscard]] double parameter_shards() const { return stage == 3 ? shards : 1; }
  [[nodiscard]] double gradient_shards() const { return stage >= 2 && every_microbatch ? shards : 1; }
  [[nodiscard]] double optimizer_shards() const { return shards; }
  /// Experts are sharded over their own copies, in stages 1 and 2.
  [[nodiscard]] double expert_gradient_shards() const { return stage >= 2 && every_microbatch ? expert_replicas : 1; }
  [[nodiscard]] double expert_optimizer_shards() const { return stage > 0 ? expert_replicas : 1; }
};

}  // namespace traingraph::workloads
