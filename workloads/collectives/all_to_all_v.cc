// All-to-all with a size of its own for every pair, all pairs at once. One lane per pair that sends something, in the order
// of the sender's successors; one inbox per member that receives something. O(pairs) memory, in compressed rows.
#include <algorithm>
#include <vector>

#include "workloads/collectives/sources.h"

namespace traingraph::workloads::detail {
namespace {

class AllToAllV final : public Source {
 public:
  AllToAllV(const SourceBasics& basics, const BytesMatrix& matrix)
      : Source{basics}, first_lane_(basics.members + 1, 0), first_inbox_(basics.members + 1, 0) {
    const std::uint32_t n = basics.members;
    std::vector<std::uint32_t> arrivals(n, 0);
    for (std::uint32_t member = 0; member < n; ++member) {
      std::vector<BytesToMember> row;
      for (const BytesToMember& entry : matrix[member]) {
        if (entry.destination != member && entry.bytes.count() > 0) row.push_back(entry);
      }
      const auto distance = [n, member](const BytesToMember& e) { return (e.destination + n - member) % n; };
      std::sort(row.begin(), row.end(), [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
      for (const BytesToMember& entry : row) ++arrivals[entry.destination];
      pairs_.insert(pairs_.end(), row.begin(), row.end());
      first_lane_[member + 1] = static_cast<std::uint32_t>(pairs_.size());
    }
    for (std::uint32_t member = 0; member < n; ++member) {
      first_inbox_[member + 1] = first_inbox_[member] + (arrivals[member] > 0 ? 1 : 0);
      if (arrivals[member] > 0) expected_.push_back(arrivals[member]);
    }
  }

  [[nodiscard]] std::uint32_t lanes() const override { return static_cast<std::uint32_t>(pairs_.size()); }
  [[nodiscard]] std::uint32_t inboxes() const override { return static_cast<std::uint32_t>(expected_.size()); }
  [[nodiscard]] std::uint32_t first_lane(std::uint32_t member) const override { return first_lane_[member]; }
  [[nodiscard]] std::uint32_t first_inbox(std::uint32_t member) const override { return first_inbox_[member]; }
  [[nodiscard]] std::uint32_t sends(std::uint32_t) const override { return 1; }
  [[nodiscard]] std::uint32_t expected(std::uint32_t inbox) const override { return expected_[inbox]; }
  [[nodiscard]] bool uniform(std::uint32_t) const override { return true; }

  [[nodiscard]] sim::Send send(std::uint32_t lane, std::uint32_t) const override {
    const BytesToMember& pair = pairs_[lane];
    return {.destination = pair.destination, .inbox = first_inbox_[pair.destination], .bytes = pair.bytes};
  }

  [[nodiscard]] sim::Needs needs(std::uint32_t, std::uint32_t) const override { return {}; }

 private:
  std::vector<BytesToMember> pairs_;
  std::vector<std::uint32_t> first_lane_;
  std::vector<std::uint32_t> first_inbox_;
  std::vector<std::uint32_t> expected_;
};

}  // namespace

SourcePointer make_all_to_all_v(const SourceBasics& basics, const BytesMatrix& matrix) {
  return std::make_shared<AllToAllV>(basics, matrix);
}

}  // namespace traingraph::workloads::detail
