// Max-min fair rates by progressive filling, exactly.
//
// The system. Flows f with weight w_f (a positive integer), an optional cap c_f and, on each link l of its path, a fraction
// n/k. All flows share one rising *level*; the rate of a flow is w_f x level until a link of its path saturates or the rate
// reaches the cap; then it is frozen. Constraint of every link: sum over its flows of (n/k) x rate <= capacity.
//   Example: two links of 10 and 4, flow A on both, B on the first. The second saturates at level 4: A = 4, then B = 6.
// The result is the max-min allocation of levels; it is unique.
//
// Exactness by construction (no order of flows or links changes a bit of the result):
// - a link's weight is an integer sum of w x n for each denominator k, W = sum over ascending k of (sum_k / k);
// - all bottlenecks of one level are frozen in one round; a link's residual falls by level x W_frozen once a round;
// - levels ascend: a link that rounding puts below the level already reached saturates at that level.
// A change (flow added or removed, capacity) can only alter flows that are connected to it through shared links, so solve()
// recomputes the connected components of the links that changed, each on its own, and the result equals the full
// recomputation bit for bit.
//
// Cost of a solve: O(sum over the component's flows of path length + links log links). Not thread-safe.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sim/ids.h"
#include "sim/link.h"
#include "sim/path_table.h"

namespace traingraph::sim {

class MaxMin {
 public:
  MaxMin(const LinkTable& links, const PathTable& paths);

  /// Adds flow number `flow` (any number not in use; small numbers, they index arrays). cap <= 0: none.
  void add(std::uint32_t flow, PathId path, std::uint32_t weight, double cap);
  void remove(std::uint32_t flow);
  void set_capacity(LinkId link, double bytes_per_s);

  /// Recomputes what the changes since the last solve can have altered. Afterwards changed() lists the flows whose level is
  /// bitwise different from before (new flows included) and loaded() the links whose load may be different.
  void solve();

  [[nodiscard]] bool dirty() const { return !dirty_links_.empty() || !dirty_flows_.empty(); }
  [[nodiscard]] double level(std::uint32_t flow) const { return flows_[flow].level; }
  [[nodiscard]] double rate(std::uint32_t flow) const {
    const Flow& f = flows_[flow];
    return f.cap > 0 && f.level >= f.cap_level ? f.cap : f.level * f.weight;
  }
  [[nodiscard]] double load(LinkId link) const { return links_[index(link)].load; }
  [[nodiscard]] double capacity(LinkId link) const { return links_[index(link)].capacity; }
  [[nodiscard]] std::span<const std::uint32_t> changed() const { return changed_; }
  [[nodiscard]] std::span<const LinkId> loaded() const { return component_links_; }
  [[nodiscard]] std::size_t touched() const { return component_flows_.size(); }  ///< flows recomputed by the last solve

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  struct Flow {
    PathId path{};
    std::uint32_t weight = 1;
    double cap = 0;
    double cap_level = kInfinity;
    double level = -1;
    std::uint32_t epoch = 0;
    bool frozen = false;
    bool active = false;
  };
  struct Member {
    std::uint32_t flow = 0;
    std::uint32_t hop = 0;  ///< index into the flow's path
  };
  struct LinkState {
    double capacity = 0;
    double residual = 0;
    double load = 0;
    double bound = 0;  // of its saturation level, from below; its entry in the heap
    std::uint32_t epoch = 0;
    std::uint32_t round = 0;
    bool dirty = false;
  };
  struct Candidate {
    double level;
    std::uint32_t id;
    bool operator>(const Candidate& o) const { return level != o.level ? level > o.level : id > o.id; }
  };

  std::size_t denominator(std::uint32_t k);
  [[nodiscard]] double weight_of(const std::uint64_t* sums) const;
  [[nodiscard]] double saturation(std::uint32_t link) const;
  void mark_dirty(LinkId link);
  void reach_flow(std::uint32_t flow);
  void reach_link(LinkId link);
  void reach_component(LinkId link);
  void freeze(std::uint32_t flow, double level);
  void push_link(std::uint32_t link, double level);
  void fill_component(std::size_t first_link, std::size_t first_flow);
  [[nodiscard]] double find_bottlenecks(double floor);
  void settle_round(double level);

  const PathTable& paths_;
  std::vector<LinkState> links_;
  std::vector<std::vector<Member>> members_;           // by link
  std::vector<std::vector<std::uint32_t>> positions_;  // by flow: place in each link's member list
  std::vector<Flow> flows_;
  std::vector<std::uint32_t> denominators_;  // ascending
  std::vector<std::uint64_t> total_;         // [link * denominators + d]: sum of w n over all flows
  std::vector<std::uint64_t> open_;          // the same over flows not yet frozen in this solve
  std::vector<std::uint64_t> round_;         // the same over flows frozen in this round
  std::vector<LinkId> dirty_links_;
  std::vector<std::uint32_t> dirty_flows_;  // without links: bounded by their cap alone
  std::vector<LinkId> component_links_;     // of all components of this solve, one after the other
  std::vector<std::uint32_t> component_flows_;
  std::vector<std::uint32_t> changed_;
  std::vector<double> new_level_;  // by flow
  std::vector<LinkId> round_links_;
  std::vector<Candidate> candidates_;  // links that may be the bottlenecks of this round
  std::vector<Candidate> heap_;
  std::vector<Candidate> caps_;
  std::uint32_t epoch_ = 0;
  std::uint32_t round_number_ = 0;
  std::size_t open_flows_ = 0;  // of the component, not yet frozen
};

}  // namespace traingraph::sim
