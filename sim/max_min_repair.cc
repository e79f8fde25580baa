// MaxMin: flows move between bottlenecks, and links are repaired until the invariant holds again.
#include <algorithm>
#include <cmath>
#include <functional>

#include "sim/max_min.h"

namespace traingraph::sim {

namespace {

/// A link's level that comes out this close to what it was has not changed.
constexpr double kSameLevel = 0x1p-51;
/// A solve repairs until it has done so many additions for each flow and link; then it fills.
constexpr std::uint64_t kPatience = 64;

}  // namespace

/// Puts the flow into the group of the link at its hop, at the group's level.
void MaxMin::join(std::uint32_t flow, std::uint32_t hop) {
  note_moved(flow);
  Flow& f = flows_[flow];
  const double level_now = level_of(f);
  Fixed now = f.group == kNone ? 0 : scale_.fixed(level_now);
  if (f.group < kOwn) {
    const std::uint32_t old = f.group;
    now = leave(flow);
    if (!groups_[old].flows.empty()) queue(old, links_[old].level);
  }
  const auto path = hops(f);
  const std::uint32_t link = index(path[hop].link);
  LinkState& l = links_[link];
  Group& group = groups_[link];
  if (group.flows.empty()) {
    note_regraded(link);
    group.level = now;
    l.level = level_now;
  }
  const Fixed difference = group.level - now;
  for (std::uint32_t h = 0; h < path.size(); ++h) {
    const PathLink& at = path[h];
    const std::uint32_t d = denominator(at.k);
    const std::uint64_t weight = weight_on(f, at);
    if (h == hop) {
      below_[link * width_ + d] -= now * weight;
      group_weight_[link * width_ + d] += weight;
    } else {
      group.edges.add(index(at.link), d, weight);
      if (difference != 0) shift(index(at.link), d, difference * weight, l.level);
    }
  }
  f.group = link;
  f.place = static_cast<std::uint32_t>(group.flows.size());
  group.flows.push_back({flow, hop});
  group.capped += f.cap < kInfinity;
  note_load(link);
}

/// Takes the flow out of its link's group. It counts as held elsewhere, at the level that it had and that is returned.
Fixed MaxMin::leave(std::uint32_t flow) {
  Flow& f = flows_[flow];
  const std::uint32_t link = f.group;
  LinkState& l = links_[link];
  Group& group = groups_[link];
  const auto path = hops(f);
  const std::uint32_t hop = group.flows[f.place].hop;
  const bool last = group.flows.size() == 1;
  for (std::uint32_t h = 0; h < path.size(); ++h) {
    const PathLink& at = path[h];
    const std::uint32_t d = denominator(at.k);
    const std::uint64_t weight = weight_on(f, at);
    if (h == hop) {
      group_weight_[link * width_ + d] -= weight;
      below_[link * width_ + d] += group.level * weight;
    } else if (!last) {
      group.edges.subtract(index(at.link), d, weight);
    }
  }
  l.highest = std::max(l.highest, l.level);
  group.capped -= f.cap < kInfinity;
  group.flows[f.place] = group.flows.back();
  flows_[group.flows[f.place].flow].place = f.place;
  group.flows.pop_back();
  if (last) {
    group.edges.clear();
    l.level = kInfinity;
  }
  f.group = kOwn;
  note_load(link);
  return group.level;
}

/// What flows that the link does not hold use of it has changed by `difference`; `level` is their new level.
inline void MaxMin::shift(std::uint32_t link, std::uint32_t denominator, Fixed difference, double level) {
  LinkState& l = links_[link];
  below_[link * width_ + denominator] += difference;
  l.highest = std::max(l.highest, level);
  if (!l.settled) mark_shifted(link, difference > 0, level);
}

/// What a shift means for the link itself: its load is another, and it may need a repair.
void MaxMin::mark_shifted(std::uint32_t link, bool more, double level) {
  note_load(link);
  const LinkState& l = links_[link];
  if (!l.bounded || l.pending) return;
  if (l.level < kInfinity) {
    queue(link, l.level);
  } else if (more && overloaded(link)) {
    queue(link, level);
  }
}

/// A flow of no group, which counts with `level` so far, gets what its cap allows.
void MaxMin::hold_at_cap(std::uint32_t flow, Fixed level) {
  note_moved(flow);
  Flow& f = flows_[flow];
  f.group = kOwn;
  for (const PathLink& hop : hops(f)) {
    const std::uint32_t link = index(hop.link);
    if (links_[link].bounded) {
      shift(link, denominator(hop.k), (scale_.fixed(f.cap_level) - level) * weight_on(f, hop), f.cap_level);
    } else {
      note_load(link);
    }
  }
  ++touched_;
}

bool MaxMin::alone(const Flow& f) const {
  const auto path = hops(f);
  return std::all_of(path.begin(), path.end(), [&](const PathLink& hop) { return members_[index(hop.link)].size() == 1; });
}

/// A new flow that has its links to itself is held by the narrowest of them, or by its cap: what join() and grade() would
/// come to, in one pass, for most transfers of collectives are such.
void MaxMin::place_alone(std::uint32_t flow) {
  Flow& f = flows_[flow];
  const auto path = hops(f);
  double level = f.cap_level;
  std::uint32_t best = kOwn;
  for (std::uint32_t h = 0; h < path.size(); ++h) {
    const double its = capacities_[index(path[h].link)] / (f.weight * path[h].fraction());
    if (its >= level) continue;
    level = its;
    best = h;
  }
  if (best == kOwn) {
    hold_at_cap(flow, 0);
    return;
  }
  note_moved(flow);
  const std::uint32_t link = index(path[best].link);
  note_regraded(link);
  Group& group = groups_[link];
  const Fixed fixed = scale_.fixed(level);
  level = scale_.value(fixed);
  group.level = fixed;
  links_[link].level = level;
  for (std::uint32_t h = 0; h < path.size(); ++h) {
    const PathLink& at = path[h];
    const std::uint32_t id = index(at.link);
    const std::uint32_t d = denominator(at.k);
    const std::uint64_t weight = weight_on(f, at);
    note_load(id);
    if (h == best) {
      group_weight_[id * width_ + d] += weight;
      continue;
    }
    group.edges.add(id, d, weight);
    if (!links_[id].bounded) continue;
    below_[id * width_ + d] += fixed * weight;
    links_[id].highest = std::max(links_[id].highest, level);
  }
  f.group = link;
  f.place = 0;
  group.flows.push_back({flow, best});
  group.capped += f.cap < kInfinity;
  ++touched_;
}

/// Gives a new flow its first bottleneck: the link that seems to have the least room for it. Returns it, or kOwn.
std::uint32_t MaxMin::place(std::uint32_t flow) {
  Flow& f = flows_[flow];
  const auto path = hops(f);
  double least = f.cap_level;
  std::uint32_t best = kOwn;
  for (std::uint32_t h = 0; h < path.size(); ++h) {
    const std::uint32_t link = index(path[h].link);
    if (!links_[link].bounded) continue;
    const double weight = f.weight * path[h].fraction() + weight_of(&group_weight_[link * width_]);
    const double level = std::max(0.0, slack(link)) / weight;
    if (level >= least) continue;
    least = level;
    best = h;
  }
  if (best == kOwn) {
    hold_at_cap(flow, 0);
    return kOwn;
  }
  join(flow, best);
  return index(path[best].link);
}

/// Restores the invariant of one link, given the levels of the flows that it does not hold.
void MaxMin::repair(std::uint32_t link) {
  LinkState& l = links_[link];
  Group& group = groups_[link];
  const auto level_now = [&] {
    const double weight = weight_of(&group_weight_[link * width_]);
    return weight == 0 ? -kInfinity : slack(link) / weight;
  };
  while (true) {
    if (group.flows.empty() && !overloaded(link)) return;
    // Caps first: flows that they hold make the level look lower than it is, and others would be taken in vain.
    if (group.capped > 0 && release_capped(link, level_now())) continue;
    if (level_now() < l.highest * (1 - kTolerance)) take_higher(link);
    if (group.capped > 0 && release_capped(link, level_now())) continue;
    break;
  }
  if (group.flows.empty()) return;
  const double level = std::max(0.0, level_now());
  if (std::abs(level - l.level) > kSameLevel * l.level) grade(link, level);
}

/// Flows of the group whose cap is below the link's level are held by it instead.
bool MaxMin::release_capped(std::uint32_t link, double level) {
  bool any = false;
  const auto& flows = groups_[link].flows;
  for (std::uint32_t i = 0; i < flows.size();) {
    const std::uint32_t flow = flows[i].flow;
    if (flows_[flow].cap_level > level) {
      ++i;
      continue;
    }
    note_moved(flow);
    hold_at_cap(flow, leave(flow));
    any = true;
  }
  return any;
}

/// Takes flows that are held elsewhere at a higher level than the link's into the group, the highest first, which raises the
/// link's level, until no flow is above it.
void MaxMin::take_higher(std::uint32_t link) {
  LinkState& l = links_[link];
  double weight = weight_of(&group_weight_[link * width_]);
  double level = weight == 0 ? -kInfinity : slack(link) / weight;
  candidates_.clear();
  double rest = 0;
  const auto& members = members_[link];
  for (std::uint32_t i = 0; i < members.size(); ++i) {
    const Flow& f = flows_[members[i].flow];
    if (f.group == link || f.group == kNone) continue;
    const double its = level_of(f);
    if (its * (1 - kTolerance) > level) {
      candidates_.push_back({its, i});
    } else {
      rest = std::max(rest, its);
    }
  }
  const auto lower = [](const Entry& a, const Entry& b) { return a.level < b.level; };
  std::make_heap(candidates_.begin(), candidates_.end(), lower);
  while (!candidates_.empty() && candidates_.front().level * (1 - kTolerance) > level) {
    const Member& m = members[candidates_.front().id];
    std::pop_heap(candidates_.begin(), candidates_.end(), lower);
    candidates_.pop_back();
    join(m.flow, m.hop);
    level = slack(link) / weight_of(&group_weight_[link * width_]);
  }
  l.highest = candidates_.empty() ? rest : std::max(rest, candidates_.front().level);
}

/// Gives the link's group its level, and tells the other links of its flows.
void MaxMin::grade(std::uint32_t link, double level) {
  note_regraded(link);
  LinkState& l = links_[link];
  Group& group = groups_[link];
  const Fixed target = scale_.fixed(level);
  const Fixed difference = target - group.level;
  group.level = target;
  l.level = scale_.value(target);
  touched_ += group.flows.size();
  work_ += group.edges.all().size();
  if (difference == 0) return;
  const double new_level = l.level;
  for (const GroupEdges::Edge& edge : group.edges.all())
    if (edge.weight != 0) shift(edge.link, edge.denominator, difference * edge.weight, new_level);
}

void MaxMin::repair_all() {
  std::uint64_t budget = work_ + kPatience * (active_ + links_.size());
  while (!heap_.empty()) {
    const Entry next = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>{});
    heap_.pop_back();
    if (!links_[next.id].pending) continue;  // filled meanwhile
    links_[next.id].pending = false;
    links_[next.id].settled = false;
    repair(next.id);
    ++work_;
    if (work_ <= budget) continue;
    const std::vector<std::uint32_t> reached = loaded_;
    fill_from(reached);
    budget = work_ + kPatience * (active_ + links_.size());
  }
}

}  // namespace traingraph::sim
