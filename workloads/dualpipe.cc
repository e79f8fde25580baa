#include "workloads/dualpipe.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace traingraph::workloads {
namespace {

// "Near" is the direction whose model begins in this stage's half, "far" the other one. Stages are mirrored: stage P-1-s
// does with chunk 1 what stage s does with chunk 0.
class DualWriter {
 public:
  DualWriter(std::uint32_t microbatches, bool second_half)
      : near_{second_half ? 1U : 0U}, far_{1 - near_}, forwards_{0, microbatches / 2}, backwards_{forwards_} {}

  void forward_near() { forward(near_, false); }
  void forward_far() { forward(far_, false); }
  void backward_near(bool split) { backward(near_, split); }
  void backward_far(bool split) { backward(far_, split); }
  void near_with_far() { pair(near_, far_); }
  void far_with_near() { pair(far_, near_); }
  // The weight gradient that has waited longest.
  void weight_gradient() { passes_.push_back(owed_[paid_++]); }

  [[nodiscard]] std::vector<Pass> take() { return std::move(passes_); }

 private:
  void forward(std::uint32_t chunk, bool paired) {
    passes_.push_back({PassKind::forward, forwards_[chunk]++, chunk, paired});
  }
  void backward(std::uint32_t chunk, bool split) {
    const std::uint32_t m = backwards_[chunk]++;
    passes_.push_back({split ? PassKind::input_gradient : PassKind::backward, m, chunk});
    if (split) owed_.push_back({PassKind::weight_gradient, m, chunk});
  }
  void pair(std::uint32_t forward_chunk, std::uint32_t backward_chunk) {
    forward(forward_chunk, true);
    backward(backward_chunk, false);
  }

  std::uint32_t near_, far_;
  std::array<std::uint32_t, 2> forwards_, backwards_;
  std::vector<Pass> passes_, owed_;
  std::size_t paid_ = 0;
};

}  // namespace

std::vector<Pass> dualpipe_passes(std::uint32_t stages, std::uint32_t microbatches, std::uint32_t stage) {
  const std::uint32_t half = stages / 2;
  const std::uint32_t depth = std::min(stage, stages - 1 - stage);  // from the nearer end
  const std::uint32_t to_middle = half - depth - 1;
  DualWriter w{microbatches, stage >= half};
  for (std::uint32_t i = 0; i < 2 * to_middle; ++i) w.forward_near();
  for (std::uint32_t i = 0; i <= depth; ++i) {
    w.forward_near();
    w.forward_far();
  }
  for (std::uint32_t i = 0; i < to_middle; ++i) {
    w.backward_far(true);
    w.weight_gradient();
    w.forward_far();
  }
  const std::uint32_t rounds = microbatches / 2 - stages + depth + 1;
  for (std::uint32_t i = 0; i < rounds; ++i) {
    if (i == 0 && to_middle == 0) {  // the middle stages do not pair their first backward: its gradient is awaited
      w.forward_near();
      w.backward_far(false);
    } else {
      w.near_with_far();
    }
    w.far_with_near();
  }
  for (std::uint32_t i = 0; i < to_middle; ++i) {
    w.backward_far(false);
    w.far_with_near();
  }
  const std::uint32_t last = depth + 1;  // of these, the second half is split
  for (std::uint32_t i = 0; i < last; ++i) {
    w.backward_far(i > last / 2 || (i == last / 2 && depth % 2 == 1));
    w.backward_near(i >= last / 2);
  }
  for (std::uint32_t i = 0; i < to_middle; ++i) {
    w.weight_gradient();
    w.backward_near(true);
  }
  for (std::uint32_t i = 0; i < last; ++i) w.weight_gradient();
  return w.take();
}

}  // namespace traingraph::workloads
