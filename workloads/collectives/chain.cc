// Chain: the buffer, cut into m pieces, runs from member to member, each passing piece s on as soon as it has it. A
// broadcast starts at the root and copies; a reduce ends at the root and adds each member's own piece on the way.
//
// One lane for every member but the last, one inbox for every member but the first.
#include "workloads/collectives/sources.h"

namespace traingraph::workloads::detail {
namespace {

class Chain final : public Source {
 public:
  Chain(const SourceBasics& basics, std::uint32_t first, std::uint32_t pieces, sim::Bytes piece)
      : Source{basics},
        n_{basics.members},
        first_{first},
        last_{first == 0 ? basics.members - 1 : first - 1},
        pieces_{pieces},
        piece_{piece} {}

  [[nodiscard]] std::uint32_t lanes() const override { return n_ - 1; }
  [[nodiscard]] std::uint32_t inboxes() const override { return n_ - 1; }
  [[nodiscard]] std::uint32_t first_lane(std::uint32_t member) const override { return member - (member > last_ ? 1 : 0); }
  [[nodiscard]] std::uint32_t first_inbox(std::uint32_t member) const override { return member - (member > first_ ? 1 : 0); }
  [[nodiscard]] std::uint32_t sends(std::uint32_t) const override { return pieces_; }
  [[nodiscard]] std::uint32_t expected(std::uint32_t) const override { return pieces_; }
  [[nodiscard]] bool uniform(std::uint32_t) const override { return true; }

  [[nodiscard]] sim::Send send(std::uint32_t lane, std::uint32_t) const override {
    const std::uint32_t member = sender(lane);
    const std::uint32_t next = member + 1 == n_ ? 0 : member + 1;
    return {.destination = next, .inbox = first_inbox(next), .bytes = piece_};
  }

  [[nodiscard]] sim::Needs needs(std::uint32_t lane, std::uint32_t number) const override {
    sim::Needs needs;
    const std::uint32_t member = sender(lane);
    if (member != first_) needs.add(first_inbox(member), number + 1);
    return needs;
  }

 private:
  [[nodiscard]] std::uint32_t sender(std::uint32_t lane) const { return lane + (lane >= last_ ? 1 : 0); }

  std::uint32_t n_;
  std::uint32_t first_;
  std::uint32_t last_;
  std::uint32_t pieces_;
  sim::Bytes piece_;
};

}  // namespace

SourcePointer make_chain(const SourceBasics& basics, sim::Bytes bytes, std::uint32_t first, std::uint32_t pieces) {
  return std::make_shared<Chain>(basics, first, pieces, bytes / static_cast<double>(pieces));
}

}  // namespace traingraph::workloads::detail
