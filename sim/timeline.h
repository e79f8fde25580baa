// Timeline: a Template compiled for playing: its operations sorted by stream, and runs of compute operations that nothing
// can interrupt joined, so that one event plays a whole run (between two collectives of a transformer layer stand some
// fifteen kernels).
//
// An operation joins the run of its predecessor when both are compute operations, it has no dependencies of its own, and no
// operation waits for the predecessor alone. Operations keep their identity: traces and time splits list each of them.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/program.h"
#include "sim/units.h"

namespace traingraph::sim {

class Timeline {
 public:
  Timeline(const Template& role, const std::vector<Duration>& durations);

  [[nodiscard]] std::uint32_t streams() const { return static_cast<std::uint32_t>(first_.size() - 1); }
  [[nodiscard]] std::uint32_t length(std::uint32_t stream) const { return first_[stream + 1] - first_[stream]; }
  /// The operation at a position of a stream, as an index into the template's ops.
  [[nodiscard]] std::uint32_t op_at(std::uint32_t stream, std::uint32_t position) const {
    return order_[first_[stream] + position];
  }
  /// One past the last position of the run that begins at `position`.
  [[nodiscard]] std::uint32_t run_end(std::uint32_t stream, std::uint32_t position) const {
    return run_end_[first_[stream] + position];
  }
  /// Unscaled duration of positions [begin, end) of a stream.
  [[nodiscard]] Duration duration(std::uint32_t stream, std::uint32_t begin, std::uint32_t end) const {
    return prefix_[first_[stream] + stream + end] - prefix_[first_[stream] + stream + begin];
  }

 private:
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> run_end_;
  std::vector<Duration> prefix_;  // one more entry per stream than order_
};

}  // namespace traingraph::sim
