// Pairwise all-to-all, as MPI's pairwise exchange: N-1 rounds of a send and a receive; in round s member r sends S/N to
// r+1+s and goes on when its send has left and as many messages have arrived. So members stay within a round of each other,
// and since every round is a permutation, a port is hardly ever shared.
#include "workloads/collectives/sources.h"

namespace traingraph::workloads::detail {
namespace {

class Pairwise final : public Source {
 public:
  Pairwise(const SourceBasics& basics, sim::Bytes chunk) : Source{basics}, n_{basics.members}, chunk_{chunk} {}

  [[nodiscard]] std::uint32_t lanes() const override { return n_; }
  [[nodiscard]] std::uint32_t inboxes() const override { return n_; }
  [[nodiscard]] std::uint32_t first_lane(std::uint32_t member) const override { return member; }
  [[nodiscard]] std::uint32_t first_inbox(std::uint32_t member) const override { return member; }
  [[nodiscard]] std::uint32_t sends(std::uint32_t) const override { return n_ - 1; }
  [[nodiscard]] std::uint32_t expected(std::uint32_t) const override { return n_ - 1; }
  [[nodiscard]] bool uniform(std::uint32_t) const override { return n_ == 2; }

  [[nodiscard]] sim::Send send(std::uint32_t lane, std::uint32_t number) const override {
    std::uint32_t other = lane + 1 + number;
    if (other >= n_) other -= n_;
    return {.destination = other, .inbox = other, .bytes = chunk_};
  }

  [[nodiscard]] sim::Needs needs(std::uint32_t lane, std::uint32_t number) const override {
    sim::Needs needs;
    if (number > 0) needs.add(lane, number);  // a member's inbox has its lane's number
    return needs;
  }

 private:
  std::uint32_t n_;
  sim::Bytes chunk_;
};

}  // namespace

SourcePointer make_pairwise(const SourceBasics& basics, sim::Bytes bytes) {
  return std::make_shared<Pairwise>(basics, bytes / static_cast<double>(basics.members));
}

}  // namespace traingraph::workloads::detail
