#include "analysis/pipeline_bound.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sim/error.h"
#include "workloads/pipeline_map.h"
#include "workloads/schedule.h"

namespace traingraph::analysis {
namespace {

using sim::Duration;
using workloads::Pass;
using workloads::PassKind;

Duration share(Duration d, std::uint32_t chunks) { return Duration::ps(d.count_ps() / chunks); }

Duration deferred(const workloads::PipelineFacts& p, std::uint32_t stage) {
  return p.after_hand_off.empty() ? Duration{} : p.after_hand_off[stage];
}

/// Plays the passes of all stages, each as early as it can.
class Schedule {
 public:
  explicit Schedule(const workloads::PipelineFacts& p)
      : p_{p},
        map_{kind(p), p.stages, p.chunks},
        forward_done_(std::size_t{map_.positions()} * p.microbatches, kNever),
        backward_done_(forward_done_.size(), kNever) {
    for (std::uint32_t s = 0; s < p.stages; ++s) {
      passes_.push_back(workloads::passes_of_stage(kind(p), {p.stages, p.microbatches, p.chunks}, s));
    }
  }

  [[nodiscard]] Duration play() {
    std::vector<std::size_t> next(p_.stages, 0);
    std::vector<Duration> free(p_.stages);
    for (bool moved = true; moved;) {
      moved = false;
      for (std::uint32_t s = 0; s < p_.stages; ++s) {
        while (next[s] < passes_[s].size() && play(s, passes_[s][next[s]], free[s])) {
          ++next[s];
          moved = true;
        }
      }
    }
    for (std::uint32_t s = 0; s < p_.stages; ++s) SIM_ASSERT(next[s] == passes_[s].size(), "a schedule can be played");
    return *std::max_element(free.begin(), free.end());
  }

 private:
  static constexpr Duration kNever = Duration::max();

  static workloads::ScheduleKind kind(const workloads::PipelineFacts& p) {
    return p.schedule == "gpipe" ? workloads::ScheduleKind::gpipe : workloads::ScheduleKind::one_f_one_b;
  }
  [[nodiscard]] std::size_t at(std::uint32_t position, std::uint32_t microbatch) const {
    return std::size_t{position} * p_.microbatches + microbatch;
  }

  /// False when the pass's input is not there yet.
  bool play(std::uint32_t s, const Pass& pass, Duration& free) {
    const std::uint32_t position = map_.position(s, pass.chunk);
    const bool forward = pass.kind == PassKind::forward;
    Duration input;
    if (forward && position > 0) input = forward_done_[at(position - 1, pass.microbatch)];
    if (!forward && position + 1 < map_.positions()) input = backward_done_[at(position + 1, pass.microbatch)];
    if (input == kNever) return false;
    const Duration start = std::max(free, input);
    const Duration end = start + share(forward ? p_.forward[s] : p_.backward[s], p_.chunks);
    (forward ? forward_done_ : backward_done_)[at(position, pass.microbatch)] = end;
    free = forward ? end : end + share(deferred(p_, s), p_.chunks);
    return true;
  }

  const workloads::PipelineFacts& p_;
  workloads::PipelineMap map_;
  std::vector<std::vector<Pass>> passes_;  // by stage
  // By position of the model and micro-batch.
  std::vector<Duration> forward_done_, backward_done_;
};

/// Unequal chunks, of which the first of each stage is known.
Duration by_first_chunks(const workloads::PipelineFacts& p) {
  SIM_ASSERT(p.first_chunk.size() == p.stages, "a pipeline knows its first chunks");
  const std::int64_t m = p.microbatches;
  Duration best, before;
  for (std::uint32_t s = 0; s < p.stages; ++s) {
    const Duration own = m * (p.forward[s] + p.backward[s]), after = deferred(p, s);
    best = std::max({best, own + m * after, before + own + (m - 1) * after});
    before += p.first_chunk[s];
  }
  return best;
}

}  // namespace

std::optional<PipelineBound> pipeline_bound(const workloads::PipelineFacts& p) {
  if (p.stages < 2 || (p.schedule != "1f1b" && p.schedule != "gpipe")) return std::nullopt;
  SIM_ASSERT(p.forward.size() == p.stages && p.backward.size() == p.stages, "a pipeline knows every stage's kernels");
  PipelineBound bound;
  Duration most;
  for (std::uint32_t s = 0; s < p.stages; ++s) {
    const Duration own = p.forward[s] + p.backward[s] + deferred(p, s);
    if (own > most) bound.stage = s;
    most = std::max(most, own);
  }
  bound.time = p.chunks == 1 || p.equal_chunks ? Schedule{p}.play() : by_first_chunks(p);
  return bound;
}

}  // namespace traingraph::analysis
