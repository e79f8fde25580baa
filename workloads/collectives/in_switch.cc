// Reduction inside the switches (NVLS, SHARP class): one transfer over every member's up-link and down-link. The engine
// routes it by Router::route_in_switch and starts it when every member has entered.
#include "workloads/collectives/sources.h"

namespace traingraph::workloads::detail {
namespace {

class InSwitch final : public Source {
 public:
  InSwitch(const SourceBasics& basics, sim::Bytes bytes) : Source{basics}, n_{basics.members}, bytes_{bytes} {}

  [[nodiscard]] std::uint32_t lanes() const override { return 1; }
  [[nodiscard]] std::uint32_t inboxes() const override { return n_; }
  [[nodiscard]] std::uint32_t first_lane(std::uint32_t member) const override { return member == 0 ? 0 : 1; }
  [[nodiscard]] std::uint32_t first_inbox(std::uint32_t member) const override { return member; }
  [[nodiscard]] std::uint32_t sends(std::uint32_t) const override { return 1; }
  [[nodiscard]] std::uint32_t expected(std::uint32_t) const override { return 1; }
  [[nodiscard]] bool uniform(std::uint32_t) const override { return true; }
  [[nodiscard]] bool starts_together() const override { return true; }
  [[nodiscard]] sim::Send send(std::uint32_t, std::uint32_t) const override {
    return {.destination = 0, .inbox = 0, .bytes = bytes_, .to_all = true};
  }
  [[nodiscard]] sim::Needs needs(std::uint32_t, std::uint32_t) const override { return {}; }

 private:
  std::uint32_t n_;
  sim::Bytes bytes_;
};

}  // namespace

SourcePointer make_in_switch(const SourceBasics& basics, sim::Bytes bytes) {
  return std::make_shared<InSwitch>(basics, bytes);
}

}  // namespace traingraph::workloads::detail
