// Direct, all pairs at once: every member sends S/N to each of the others, over a switch. One phase is an all-to-all, an
// all-gather (everyone the same chunk) or a reduce-scatter (chunk j to member j, who adds them up); an all-reduce is a
// reduce-scatter, then an all-gather of the sums.
//
// One lane per ordered pair; one inbox per member and phase. The lanes of a member go to its successors in order, so that
// no member is everyone's first. Send 1 (all-gather phase) needs all N-1 arrivals of the first phase.
#include "workloads/collectives/sources.h"

namespace traingraph::workloads::detail {
namespace {

class AllPairs final : public Source {
 public:
  AllPairs(const SourceBasics& basics, std::uint32_t phases, sim::Bytes chunk)
      : Source{basics}, n_{basics.members}, phases_{phases}, chunk_{chunk} {}

  [[nodiscard]] std::uint32_t lanes() const override { return n_ * (n_ - 1); }
  [[nodiscard]] std::uint32_t inboxes() const override { return n_ * phases_; }
  [[nodiscard]] std::uint32_t first_lane(std::uint32_t member) const override { return member * (n_ - 1); }
  [[nodiscard]] std::uint32_t first_inbox(std::uint32_t member) const override { return member * phases_; }
  [[nodiscard]] std::uint32_t sends(std::uint32_t) const override { return phases_; }
  [[nodiscard]] std::uint32_t expected(std::uint32_t) const override { return n_ - 1; }
  [[nodiscard]] bool uniform(std::uint32_t) const override { return true; }

  [[nodiscard]] sim::Send send(std::uint32_t lane, std::uint32_t number) const override {
    const std::uint32_t member = lane / (n_ - 1);
    std::uint32_t other = member + 1 + (lane - member * (n_ - 1));
    if (other >= n_) other -= n_;
    return {.destination = other, .inbox = other * phases_ + number, .bytes = chunk_};
  }

  [[nodiscard]] sim::Needs needs(std::uint32_t lane, std::uint32_t number) const override {
    sim::Needs needs;
    if (number > 0) needs.add(lane / (n_ - 1) * phases_, n_ - 1);
    return needs;
  }

 private:
  std::uint32_t n_;
  std::uint32_t phases_;
  sim::Bytes chunk_;
};

}  // namespace

SourcePointer make_all_pairs(const SourceBasics& basics, CollectiveKind kind, sim::Bytes bytes) {
  const std::uint32_t phases = kind == CollectiveKind::all_reduce ? 2 : 1;
  return std::make_shared<AllPairs>(basics, phases, bytes / static_cast<double>(basics.members));
}

}  // namespace traingraph::workloads::detail
