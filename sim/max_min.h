// Max-min fair rates, exactly, and updated at the cost of what changes.
//
// The system. Flows f with weight w_f (a positive integer), an optional cap c_f and, on each link l of its path, a fraction
// n/k. All flows share one rising *level*; the rate of a flow is w_f x level until a link of its path saturates or the rate
// reaches the cap; then it is frozen. Constraint of every link: sum over its flows of (n/k) x rate <= capacity.
//   Example: two links of 10 and 4, flow A on both, B on the first. The second saturates at level 4: A = 4, then B = 6.
// The result is the max-min allocation of levels; it is unique.
//
// Certificate (Bertsekas and Gallager, Data Networks, 6.5.2). Levels that respect every link are the max-min allocation if
// and only if every flow is at its cap or has a *bottleneck*: a saturated link of its path on which no flow's level is
// higher.
//
// What is kept. Every flow has one bottleneck; the flows of one bottleneck link are its *group* and share one number, the
// level of the link:  level(l) = (capacity - below(l)) / weight(l),  where below(l) is what the flows of l that are held
// elsewhere use of it, an exact sum (exact_sum.h), and weight(l) the sum of w n/k over the group. With each group goes the
// list of the other links that its flows cross (group_edges.h). So a change of level costs one addition for each such link,
// and nothing for the flows.
//
// Invariant, between solves, for every link l:
//   (1) with a group: level(l) is what the formula gives, and no flow of l has a higher level;
//   (2) without: the load below(l) does not exceed the capacity;
//   each to a relative 2^-51 (rounding: without it two links that saturate together in real numbers would disturb each
//   other).
// (1) and (2) are the certificate. A change breaks them on the links that it touches; solve() repairs a link by computing
// its level anew, taking flows of a higher level into the group and releasing those whose cap is lower, and so reaches only
// what the change reaches: a link whose level stays passes nothing on. Links are repaired in ascending order of level, since
// a link's level depends on flows of lower level only: mostly each link is repaired once.
//
// When many flows arrive at one instant, or when repairs go on for too long, the connected components of what changed are
// filled from nothing (max_min_fill.cc): progressive filling, all bottlenecks of one level in one round.
//
// Levels agree with those of a fill from nothing to about n 2^-52, n flows on the link; levels that are equal by symmetry
// are equal bit for bit. Cost of a solve: O(links crossed by the groups whose level changes + flows of the links where a
// flow changes its bottleneck + links repaired x log). Not thread-safe.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sim/exact_sum.h"
#include "sim/group_edges.h"
#include "sim/ids.h"
#include "sim/link.h"
#include "sim/path_table.h"

namespace traingraph::sim {

class MaxMin {
 public:
  /// What holds a flow: a link, or kOwn: its cap, or nothing at all.
  static constexpr std::uint32_t kOwn = 0xfffffffe;

  MaxMin(const LinkTable& links, const PathTable& paths);

  /// Adds flow number `flow` (any number not in use; small numbers, they index arrays). cap <= 0: none.
  void add(std::uint32_t flow, PathId path, std::uint32_t weight, double cap);
  void remove(std::uint32_t flow);
  void set_capacity(LinkId link, double bytes_per_s);

  /// Brings all levels up to date. The lists below then tell what this solve did.
  void solve();
  /// The same by filling every component from nothing: what solve() is compared with.
  void solve_from_nothing();

  [[nodiscard]] bool dirty() const { return dirty_; }
  [[nodiscard]] double level(std::uint32_t flow) const { return level_of(flows_[flow]); }
  [[nodiscard]] double rate(std::uint32_t flow) const {
    const Flow& f = flows_[flow];
    return f.group == kOwn ? f.cap : level_of(f) * f.weight;
  }
  /// The link that holds the flow, or kOwn.
  [[nodiscard]] std::uint32_t group(std::uint32_t flow) const { return flows_[flow].group; }
  /// The level that the flows of this link's group share.
  [[nodiscard]] double group_level(std::uint32_t link) const { return links_[link].level; }
  [[nodiscard]] double load(LinkId link) const;

  /// Flows that may have another group than before the last solve, new flows among them; each once.
  [[nodiscard]] std::span<const std::uint32_t> moved() const { return moved_; }
  /// Links whose group may have another level than before; each once.
  [[nodiscard]] std::span<const std::uint32_t> regraded() const { return regraded_; }
  /// Links whose load may have changed since the solve before, removals included; each once.
  [[nodiscard]] std::span<const std::uint32_t> loaded() const { return loaded_; }
  /// Flows whose level the last solve computed (each as often as it did), and flows whose level differs from before.
  [[nodiscard]] std::uint64_t touched() const { return touched_; }
  [[nodiscard]] std::uint64_t changed() const { return changed_; }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr std::uint32_t kNone = 0xffffffff;
  static constexpr double kTolerance = 0x1p-51;

  struct Flow {
    PathId path{};
    std::uint32_t weight = 1;
    std::uint32_t group = kNone;  // link, kOwn, or kNone before its first solve
    std::uint32_t place = 0;      // in its group's list
    double cap = kInfinity;       // a rate; infinity: none
    double cap_level = kInfinity;
    double level_before = 0;  // before this solve; valid if epoch is this solve's
    std::uint32_t epoch = 0;  // of the solve that put it into moved_
    std::uint32_t fill = 0;   // of the fill that reached it
    bool frozen = false;      // in that fill
    bool active = false;
  };
  /// A flow on a link: `hop` is the link's place in the flow's path.
  struct Member {
    std::uint32_t flow = 0;
    std::uint32_t hop = 0;
  };
  struct LinkState {           // what a repair of another link looks at
    double level = kInfinity;  // of the group; infinity without one
    double highest = 0;        // no flow of the link outside of its group has a higher level
    bool bounded = true;       // its capacity is finite
    bool pending = false;      // waits for its repair
    bool noted = false;        // in loaded_, of this solve
    bool settled = false;      // bounded, pending and noted: a change of its load needs nothing more
  };
  struct Group {
    std::vector<Member> flows;
    GroupEdges edges;          // the other links of these flows
    Fixed level = 0;           // valid with flows
    double level_before = 0;   // before this solve; valid if epoch is this solve's
    std::uint32_t capped = 0;  // flows with a cap
    std::uint32_t epoch = 0;   // of the solve that put it into regraded_
  };
  struct FillState {
    double bound = 0;                 // the link's entry in fill_heap_ that counts
    std::uint32_t fill = 0;           // of the fill that reached the link
    std::uint32_t round = 0;          // of the fill's round in which it is a bottleneck
    std::uint32_t touched_round = 0;  // in which a flow of the link was frozen
  };
  struct Entry {
    double level;
    std::uint32_t id;
    bool operator>(const Entry& o) const { return level != o.level ? level > o.level : id > o.id; }
  };
  using Places = boost::container::small_vector<std::uint32_t, 6>;

  [[nodiscard]] std::uint32_t denominator(std::uint32_t k) const {
    std::uint32_t d = 0;
    while (denominators_[d] != k) ++d;
    return d;
  }
  void know_denominator(std::uint32_t k);
  [[nodiscard]] double weight_of(const std::uint64_t* row) const;
  [[nodiscard]] double slack(std::uint32_t link) const;
  [[nodiscard]] bool overloaded(std::uint32_t link) const;
  [[nodiscard]] std::span<const PathLink> hops(const Flow& f) const { return paths_.links(f.path); }
  [[nodiscard]] double level_of(const Flow& f) const {
    return f.group < kOwn ? links_[f.group].level : f.group == kOwn ? f.cap_level : 0;
  }
  [[nodiscard]] std::uint64_t weight_on(const Flow& f, const PathLink& hop) const { return std::uint64_t{f.weight} * hop.n; }

  void make_room_for(double value);
  void set_fixed_capacity(std::uint32_t link);
  void note_load(std::uint32_t link) {
    if (reported_) start_loaded();
    LinkState& l = links_[link];
    if (l.noted) return;
    l.noted = true;
    l.settled = l.bounded && l.pending;
    loaded_.push_back(link);
  }
  void start_loaded();
  void note_moved(std::uint32_t flow);
  void note_regraded(std::uint32_t link);
  void queue(std::uint32_t link, double level);

  void join(std::uint32_t flow, std::uint32_t hop);
  Fixed leave(std::uint32_t flow);
  void shift(std::uint32_t link, std::uint32_t denominator, Fixed difference, double level);
  void mark_shifted(std::uint32_t link, bool more, double level);
  void hold_at_cap(std::uint32_t flow, Fixed level);
  [[nodiscard]] bool alone(const Flow& f) const;
  void place_alone(std::uint32_t flow);
  [[nodiscard]] std::uint32_t place(std::uint32_t flow);

  void repair(std::uint32_t link);
  [[nodiscard]] bool release_capped(std::uint32_t link, double level);
  void take_higher(std::uint32_t link);
  void grade(std::uint32_t link, double level);
  void repair_all();
  void count_changes();

  void fill_from(std::span<const std::uint32_t> links);
  void reach_flow(std::uint32_t flow);
  void reach_link(std::uint32_t link);
  void fill_component(std::size_t first_link, std::size_t first_flow);
  [[nodiscard]] double fill_level(std::uint32_t link) const;
  [[nodiscard]] double find_bottlenecks(double floor);
  void freeze(std::uint32_t flow, double level);
  void push_bound(std::uint32_t link, double level);

  const PathTable& paths_;
  FixedScale scale_;
  double largest_ = 1;  // what scale_ is made for
  std::vector<LinkState> links_;
  std::vector<Flow> flows_;
  std::vector<Places> places_;                  // by flow: its place in each link's member list
  std::vector<std::vector<Member>> members_;    // by link
  std::vector<Group> groups_;                   // by link
  std::vector<double> capacities_;              // by link
  std::vector<std::uint32_t> denominators_{1};  // in order of appearance; the first is 1
  std::vector<std::uint32_t> ascending_{0};     // their places, by size
  std::size_t width_ = 1;
  std::vector<Fixed> capacity_;              // by link
  std::vector<Fixed> limit_;                 // by link: capacity and the tolerance
  std::vector<Fixed> below_;                 // [link * width + d]: sum of w n level over the flows outside of the group
  std::vector<std::uint64_t> group_weight_;  // [link * width + d]: sum of w n over the group
  std::vector<std::uint32_t> fresh_;         // added since the last solve
  std::vector<std::uint32_t> refill_;        // links whose components must be filled
  std::size_t active_ = 0;
  bool dirty_ = false;
  bool reported_ = true;  // loaded_ is of the last solve: the next note starts a new list

  std::vector<Entry> heap_;  // links to repair
  std::vector<Entry> candidates_;
  std::vector<std::uint32_t> moved_;
  std::vector<std::uint32_t> regraded_;
  std::vector<std::uint32_t> loaded_;
  std::uint64_t touched_ = 0;
  std::uint64_t changed_ = 0;
  std::uint64_t work_ = 0;  // additions and repairs so far
  std::uint32_t epoch_ = 0;

  // Of a fill.
  std::vector<std::uint32_t> component_links_;
  std::vector<std::uint32_t> component_flows_;
  std::vector<std::uint32_t> round_links_;  // whose flows were frozen in this round
  std::vector<Entry> fill_heap_;
  std::vector<Entry> caps_;
  std::vector<FillState> fills_;     // by link
  std::vector<std::uint64_t> open_;  // [link * width + d]: sum of w n over flows not yet frozen
  std::uint32_t fill_ = 0;
  std::uint32_t round_ = 0;
  std::size_t open_flows_ = 0;
};

}  // namespace traingraph::sim
