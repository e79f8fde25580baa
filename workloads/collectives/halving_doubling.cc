// Recursive halving and doubling, N = 2^k: in a halving step a member exchanges half of what it still holds with one partner
// and adds up, after k steps it holds one reduced chunk of S/N (reduce-scatter); doubling is the reverse (all-gather); both
// are an all-reduce. Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA
// 2005.
//
// Partners: the all-reduce halves with distance 1, 2, 4, ..., so that the largest messages go to the nearest member (which
// chunk ends where does not matter, doubling undoes it). Alone, a reduce-scatter halves with distance N/2, ..., 2, 1 and an
// all-gather doubles with 1, 2, 4, ..., which puts chunk r at member r.
//
// One lane per member; one inbox per member and step, because a later partner's message may arrive before an earlier one's.
// Send s waits for the arrival of step s-1 and, through its lane, for all before it.
#include "workloads/collectives/sources.h"

namespace traingraph::workloads::detail {
namespace {

class HalvingDoubling final : public Source {
 public:
  HalvingDoubling(const SourceBasics& basics, CollectiveKind kind, sim::Bytes bytes)
      : Source{basics},
        n_{basics.members},
        k_{ceil_log2(basics.members)},
        steps_{kind == CollectiveKind::all_reduce ? 2 * k_ : k_},
        halvings_{kind == CollectiveKind::all_gather ? 0 : k_},
        near_first_{kind != CollectiveKind::reduce_scatter},
        chunk_{bytes / static_cast<double>(basics.members)} {}

  [[nodiscard]] std::uint32_t lanes() const override { return n_; }
  [[nodiscard]] std::uint32_t inboxes() const override { return n_ * steps_; }
  [[nodiscard]] std::uint32_t first_lane(std::uint32_t member) const override { return member; }
  [[nodiscard]] std::uint32_t first_inbox(std::uint32_t member) const override { return member * steps_; }
  [[nodiscard]] std::uint32_t sends(std::uint32_t) const override { return steps_; }
  [[nodiscard]] std::uint32_t expected(std::uint32_t) const override { return 1; }
  [[nodiscard]] bool uniform(std::uint32_t) const override { return k_ == 1; }

  [[nodiscard]] sim::Send send(std::uint32_t lane, std::uint32_t number) const override {
    // chunk_ · 2^e: a halving step i = 0, 1, ... sends S/2^(i+1), a doubling step i sends 2^i chunks.
    std::uint32_t exponent = 0;
    std::uint32_t bit = 0;
    if (number < halvings_) {
      exponent = k_ - 1 - number;
      bit = near_first_ ? number : k_ - 1 - number;
    } else {
      exponent = number - halvings_;
      bit = halvings_ > 0 ? k_ - 1 - exponent : exponent;
    }
    const std::uint32_t partner = lane ^ (1U << bit);
    return {.destination = partner,
            .inbox = partner * steps_ + number,
            .bytes = chunk_ * static_cast<double>(std::uint64_t{1} << exponent)};
  }

  [[nodiscard]] sim::Needs needs(std::uint32_t lane, std::uint32_t number) const override {
    sim::Needs needs;
    if (number > 0) needs.add(lane * steps_ + number - 1, 1);
    return needs;
  }

 private:
  std::uint32_t n_;
  std::uint32_t k_;
  std::uint32_t steps_;
  std::uint32_t halvings_;
  bool near_first_;
  sim::Bytes chunk_;
};

}  // namespace

SourcePointer make_halving_doubling(const SourceBasics& basics, CollectiveKind kind, sim::Bytes bytes) {
  return std::make_shared<HalvingDoubling>(basics, kind, bytes);
}

}  // namespace traingraph::workloads::detail
