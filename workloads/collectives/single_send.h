// Internal to this folder: what the algorithms of one send share.
#pragma once

#include <algorithm>
#include <cstdint>

#include "workloads/collectives/sources.h"

namespace traingraph::workloads::detail {

/// Every lane sends once, as soon as its member has entered, and every member receives once, in inbox number `member`. The
/// first `lanes` members have a lane each.
class SingleSend : public Source {
 public:
  SingleSend(const SourceBasics& basics, std::uint32_t lanes) : Source{basics}, lanes_{lanes} {}

  [[nodiscard]] std::uint32_t lanes() const final { return lanes_; }
  [[nodiscard]] std::uint32_t inboxes() const final { return members(); }
  [[nodiscard]] std::uint32_t first_lane(std::uint32_t member) const final { return std::min(member, lanes_); }
  [[nodiscard]] std::uint32_t first_inbox(std::uint32_t member) const final { return member; }
  [[nodiscard]] std::uint32_t sends(std::uint32_t) const final { return 1; }
  [[nodiscard]] std::uint32_t expected(std::uint32_t) const final { return 1; }
  [[nodiscard]] bool uniform(std::uint32_t) const final { return true; }
  [[nodiscard]] sim::Needs needs(std::uint32_t, std::uint32_t) const final { return {}; }

 private:
  std::uint32_t lanes_;
};

}  // namespace traingraph::workloads::detail
