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

void MaxMin::collect_component() {
  ++epoch_;
  component_links_.clear();
  component_flows_.clear();
  for (const LinkId link : dirty_links_) {
    links_[index(link)].dirty = false;
    reach_link(link);
  }
  dirty_links_.clear();
  for (const std::uint32_t flow : dirty_flows_)
    if (flows_[flow].active) reach_flow(flow);
  dirty_flows_.clear();
  for (std::size_t l = 0, f = 0; l < component_links_.size(); ++l) {
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

void MaxMin::fill() {
  heap_.clear();
  caps_.clear();
  for (const LinkId link : component_links_)
    if (const double level = saturation(index(link)); level < kInfinity) heap_.push_back({level, index(link)});
  for (const std::uint32_t flow : component_flows_)
    if (flows_[flow].cap_level < kInfinity) caps_.push_back({flows_[flow].cap_level, flow});
  std::make_heap(heap_.begin(), heap_.end(), std::greater<>{});
  std::make_heap(caps_.begin(), caps_.end(), std::greater<>{});

  const std::size_t width = denominators_.size();
  open_flows_ = component_flows_.size();
  double floor = 0;  // levels ascend: rounding never lets a later round fall below an earlier one
  while (open_flows_ > 0) {
    // Bring the true minimum to the top: a link's saturation level only rises while others freeze, so a stale entry is low.
    while (!heap_.empty()) {
      const double now = saturation(heap_.front().id);
      if (now == heap_.front().level) break;
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>{});
      if (now == kInfinity) {
        heap_.pop_back();
      } else {
        heap_.back().level = now;
        std::push_heap(heap_.begin(), heap_.end(), std::greater<>{});
      }
    }
    while (!caps_.empty() && flows_[caps_.front().id].frozen) {
      std::pop_heap(caps_.begin(), caps_.end(), std::greater<>{});
      caps_.pop_back();
    }
    double level = kInfinity;
    if (!heap_.empty()) level = heap_.front().level;
    if (!caps_.empty()) level = std::min(level, caps_.front().level);
    if (level == kInfinity) {  // nothing bounds the rest: infinitely fast links only
      for (const std::uint32_t flow : component_flows_)
        if (!flows_[flow].frozen) {
          flows_[flow].frozen = true;
          new_level_[flow] = kInfinity;
        }
      break;
    }

    ++round_number_;
    round_links_.clear();
    bottlenecks_.clear();
    while (!heap_.empty() && heap_.front().level == level) {
      const std::uint32_t link = heap_.front().id;
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>{});
      const double now = saturation(link);
      if (now == level) {
        bottlenecks_.push_back(link);
        heap_.pop_back();
      } else if (now == kInfinity) {
        heap_.pop_back();
      } else {
        heap_.back().level = now;
        std::push_heap(heap_.begin(), heap_.end(), std::greater<>{});
      }
    }
    const double frozen_at = std::max(level, floor);
    floor = frozen_at;
    for (const std::uint32_t link : bottlenecks_)
      for (const Member& m : members_[link]) freeze(m.flow, frozen_at);
    while (!caps_.empty() && caps_.front().level == level) {
      freeze(caps_.front().id, frozen_at);
      std::pop_heap(caps_.begin(), caps_.end(), std::greater<>{});
      caps_.pop_back();
    }
    for (const LinkId link : round_links_) {
      LinkState& l = links_[index(link)];
      const std::uint64_t* const frozen = &round_[index(link) * width];
      std::uint64_t* const open = &open_[index(link) * width];
      const double used = frozen_at * weight_of(frozen);
      l.residual = std::max(0.0, l.residual - used);
      l.load = std::min(l.capacity, l.load + used);
      for (std::size_t d = 0; d < width; ++d) open[d] -= frozen[d];
    }
  }
}

void MaxMin::solve() {
  collect_component();
  fill();
  changed_.clear();
  for (const std::uint32_t flow : component_flows_) {
    if (flows_[flow].level == new_level_[flow]) continue;
    flows_[flow].level = new_level_[flow];
    changed_.push_back(flow);
  }
}

}  // namespace traingraph::sim
