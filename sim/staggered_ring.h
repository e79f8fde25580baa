// StaggeredRing: a ring collective whose members enter at different instants, on links that it has to itself, without one
// event per transfer.
//
// Every lane has a constant rate, so a transfer takes `overhead + drain` until it has left the wire and `latency` more until
// it has arrived, and the step rules (transfer_source.h) are a recursion over the numbers of the sends. With e(i) the entry
// of member i, p the predecessor in the ring, and send s of member i posted at
//     begin(i, s) = max(e(i), left(i, s-1), arrived(p(i), s-1))           (stop and wait: arrived(i, s-1) for left(i, s-1))
//     left(i, s)  = begin(i, s) + overhead + drain,    arrived(i, s) = left(i, s) + latency,
// member i ends at max(left(i, S-1), arrived(p(i), S-1)): the max-plus form of the ring. In integer picoseconds this is what
// the event loop computes, to the bit. (Max-plus algebra of such systems: Baccelli, Cohen, Olsder, Quadrat, "Synchronization
// and Linearity", 1992.)
//
// With S >= N-1 sends, N members, nobody ends before all have entered: the end of i waits for the send S-1 of p(i), which
// waits for the send S-2 of p(p(i)), and so on through every member. So nothing of the collective need be known before its
// last member enters; and a member may be at most one call ahead of another, if all calls are of this kind.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/clock_range.h"
#include "sim/transfer_source.h"
#include "sim/units.h"

namespace traingraph::sim {

class StaggeredRing {
 public:
  /// What each send costs: the same for all.
  struct Costs {
    Duration overhead;
    Duration drain;
    Duration latency;
  };
  /// One send as it happened.
  struct SendTimes {
    std::uint32_t lane = 0;  ///< and member
    Time begin;
    Time left;
    Time arrived;
  };

  /// The ring that the source describes; nothing when it is not a ring of one lane a member. O(N S).
  [[nodiscard]] static std::optional<StaggeredRing> of(const TransferSource& source);

  [[nodiscard]] std::uint32_t members() const { return static_cast<std::uint32_t>(predecessor_.size()); }
  [[nodiscard]] std::uint32_t sends() const { return sends_; }

  /// Plays the ring: calls each(const SendTimes&) for every send, a lane's sends in order, and returns the end of each
  /// member. Throws InputError beyond the clock. O(N S).
  template <class Each>
  [[nodiscard]] std::vector<Time> play(std::span<const Time> entries, const Costs& costs, Each&& each) const;

 private:
  StaggeredRing() = default;
  void check_clock(std::span<const Time> entries, const Costs& costs) const;

  std::vector<std::uint32_t> predecessor_;
  std::uint32_t sends_ = 0;
  bool stop_and_wait_ = false;
};

template <class Each>
std::vector<Time> StaggeredRing::play(std::span<const Time> entries, const Costs& costs, Each&& each) const {
  check_clock(entries, costs);
  const std::size_t n = predecessor_.size();
  std::vector<Time> free{entries.begin(), entries.end()};  // when the lane's next send may begin, as far as itself goes
  std::vector<Time> brought(n);                            // arrived(i, s-1)
  std::vector<Time> bringing(n);                           // arrived(i, s)
  for (std::uint32_t s = 0; s < sends_; ++s) {
    for (std::uint32_t i = 0; i < n; ++i) {
      const Time begin = s == 0 ? free[i] : std::max(free[i], brought[predecessor_[i]]);
      const Time left = begin + costs.overhead + costs.drain;
      bringing[i] = left + costs.latency;
      free[i] = stop_and_wait_ ? bringing[i] : left;
      each(SendTimes{i, begin, left, bringing[i]});
    }
    std::swap(brought, bringing);
  }
  for (std::uint32_t i = 0; i < n; ++i) {
    const Time left = brought[i] - costs.latency;
    bringing[i] = std::max(left, brought[predecessor_[i]]);
  }
  return bringing;
}

}  // namespace traingraph::sim
