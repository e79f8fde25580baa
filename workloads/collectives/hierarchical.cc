// Hierarchical all-reduce over n = N/g domains of g members: reduce-scatter inside each domain, so that the member at
// position p holds the domain's sum of chunk p; a ring all-reduce of that chunk over the n members at position p (g rails,
// in parallel); an all-gather inside each domain. The inner phases run as a ring or direct. Member m stands in domain m / g
// at position m % g.
//
// Lanes of a member, in order: inner reduce-scatter (1 for a ring, g-1 for direct), rail (1), inner all-gather (as the
// first). Inboxes of a member: one per phase. With g = 1 or n = 1 the phases that would send nothing have neither lanes nor
// inboxes.
#include "workloads/collectives/sources.h"

namespace traingraph::workloads::detail {
namespace {

class Hierarchical final : public Source {
 public:
  Hierarchical(const SourceBasics& basics, sim::Bytes bytes, std::uint32_t g, bool inner_ring)
      : Source{basics},
        n_members_{basics.members},
        g_{g},
        domains_{basics.members / g},
        inner_lanes_{g == 1 ? 0 : (inner_ring ? 1 : g - 1)},
        inner_sends_{inner_ring ? g - 1 : 1},
        inner_inboxes_{g == 1 ? 0U : 1U},
        rail_{domains_ == 1 ? 0U : 1U},
        rail_steps_{2 * (domains_ - 1)},
        inner_chunk_{bytes / static_cast<double>(g)},
        rail_chunk_{bytes / (static_cast<double>(g) * domains_)} {}

  [[nodiscard]] std::uint32_t lanes() const override { return n_members_ * lanes_each(); }
  [[nodiscard]] std::uint32_t inboxes() const override { return n_members_ * inboxes_each(); }
  [[nodiscard]] std::uint32_t first_lane(std::uint32_t member) const override { return member * lanes_each(); }
  [[nodiscard]] std::uint32_t first_inbox(std::uint32_t member) const override { return member * inboxes_each(); }
  [[nodiscard]] bool uniform(std::uint32_t) const override { return true; }

  [[nodiscard]] std::uint32_t sends(std::uint32_t lane) const override {
    return phase(lane % lanes_each()) == Phase::rail ? rail_steps_ : inner_sends_;
  }

  [[nodiscard]] std::uint32_t expected(std::uint32_t inbox) const override {
    return rail_ != 0 && inbox % inboxes_each() == inner_inboxes_ ? rail_steps_ : g_ - 1;
  }

  [[nodiscard]] sim::Send send(std::uint32_t lane, std::uint32_t) const override {
    const std::uint32_t member = lane / lanes_each();
    const std::uint32_t j = lane - member * lanes_each();
    const Phase p = phase(j);
    if (p == Phase::rail) {
      const std::uint32_t next = member + g_ < n_members_ ? member + g_ : member + g_ - n_members_;
      return {.destination = next, .inbox = first_inbox(next) + inner_inboxes_, .bytes = rail_chunk_};
    }
    const std::uint32_t position = member % g_;
    const std::uint32_t hop = 1 + (p == Phase::scatter ? j : j - inner_lanes_ - rail_);
    const std::uint32_t other = member - position + (position + hop < g_ ? position + hop : position + hop - g_);
    const std::uint32_t offset = p == Phase::scatter ? 0 : inner_inboxes_ + rail_;
    return {.destination = other, .inbox = first_inbox(other) + offset, .bytes = inner_chunk_};
  }

  [[nodiscard]] sim::Needs needs(std::uint32_t lane, std::uint32_t number) const override {
    const std::uint32_t member = lane / lanes_each();
    const Phase p = phase(lane - member * lanes_each());
    const std::uint32_t inbox = first_inbox(member);
    sim::Needs needs;
    if (number > 0) {  // within a phase: forward what the last arrival brought
      needs.add(inbox + (p == Phase::scatter ? 0 : p == Phase::rail ? inner_inboxes_ : inner_inboxes_ + rail_), number);
    } else if (p == Phase::gather && rail_ != 0) {
      needs.add(inbox + inner_inboxes_, rail_steps_);
    } else if (p != Phase::scatter && inner_inboxes_ != 0) {
      needs.add(inbox, g_ - 1);
    }
    return needs;
  }

 private:
  enum class Phase : std::uint8_t { scatter, rail, gather };

  [[nodiscard]] std::uint32_t lanes_each() const { return 2 * inner_lanes_ + rail_; }
  [[nodiscard]] std::uint32_t inboxes_each() const { return 2 * inner_inboxes_ + rail_; }
  [[nodiscard]] Phase phase(std::uint32_t j) const {
    if (j < inner_lanes_) return Phase::scatter;
    return j < inner_lanes_ + rail_ ? Phase::rail : Phase::gather;
  }

  std::uint32_t n_members_;
  std::uint32_t g_;
  std::uint32_t domains_;
  std::uint32_t inner_lanes_;
  std::uint32_t inner_sends_;
  std::uint32_t inner_inboxes_;
  std::uint32_t rail_;
  std::uint32_t rail_steps_;
  sim::Bytes inner_chunk_;
  sim::Bytes rail_chunk_;
};

}  // namespace

SourcePointer make_hierarchical(const SourceBasics& basics, sim::Bytes bytes, std::uint32_t domain_size, Algorithm inner) {
  return std::make_shared<Hierarchical>(basics, bytes, domain_size, inner == Algorithm::ring);
}

}  // namespace traingraph::workloads::detail
