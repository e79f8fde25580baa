// What one pipeline stage of a transformer holds, and the slots that its ranks have.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/error.h"
#include "workloads/layer_kernels.h"
#include "workloads/workload_spec.h"

namespace traingraph::workloads {

/// What a slot of a stage's ranks stands for. Hand-offs with the next stage, and those of the opposite direction ("up":
/// forward to the previous stage), which V-shaped and bidirectional pipelines have too (pipeline_map.h).
enum class SlotUse : std::uint8_t {
  tp,
  cp,
  dp,         ///< all copies of the stage's parameters
  shard,      ///< hybrid sharding: the ranks that share one copy of the sharded states
  replicas,   ///< hybrid sharding: the ranks that hold the same shard
  ep,         ///< the ranks that share one copy of the experts
  ep_rail,    ///< node-limited routing: of those, the ranks of the same place in their domains
  ep_node,    ///< and the ranks of one domain
  edp,        ///< all copies of the stage's experts
  gather,     ///< ZeRO-3: the group over which parameters are sharded, for their gathers alone
  norm,       ///< everybody who has a part of the gradient norm
  embedding,  ///< first and last stage, tied embedding
  forward_send,
  forward_receive,
  backward_send,
  backward_receive,
  forward_send_up,
  forward_receive_up,
  backward_send_up,
  backward_receive_up,
};

class StageSlots {
 public:
  void add(SlotUse use) { uses_.push_back(use); }
  [[nodiscard]] bool has(SlotUse use) const { return std::find(uses_.begin(), uses_.end(), use) != uses_.end(); }
  [[nodiscard]] std::uint16_t operator[](SlotUse use) const {
    const auto found = std::find(uses_.begin(), uses_.end(), use);
    SIM_ASSERT(found != uses_.end(), "a stage uses the slots that it has");
    return static_cast<std::uint16_t>(found - uses_.begin());
  }
  [[nodiscard]] const std::vector<SlotUse>& uses() const { return uses_; }

 private:
  std::vector<SlotUse> uses_;
};

/// Consecutive layers of the model; the first position has the embedding too, the last one the head.
struct ChunkShape {
  std::uint32_t position = 0;
  std::uint32_t first_layer = 0;
  std::uint32_t layers = 0;
  std::uint32_t moe_layers = 0;  ///< of the layers, those with experts
  bool embedding = false;
  bool head = false;
};

struct StageShape {
  std::uint32_t stage = 0;
  std::vector<ChunkShape> chunks;
  std::uint32_t norm_members = 1;  ///< ranks over which the gradient norm is summed

  [[nodiscard]] std::uint32_t layers() const {
    std::uint32_t sum = 0;
    for (const ChunkShape& c : chunks) sum += c.layers;
    return sum;
  }
  [[nodiscard]] bool has_embedding() const {
    return std::any_of(chunks.begin(), chunks.end(), [](const ChunkShape& c) { return c.embedding; });
  }
  [[nodiscard]] bool has_head() const {
    return std::any_of(chunks.begin(), chunks.end(), [](const ChunkShape& c) { return c.head; });
  }
  [[nodiscard]] std::uint32_t moe_layers() const {
    std::uint32_t sum = 0;
    for (const ChunkShape& c : chunks) sum += c.moe_layers;
    return sum;
  }
};

/// Whether a layer, counted from its chunk's first, is run again before its backward.
[[nodiscard]] inline bool is_recomputed(const TransformerSpec& spec, std::uint32_t layer_of_chunk) {
  return spec.recompute != Recompute::none && (!spec.recompute_layers || layer_of_chunk < *spec.recompute_layers);
}

/// Stages of the layout, in order; throws as check_transformer.
[[nodiscard]] std::vector<StageShape> stage_shapes(const TransformerSpec& spec);

/// Layers of each position of the model (pipeline_map.h), one stage's each without virtual stages; throws as
/// check_transformer.
[[nodiscard]] std::vector<std::uint32_t> layers_of_positions(const TransformerSpec& spec);

/// M; in a bidirectional pipeline half of them enter at either end.
[[nodiscard]] std::uint32_t microbatches_of_replica(const TransformerSpec& spec);

/// Parameters that one GPU of the stage holds when nothing is sharded over data-parallel ranks.
struct StageParameters {
  double dense = 0;    ///< all but the experts
  double experts = 0;  ///< of the local experts
  [[nodiscard]] double total() const { return dense + experts; }
};
[[nodiscard]] StageParameters stage_parameters(const LayerKernels& kernels, const StageShape& shape);

}  // namespace traingraph::workloads
