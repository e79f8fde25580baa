// Ring: members pass chunks of S/N to their successor; after N-1 steps every chunk has met every member (reduce-scatter or
// all-gather), after 2(N-1) every member has every reduced chunk (all-reduce). Patarasuk and Yuan, "Bandwidth optimal
// all-reduce algorithms for clusters of workstations", JPDC 2009. The bidirectional ring sends each half of the buffer
// around in its own direction.
//
// One lane and one inbox per member and direction; send s forwards what arrival s-1 brought.
#include "workloads/collectives/sources.h"

namespace traingraph::workloads::detail {
namespace {

class Ring final : public Source {
 public:
  Ring(const SourceBasics& basics, std::uint32_t directions, std::uint32_t steps, sim::Bytes chunk)
      : Source{basics}, n_{basics.members}, directions_{directions}, steps_{steps}, chunk_{chunk} {}

  [[nodiscard]] std::uint32_t lanes() const override { return n_ * directions_; }
  [[nodiscard]] std::uint32_t inboxes() const override { return n_ * directions_; }
  [[nodiscard]] std::uint32_t first_lane(std::uint32_t member) const override { return member * directions_; }
  [[nodiscard]] std::uint32_t first_inbox(std::uint32_t member) const override { return member * directions_; }
  [[nodiscard]] std::uint32_t sends(std::uint32_t) const override { return steps_; }
  [[nodiscard]] std::uint32_t expected(std::uint32_t) const override { return steps_; }
  [[nodiscard]] bool uniform(std::uint32_t) const override { return true; }

  [[nodiscard]] sim::Send send(std::uint32_t lane, std::uint32_t) const override {
    if (directions_ == 1) {
      const std::uint32_t next = lane + 1 == n_ ? 0 : lane + 1;
      return {.destination = next, .inbox = next, .bytes = chunk_};
    }
    const std::uint32_t member = lane >> 1;
    const bool backward = (lane & 1) != 0;
    const std::uint32_t next = backward ? (member == 0 ? n_ - 1 : member - 1) : (member + 1 == n_ ? 0 : member + 1);
    return {.destination = next, .inbox = 2 * next + (lane & 1), .bytes = chunk_};
  }

  [[nodiscard]] sim::Needs needs(std::uint32_t lane, std::uint32_t number) const override {
    sim::Needs needs;
    if (number > 0) needs.add(lane, number);
    return needs;
  }

 private:
  std::uint32_t n_;
  std::uint32_t directions_;
  std::uint32_t steps_;
  sim::Bytes chunk_;
};

}  // namespace

SourcePointer make_ring(const SourceBasics& basics, CollectiveKind kind, sim::Bytes bytes) {
  const std::uint32_t directions = basics.algorithm == Algorithm::bidirectional_ring ? 2 : 1;
  const std::uint32_t steps = (kind == CollectiveKind::all_reduce ? 2 : 1) * (basics.members - 1);
  return std::make_shared<Ring>(basics, directions, steps, bytes / (static_cast<double>(basics.members) * directions));
}

}  // namespace traingraph::workloads::detail
