// MaxMin: progressive filling of whole connected components, from nothing.
#include <algorithm>
#include <functional>

#include "sim/max_min.h"

namespace traingraph::sim {

void MaxMin::reach_flow(std::uint32_t flow) {
  Flow& f = flows_[flow];
  if (f.fill == fill_) return;
  f.fill = fill_;
  f.frozen = false;
  note_moved(flow);
  component_flows_.push_back(flow);
}

void MaxMin::reach_link(std::uint32_t link) {
  if (fills_[link].fill == fill_) return;
  fills_[link].fill = fill_;
  component_links_.push_back(link);
}

/// Fills the connected components of these links, each on its own.
void MaxMin::fill_from(std::span<const std::uint32_t> links) {
  ++fill_;
  component_links_.clear();
  component_flows_.clear();
  for (const std::uint32_t seed : links) {
    if (fills_[seed].fill == fill_) continue;
    std::size_t l = component_links_.size();
    std::size_t f = component_flows_.size();
    const std::size_t first_link = l;
    const std::size_t first_flow = f;
    reach_link(seed);
    for (; l < component_links_.size(); ++l) {
      for (const Member& m : members_[component_links_[l]]) reach_flow(m.flow);
      for (; f < component_flows_.size(); ++f)
        for (const PathLink& hop : hops(flows_[component_flows_[f]])) reach_link(index(hop.link));
    }
    fill_component(first_link, first_flow);
  }
}

/// The level at which the link saturates, as far as its flows are frozen.
double MaxMin::fill_level(std::uint32_t link) const {
  const double open = weight_of(&open_[link * width_]);
  return open > 0 ? slack(link) / open : kInfinity;
}

void MaxMin::push_bound(std::uint32_t link, double level) {
  fills_[link].bound = level;
  fill_heap_.push_back({level, link});
  std::push_heap(fill_heap_.begin(), fill_heap_.end(), std::greater<>{});
}

/// Freezes a flow in a round whose bottlenecks carry the round's number; without one among its links, its cap holds it.
void MaxMin::freeze(std::uint32_t flow, double level) {
  Flow& f = flows_[flow];
  if (f.frozen) return;
  f.frozen = true;
  f.group = kOwn;
  ++touched_;
  --open_flows_;
  const auto path = hops(f);
  for (std::uint32_t h = 0; h < path.size() && f.group == kOwn; ++h) {
    const std::uint32_t link = index(path[h].link);
    if (fills_[link].round != round_) continue;
    Group& group = groups_[link];
    f.group = link;
    f.place = static_cast<std::uint32_t>(group.flows.size());
    group.flows.push_back({flow, h});
    group.capped += f.cap < kInfinity;
  }
  for (const PathLink& hop : path) {
    const std::uint32_t link = index(hop.link);
    const std::uint32_t d = denominator(hop.k);
    const std::size_t row = link * width_ + d;
    const std::uint64_t weight = weight_on(f, hop);
    if (link == f.group) {
      open_[row] -= weight;
      group_weight_[row] += weight;
      continue;
    }
    if (f.group != kOwn) groups_[f.group].edges.add(link, d, weight);
    if (!links_[link].bounded) continue;
    open_[row] -= weight;
    below_[row] += scale_.fixed(level) * weight;
    links_[link].highest = std::max(links_[link].highest, level);
    if (fills_[link].touched_round == round_) continue;
    fills_[link].touched_round = round_;
    round_links_.push_back(link);
  }
}

/// The next level, and in candidates_ the links that saturate at it. A link's saturation level mostly rises while others
/// freeze, so its entry in the heap bounds it from below (fill_component() sees to the rest); every link whose bound allows
/// it is looked at, so that the answer does not depend on the order of the heap.
double MaxMin::find_bottlenecks(double floor) {
  while (!caps_.empty() && flows_[caps_.front().id].frozen) {
    std::pop_heap(caps_.begin(), caps_.end(), std::greater<>{});
    caps_.pop_back();
  }
  double level = caps_.empty() ? kInfinity : std::max(caps_.front().level, floor);
  candidates_.clear();
  while (!fill_heap_.empty() && fill_heap_.front().level <= level) {
    const Entry entry = fill_heap_.front();
    std::pop_heap(fill_heap_.begin(), fill_heap_.end(), std::greater<>{});
    fill_heap_.pop_back();
    if (entry.level != fills_[entry.id].bound) continue;  // replaced by a lower entry
    const double now = std::max(fill_level(entry.id), floor);
    if (now == kInfinity) continue;
    candidates_.push_back({now, entry.id});
    level = std::min(level, now);
  }
  std::erase_if(candidates_, [&](const Entry& c) {
    if (c.level == level) return false;
    push_bound(c.id, c.level);
    return true;
  });
  return level;
}

void MaxMin::fill_component(std::size_t first_link, std::size_t first_flow) {
  const std::span<const std::uint32_t> links = std::span{component_links_}.subspan(first_link);
  const std::span<const std::uint32_t> flows = std::span{component_flows_}.subspan(first_flow);
  for (const std::uint32_t link : links) {
    note_regraded(link);
    note_load(link);
    links_[link].level = kInfinity;
    links_[link].highest = 0;
    links_[link].pending = false;
    links_[link].settled = false;
    groups_[link].flows.clear();
    groups_[link].edges.clear();
    groups_[link].capped = 0;
    std::fill_n(&below_[link * width_], width_, 0);
    std::fill_n(&group_weight_[link * width_], width_, 0);
    std::fill_n(&open_[link * width_], width_, 0);
    for (const Member& m : members_[link]) {
      const PathLink& hop = hops(flows_[m.flow])[m.hop];
      open_[link * width_ + denominator(hop.k)] += std::uint64_t{flows_[m.flow].weight} * hop.n;
    }
  }
  fill_heap_.clear();
  caps_.clear();
  for (const std::uint32_t link : links) {
    const double level = fill_level(link);
    fills_[link].bound = level;
    if (level < kInfinity) fill_heap_.push_back({level, link});
  }
  for (const std::uint32_t flow : flows)
    if (flows_[flow].cap_level < kInfinity) caps_.push_back({flows_[flow].cap_level, flow});
  std::make_heap(fill_heap_.begin(), fill_heap_.end(), std::greater<>{});
  std::make_heap(caps_.begin(), caps_.end(), std::greater<>{});

  open_flows_ = flows.size();
  double level = 0;
  while (open_flows_ > 0) {
    level = find_bottlenecks(level);
    ++round_;
    if (level == kInfinity) {  // nothing bounds the rest: infinitely fast links only
      for (const std::uint32_t flow : flows) {
        if (flows_[flow].frozen) continue;
        flows_[flow].group = kOwn;
      }
      return;
    }
    const double kept = scale_.value(scale_.fixed(level));
    round_links_.clear();
    for (const Entry& bottleneck : candidates_) {
      fills_[bottleneck.id].round = round_;
      links_[bottleneck.id].level = kept;
      groups_[bottleneck.id].level = scale_.fixed(level);
    }
    for (const Entry& bottleneck : candidates_)
      for (const Member& m : members_[bottleneck.id]) freeze(m.flow, kept);
    while (!caps_.empty() && caps_.front().level <= level) {
      freeze(caps_.front().id, kept);
      std::pop_heap(caps_.begin(), caps_.end(), std::greater<>{});
      caps_.pop_back();
    }
    for (const Entry& bottleneck : candidates_)  // all its flows may be held by other links of the round
      if (groups_[bottleneck.id].flows.empty()) links_[bottleneck.id].level = kInfinity;
    // Rounding can lower a saturation level by a few ulps: the bound must stay below.
    for (const std::uint32_t link : round_links_)
      if (const double now = std::max(fill_level(link), level); now < fills_[link].bound) push_bound(link, now);
  }
}

}  // namespace traingraph::sim
