// Send/recv: every member sends S to its successor and receives S from its predecessor, once.
#include "workloads/collectives/single_send.h"

namespace traingraph::workloads::detail {
namespace {

class NeighbourExchange final : public SingleSend {
 public:
  NeighbourExchange(const SourceBasics& basics, sim::Bytes bytes) : SingleSend{basics, basics.members}, bytes_{bytes} {}

  [[nodiscard]] sim::Send send(std::uint32_t lane, std::uint32_t) const override {
    const std::uint32_t next = lane + 1 == members() ? 0 : lane + 1;
    return {.destination = next, .inbox = next, .bytes = bytes_};
  }

 private:
  sim::Bytes bytes_;
};

}  // namespace

SourcePointer make_neighbour_exchange(const SourceBasics& basics, sim::Bytes bytes) {
  return std::make_shared<NeighbourExchange>(basics, bytes);
}

}  // namespace traingraph::workloads::detail
