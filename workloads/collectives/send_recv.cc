// Send/recv: every member sends S to its successor and receives S from its predecessor, once.
#include "workloads/collectives/sources.h"

namespace traingraph::workloads::detail {
namespace {

class NeighbourExchange final : public Source {
 public:
  NeighbourExchange(const SourceBasics& basics, sim::Bytes bytes) : Source{basics}, n_{basics.members}, bytes_{bytes} {}

  [[nodiscard]] std::uint32_t lanes() const override { return n_; }
  [[nodiscard]] std::uint32_t inboxes() const override { return n_; }
  [[nodiscard]] std::uint32_t first_lane(std::uint32_t member) const override { return member; }
  [[nodiscard]] std::uint32_t first_inbox(std::uint32_t member) const override { return member; }
  [[nodiscard]] std::uint32_t sends(std::uint32_t) const override { return 1; }
  [[nodiscard]] std::uint32_t expected(std::uint32_t) const override { return 1; }
  [[nodiscard]] bool uniform(std::uint32_t) const override { return true; }
  [[nodiscard]] sim::Send send(std::uint32_t lane, std::uint32_t) const override {
    const std::uint32_t next = lane + 1 == n_ ? 0 : lane + 1;
    return {.destination = next, .inbox = next, .bytes = bytes_};
  }
  [[nodiscard]] sim::Needs needs(std::uint32_t, std::uint32_t) const override { return {}; }

 private:
  std::uint32_t n_;
  sim::Bytes bytes_;
};

}  // namespace

SourcePointer make_neighbour_exchange(const SourceBasics& basics, sim::Bytes bytes) {
  return std::make_shared<NeighbourExchange>(basics, bytes);
}

}  // namespace traingraph::workloads::detail
