#include "workloads/zero_bubble.h"

#include <algorithm>
#include <array>

namespace traingraph::workloads {
namespace {

// Passes of two chunks, each kind in ascending order of micro-batches.
class VWriter {
 public:
  void forward(std::uint32_t chunk) { add(PassKind::forward, forwards_[chunk]++, chunk); }
  void input_gradient(std::uint32_t chunk) { add(PassKind::input_gradient, inputs_[chunk]++, chunk); }
  void weight_gradient(std::uint32_t chunk) { add(PassKind::weight_gradient, weights_[chunk]++, chunk); }
  void backward(std::uint32_t chunk) {
    input_gradient(chunk);
    weight_gradient(chunk);
  }
  [[nodiscard]] std::uint32_t forwards(std::uint32_t chunk) const { return forwards_[chunk]; }
  [[nodiscard]] bool owes_weights(std::uint32_t chunk) const { return weights_[chunk] < inputs_[chunk]; }

  [[nodiscard]] std::vector<Pass> take(std::uint32_t microbatches) {
    std::erase_if(passes_, [&](const Pass& p) { return p.microbatch >= microbatches; });
    return std::move(passes_);
  }

 private:
  void add(PassKind kind, std::uint32_t microbatch, std::uint32_t chunk) { passes_.push_back({kind, microbatch, chunk}); }

  std::vector<Pass> passes_;
  std::array<std::uint32_t, 2> forwards_{}, inputs_{}, weights_{};
};

}  // namespace

std::vector<Pass> zb_h1_passes(std::uint32_t stages, std::uint32_t microbatches, std::uint32_t stage) {
  const std::uint32_t ahead = std::min(microbatches, stages - 1 - stage);
  std::vector<Pass> passes;
  passes.reserve(std::size_t{3} * microbatches);
  for (std::uint32_t m = 0; m < ahead; ++m) passes.push_back({PassKind::forward, m});
  for (std::uint32_t m = 0; m < microbatches; ++m) {
    if (ahead + m < microbatches) passes.push_back({PassKind::forward, ahead + m});
    passes.push_back({PassKind::input_gradient, m});
    if (m >= stage) passes.push_back({PassKind::weight_gradient, m - stage});
  }
  const std::uint32_t done = microbatches > stage ? microbatches - stage : 0;
  for (std::uint32_t m = done; m < microbatches; ++m) passes.push_back({PassKind::weight_gradient, m});
  return passes;
}

std::vector<Pass> zb_v_passes(std::uint32_t stages, std::uint32_t microbatches, std::uint32_t stage) {
  const std::uint32_t full = std::max(2 * stages - 1, microbatches);
  const std::uint32_t behind = stages - stage;
  VWriter w;
  for (std::uint32_t i = 0; i + 1 < 2 * behind; ++i) w.forward(0);
  for (std::uint32_t i = 0; i < stage; ++i) {
    w.forward(1);
    w.forward(0);
  }
  for (std::uint32_t i = 0; i < behind; ++i) {
    w.forward(1);
    w.backward(1);
  }
  while (w.forwards(1) < full) {
    if (w.forwards(0) < full) w.forward(0);
    w.backward(0);
    w.forward(1);
    w.backward(1);
  }
  for (std::uint32_t i = 0; i < stage; ++i) {
    w.input_gradient(0);
    w.input_gradient(1);
  }
  for (std::uint32_t i = 0; i < behind; ++i) w.backward(0);
  while (w.owes_weights(1)) w.weight_gradient(1);
  while (w.owes_weights(0)) w.weight_gradient(0);
  return w.take(microbatches);
}

}  // namespace traingraph::workloads
