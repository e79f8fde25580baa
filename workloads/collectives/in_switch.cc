// Reduction inside the switches (NVLS, SHARP class): one transfer over every member's up-link and down-link. The engine
// routes it by Router::route_in_switch and starts it when every member has entered.
#include "workloads/collectives/single_send.h"

namespace traingraph::workloads::detail {
namespace {

class InSwitch final : public SingleSend {
 public:
  InSwitch(const SourceBasics& basics, sim::Bytes bytes) : SingleSend{basics, 1}, bytes_{bytes} {}

  [[nodiscard]] bool starts_together() const override { return true; }
  [[nodiscard]] sim::Send send(std::uint32_t, std::uint32_t) const override {
    return {.destination = 0, .inbox = 0, .bytes = bytes_, .to_all = true};
  }

 private:
  sim::Bytes bytes_;
};

}  // namespace

SourcePointer make_in_switch(const SourceBasics& basics, sim::Bytes bytes) {
  return std::make_shared<InSwitch>(basics, bytes);
}

}  // namespace traingraph::workloads::detail
