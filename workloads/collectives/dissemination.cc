// Dissemination barrier: in round i member r tells member r + 2^i (mod N), with a message of zero bytes, that it and all it
// has heard of are there; after ceil(log2 N) rounds everyone has heard of everyone. Hensgen, Finkel and Manber, IJPP 1988.
//
// One lane per member; one inbox per member and round, because rounds may arrive out of order.
#include "workloads/collectives/sources.h"

namespace traingraph::workloads::detail {
namespace {

class Dissemination final : public Source {
 public:
  explicit Dissemination(const SourceBasics& basics)
      : Source{basics}, n_{basics.members}, rounds_{ceil_log2(basics.members)} {}

  [[nodiscard]] std::uint32_t lanes() const override { return n_; }
  [[nodiscard]] std::uint32_t inboxes() const override { return n_ * rounds_; }
  [[nodiscard]] std::uint32_t first_lane(std::uint32_t member) const override { return member; }
  [[nodiscard]] std::uint32_t first_inbox(std::uint32_t member) const override { return member * rounds_; }
  [[nodiscard]] std::uint32_t sends(std::uint32_t) const override { return rounds_; }
  [[nodiscard]] std::uint32_t expected(std::uint32_t) const override { return 1; }
  [[nodiscard]] bool uniform(std::uint32_t) const override { return rounds_ == 1; }

  [[nodiscard]] sim::Send send(std::uint32_t lane, std::uint32_t number) const override {
    const std::uint64_t sum = std::uint64_t{lane} + (std::uint64_t{1} << number);
    const auto other = static_cast<std::uint32_t>(sum >= n_ ? sum - n_ : sum);
    return {.destination = other, .inbox = other * rounds_ + number, .bytes = sim::Bytes{0}};
  }

  [[nodiscard]] sim::Needs needs(std::uint32_t lane, std::uint32_t number) const override {
    sim::Needs needs;
    if (number > 0) needs.add(lane * rounds_ + number - 1, 1);
    return needs;
  }

 private:
  std::uint32_t n_;
  std::uint32_t rounds_;
};

}  // namespace

SourcePointer make_dissemination(const SourceBasics& basics) { return std::make_shared<Dissemination>(basics); }

}  // namespace traingraph::workloads::detail
