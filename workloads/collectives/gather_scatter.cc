// Gather: every member but the root sends its S/N to the root, all at once. Scatter: the root sends S/N to every other
// member, all at once. The root's port is the limit of both.
#include "workloads/collectives/sources.h"

namespace traingraph::workloads::detail {
namespace {

class Gather final : public Source {
 public:
  Gather(const SourceBasics& basics, std::uint32_t root, sim::Bytes chunk)
      : Source{basics}, n_{basics.members}, root_{root}, chunk_{chunk} {}

  [[nodiscard]] std::uint32_t lanes() const override { return n_ - 1; }
  [[nodiscard]] std::uint32_t inboxes() const override { return 1; }
  [[nodiscard]] std::uint32_t first_lane(std::uint32_t member) const override { return member - (member > root_ ? 1 : 0); }
  [[nodiscard]] std::uint32_t first_inbox(std::uint32_t member) const override { return member > root_ ? 1 : 0; }
  [[nodiscard]] std::uint32_t sends(std::uint32_t) const override { return 1; }
  [[nodiscard]] std::uint32_t expected(std::uint32_t) const override { return n_ - 1; }
  [[nodiscard]] bool uniform(std::uint32_t) const override { return true; }
  [[nodiscard]] sim::Send send(std::uint32_t, std::uint32_t) const override {
    return {.destination = root_, .inbox = 0, .bytes = chunk_};
  }
  [[nodiscard]] sim::Needs needs(std::uint32_t, std::uint32_t) const override { return {}; }

 private:
  std::uint32_t n_;
  std::uint32_t root_;
  sim::Bytes chunk_;
};

class Scatter final : public Source {
 public:
  Scatter(const SourceBasics& basics, std::uint32_t root, sim::Bytes chunk)
      : Source{basics}, n_{basics.members}, root_{root}, chunk_{chunk} {}

  [[nodiscard]] std::uint32_t lanes() const override { return n_ - 1; }
  [[nodiscard]] std::uint32_t inboxes() const override { return n_ - 1; }
  [[nodiscard]] std::uint32_t first_lane(std::uint32_t member) const override { return member > root_ ? n_ - 1 : 0; }
  [[nodiscard]] std::uint32_t first_inbox(std::uint32_t member) const override { return member - (member > root_ ? 1 : 0); }
  [[nodiscard]] std::uint32_t sends(std::uint32_t) const override { return 1; }
  [[nodiscard]] std::uint32_t expected(std::uint32_t) const override { return 1; }
  [[nodiscard]] bool uniform(std::uint32_t) const override { return true; }
  [[nodiscard]] sim::Send send(std::uint32_t lane, std::uint32_t) const override {
    const std::uint32_t other = root_ + 1 + lane < n_ ? root_ + 1 + lane : root_ + 1 + lane - n_;
    return {.destination = other, .inbox = other - (other > root_ ? 1 : 0), .bytes = chunk_};
  }
  [[nodiscard]] sim::Needs needs(std::uint32_t, std::uint32_t) const override { return {}; }

 private:
  std::uint32_t n_;
  std::uint32_t root_;
  sim::Bytes chunk_;
};

}  // namespace

SourcePointer make_gather(const SourceBasics& basics, sim::Bytes bytes, std::uint32_t root) {
  return std::make_shared<Gather>(basics, root, bytes / static_cast<double>(basics.members));
}

SourcePointer make_scatter(const SourceBasics& basics, sim::Bytes bytes, std::uint32_t root) {
  return std::make_shared<Scatter>(basics, root, bytes / static_cast<double>(basics.members));
}

}  // namespace traingraph::workloads::detail
