#include "sim/max_min.h"

#include <algorithm>
#include <functional>

#include "sim/error.h"

namespace traingraph::sim {

MaxMin::MaxMin(const LinkTable& links, const PathTable& paths) : paths_{paths}, denominators_{1} {
  links_.resize(links.size());
  members_.resize(links.size());
  total_.resize(links.size());
  open_.resize(links.size());
  round_.resize(links.size());
  for (std::size_t l = 0; l < links.size(); ++l) links_[l].capacity = links[static_cast<LinkId>(l)].capacity.bytes_per_s();
}

std::size_t MaxMin::denominator(std::uint32_t k) {
  const auto at = std::lower_bound(denominators_.begin(), denominators_.end(), k);
  const auto d = static_cast<std::size_t>(at - denominators_.begin());
  if (at != denominators_.end() && *at == k) return d;
  // A new denominator: rare (a handful per run), so every link's row is laid out anew.
  const std::size_t old_width = denominators_.size();
  denominators_.insert(at, k);
  std::vector<std::uint64_t> wider(links_.size() * denominators_.size());
  for (std::size_t l = 0; l < links_.size(); ++l)
    for (std::size_t i = 0; i < old_width; ++i)
      wider[l * denominators_.size() + (i < d ? i : i + 1)] = total_[l * old_width + i];
  total_ = std::move(wider);
  open_.assign(total_.size(), 0);
  round_.assign(total_.size(), 0);
  return d;
}

double MaxMin::weight_of(const std::uint64_t* sums) const {
  if (denominators_.size() == 1) return static_cast<double>(sums[0]);
  double w = 0;
  for (std::size_t d = 0; d < denominators_.size(); ++d)
    if (sums[d] != 0) w += static_cast<double>(sums[d]) / denominators_[d];
  return w;
}

double MaxMin::saturation(std::uint32_t link) const {
  const double w = weight_of(&open_[link * denominators_.size()]);
  return w > 0 ? links_[link].residual / w : kInfinity;
}

void MaxMin::mark_dirty(LinkId link) {
  if (links_[index(link)].dirty) return;
  links_[index(link)].dirty = true;
  dirty_links_.push_back(link);
}

void MaxMin::add(std::uint32_t flow, PathId path, std::uint32_t weight, double cap) {
  if (flow >= flows_.size()) {
    flows_.resize(flow + 1);
    positions_.resize(flow + 1);
    new_level_.resize(flow + 1);
  }
  Flow& f = flows_[flow];
  SIM_ASSERT(!f.active && weight > 0, "a flow is added once, with a positive weight");
  f = Flow{};
  f.path = path;
  f.weight = weight;
  f.active = true;
  if (cap > 0) {
    f.cap = cap;
    f.cap_level = cap / weight;
  }
  const auto hops = paths_.links(path);
  positions_[flow].resize(hops.size());
  for (std::uint32_t h = 0; h < hops.size(); ++h) {
    const PathLink& hop = hops[h];
    const std::size_t d = denominator(hop.k);
    total_[index(hop.link) * denominators_.size() + d] += std::uint64_t{weight} * hop.n;
    auto& list = members_[index(hop.link)];
    positions_[flow][h] = static_cast<std::uint32_t>(list.size());
    list.push_back({flow, h});
    mark_dirty(hop.link);
  }
  if (hops.empty()) dirty_flows_.push_back(flow);
}

void MaxMin::remove(std::uint32_t flow) {
  Flow& f = flows_[flow];
  SIM_ASSERT(f.active, "only an active flow can be removed");
  f.active = false;
  const auto hops = paths_.links(f.path);
  for (std::uint32_t h = 0; h < hops.size(); ++h) {
    const PathLink& hop = hops[h];
    total_[index(hop.link) * denominators_.size() + denominator(hop.k)] -= std::uint64_t{f.weight} * hop.n;
    auto& list = members_[index(hop.link)];
    const std::uint32_t at = positions_[flow][h];
    list[at] = list.back();
    positions_[list[at].flow][list[at].hop] = at;
    list.pop_back();
    mark_dirty(hop.link);
  }
}

void MaxMin::set_capacity(LinkId link, double bytes_per_s) {
  if (links_[index(link)].capacity == bytes_per_s) return;
  links_[index(link)].capacity = bytes_per_s;
  mark_dirty(link);
}

void MaxMin::reach_flow(std::uint32_t flow) {
  if (flows_[flow].epoch == epoch_) return;
  flows_[flow].epoch = epoch_;
  flows_[flow].frozen = false;
  component_flows_.push_back(flow);
}

void MaxMin::reach_link(LinkId link) {
  LinkState& l = links_[index(link)];
  if (l.epoch == epoch_) return;
  l.epoch = epoch_;
  l.residual = l.capacity;
  l.load = 0;
  const std::size_t width = denominators_.size();
  std::copy_n(&total_[index(link) * width], width, &open_[index(link) * width]);
  component_links_.push_back(link);
}

/// All that is connected to the link, appended to the component lists.
void MaxMin::reach_component(LinkId link) {
  std::size_t l = component_links_.size();
  std::size_t f = component_flows_.size();
  reach_link(link);
  for (; l < component_links_.size(); ++l) {
    for (const Member& m : members_[index(component_links_[l])]) reach_flow(m.flow);
    for (; f < component_flows_.size(); ++f)
      for (const PathLink& hop : paths_.links(flows_[component_flows_[f]].path)) reach_link(hop.link);
  }
}

void MaxMin::freeze(std::uint32_t flow, double level) {
  Flow& f = flows_[flow];
  if (f.frozen) return;
  f.frozen = true;
  --open_flows_;
  new_level_[flow] = level;
  const std::size_t width = denominators_.size();
  for (const PathLink& hop : paths_.links(f.path)) {
    LinkState& l = links_[index(hop.link)];
    std::uint64_t* const row = &round_[index(hop.link) * width];
    if (l.round != round_number_) {
      l.round = round_number_;
      std::fill_n(row, width, 0);
      round_links_.push_back(hop.link);
    }
    row[width == 1 ? 0 : denominator(hop.k)] += std::uint64_t{f.weight} * hop.n;
  }
}

void MaxMin::push_link(std::uint32_t link, double level) {
  links_[link].bound = level;
  heap_.push_back({level, link});
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>{});
}

/// The next level, and in candidates_ the links that saturate at it. A link's saturation level mostly rises while others
/// freeze, so its entry in the heap bounds it from below (settle_round() sees to the rest); every link whose bound allows it
/// is looked at, so that the answer does not depend on the order of the heap.
double MaxMin::find_bottlenecks(double floor) {
  while (!caps_.empty() && flows_[caps_.front().id].frozen) {
    std::pop_heap(caps_.begin(), caps_.end(), std::greater<>{});
    caps_.pop_back();
  }
  double level = caps_.empty() ? kInfinity : std::max(caps_.front().level, floor);
  candidates_.clear();
  while (!heap_.empty() && heap_.front().level <= level) {
    const Candidate entry = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>{});
    heap_.pop_back();
    if (entry.level != links_[entry.id].bound) continue;  // replaced by a lower entry
    const double now = std::max(saturation(entry.id), floor);
    if (now == kInfinity) continue;
    candidates_.push_back({now, entry.id});
    level = std::min(level, now);
  }
  std::erase_if(candidates_, [&](const Candidate& c) {
    if (c.level == level) return false;
    push_link(c.id, c.level);
    return true;
  });
  return level;
}

/// Takes what this round's flows use from their links.
void MaxMin::settle_round(double level) {
  const std::size_t width = denominators_.size();
  for (const LinkId link : round_links_) {
    LinkState& l = links_[index(link)];
    const std::uint64_t* const frozen = &round_[index(link) * width];
    std::uint64_t* const open = &open_[index(link) * width];
    const double used = level * weight_of(frozen);
    l.residual = std::max(0.0, l.residual - used);
    l.load = std::min(l.capacity, l.load + used);
    for (std::size_t d = 0; d < width; ++d) open[d] -= frozen[d];
    // Rounding can lower a saturation level by a few ulps: the bound must stay below.
    if (const double now = std::max(saturation(index(link)), level); now < l.bound) push_link(index(link), now);
  }
}

void MaxMin::fill_component(std::size_t first_link, std::size_t first_flow) {
  const std::span<const LinkId> links = std::span{component_links_}.subspan(first_link);
  const std::span<const std::uint32_t> flows = std::span{component_flows_}.subspan(first_flow);
  heap_.clear();
  caps_.clear();
  for (const LinkId link : links) {
    const double level = saturation(index(link));
    links_[index(link)].bound = level;
    if (level < kInfinity) heap_.push_back({level, index(link)});
  }
  for (const std::uint32_t flow : flows)
    if (flows_[flow].cap_level < kInfinity) caps_.push_back({flows_[flow].cap_level, flow});
  std::make_heap(heap_.begin(), heap_.end(), std::greater<>{});
  std::make_heap(caps_.begin(), caps_.end(), std::greater<>{});

  open_flows_ = flows.size();
  double level = 0;
  while (open_flows_ > 0) {
    level = find_bottlenecks(level);
    if (level == kInfinity) {  // nothing bounds the rest: infinitely fast links only
      for (const std::uint32_t flow : flows)
        if (!flows_[flow].frozen) new_level_[flow] = kInfinity;
      return;
    }
    ++round_number_;
    round_links_.clear();
    for (const Candidate& bottleneck : candidates_)
      for (const Member& m : members_[bottleneck.id]) freeze(m.flow, level);
    while (!caps_.empty() && caps_.front().level <= level) {
      freeze(caps_.front().id, level);
      std::pop_heap(caps_.begin(), caps_.end(), std::greater<>{});
      caps_.pop_back();
    }
    settle_round(level);
  }
}

void MaxMin::solve() {
  ++epoch_;
  component_links_.clear();
  component_flows_.clear();
  for (const LinkId link : dirty_links_) {
    links_[index(link)].dirty = false;
    if (links_[index(link)].epoch == epoch_) continue;
    const std::size_t first_link = component_links_.size();
    const std::size_t first_flow = component_flows_.size();
    reach_component(link);
    fill_component(first_link, first_flow);
  }
  dirty_links_.clear();
  for (const std::uint32_t flow : dirty_flows_) {
    if (!flows_[flow].active || flows_[flow].epoch == epoch_) continue;
    reach_flow(flow);
    fill_component(component_links_.size(), component_flows_.size() - 1);
  }
  dirty_flows_.clear();
  changed_.clear();
  for (const std::uint32_t flow : component_flows_) {
    if (flows_[flow].level == new_level_[flow]) continue;
    flows_[flow].level = new_level_[flow];
    changed_.push_back(flow);
  }
}

}  // namespace traingraph::sim
