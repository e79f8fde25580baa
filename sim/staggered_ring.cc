#include "sim/staggered_ring.h"

namespace traingraph::sim {

std::optional<StaggeredRing> StaggeredRing::of(const TransferSource& source) {
  const std::uint32_t n = source.members();
  if (n < 2 || source.lanes() != n || source.inboxes() != n || source.starts_together()) return std::nullopt;
  StaggeredRing ring;
  ring.sends_ = source.sends(0);
  ring.stop_and_wait_ = source.stop_and_wait();
  ring.predecessor_.assign(n, n);
  if (ring.sends_ + 1 < n) return std::nullopt;
  for (std::uint32_t i = 0; i < n; ++i) {
    if (source.first_lane(i) != i || source.first_inbox(i) != i || !source.uniform(i) || source.sends(i) != ring.sends_ ||
        source.expected(i) != ring.sends_)
      return std::nullopt;
    const Send send = source.send(i, 0);
    if (send.to_all || send.bytes.count() != source.send(0, 0).bytes.count() || send.inbox != send.destination ||
        ring.predecessor_[send.destination] != n)
      return std::nullopt;
    ring.predecessor_[send.destination] = i;
    if (source.needs(i, 0).size != 0) return std::nullopt;
    for (std::uint32_t s = 1; s < ring.sends_; ++s) {
      const Needs needs = source.needs(i, s);
      if (needs.size != 1 || needs.need[0].inbox != i || needs.need[0].count != s) return std::nullopt;
    }
  }
  std::uint32_t length = 1;  // of the cycle through member 0
  for (std::uint32_t i = ring.predecessor_[0]; i != 0; i = ring.predecessor_[i]) ++length;
  if (length != n) return std::nullopt;
  return ring;
}

void StaggeredRing::check_clock(std::span<const Time> entries, const Costs& costs) const {
  const double each = static_cast<double>(costs.overhead.count_ps()) + static_cast<double>(costs.drain.count_ps()) +
                      static_cast<double>(costs.latency.count_ps());
  const Time last = *std::max_element(entries.begin(), entries.end());
  if (static_cast<double>(last.count_ps()) + each * sends_ >= 9.2e18) beyond_clock();
}

}  // namespace traingraph::sim
