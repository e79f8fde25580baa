#include "sim/max_min.h"

#include <algorithm>
#include <functional>

#include "sim/error.h"

namespace traingraph::sim {

namespace {

/// Bits of room above the largest capacity: fractions n/k with k up to 2^32, and what a link carries while it is repaired.
constexpr int kHeadroom = 44;
/// Capacities may become so many times larger than what the scale was made for.
constexpr double kLeeway = 0x1p10;
constexpr double kGrowth = 0x1p16;
/// From so many new flows on, and if they are a quarter of all, their components are filled from nothing.
constexpr std::size_t kFillFrom = 32;

}  // namespace

MaxMin::MaxMin(const LinkTable& links, const PathTable& paths) : paths_{paths}, scale_{1, kHeadroom} {
  const std::size_t n = links.size();
  links_.resize(n);
  members_.resize(n);
  groups_.resize(n);
  capacity_.resize(n);
  limit_.resize(n);
  below_.resize(n);
  group_weight_.resize(n);
  open_.resize(n);
  fills_.resize(n);
  capacities_.resize(n);
  double largest = 0;
  for (std::size_t l = 0; l < n; ++l) {
    capacities_[l] = links[static_cast<LinkId>(l)].capacity.bytes_per_s();
    if (capacities_[l] < kInfinity) largest = std::max(largest, capacities_[l]);
  }
  if (largest > 0) {
    largest_ = largest;
    scale_ = FixedScale{largest, kHeadroom};
  }
  for (std::uint32_t l = 0; l < n; ++l) set_fixed_capacity(l);
}

void MaxMin::set_fixed_capacity(std::uint32_t link) {
  const double capacity = capacities_[link];
  links_[link].bounded = capacity < kInfinity;
  if (!links_[link].bounded) return;
  capacity_[link] = scale_.fixed(capacity);
  limit_[link] = capacity_[link] + scale_.fixed(capacity * kTolerance);
}

/// A value beyond the scale, which only a changed capacity can bring: everything is laid out anew.
void MaxMin::make_room_for(double value) {
  if (value <= largest_ * kLeeway || value == kInfinity) return;
  while (value > largest_ * kLeeway) largest_ *= kGrowth;  // not `value`: what came first must not decide
  scale_ = FixedScale{largest_, kHeadroom};
  for (std::uint32_t l = 0; l < links_.size(); ++l) {
    set_fixed_capacity(l);
    refill_.push_back(l);
  }
}

/// A new denominator: rare (a handful per run), so every link's row is laid out anew.
void MaxMin::know_denominator(std::uint32_t k) {
  if (std::find(denominators_.begin(), denominators_.end(), k) != denominators_.end()) return;
  ascending_.insert(
      std::find_if(ascending_.begin(), ascending_.end(), [&](std::uint32_t d) { return denominators_[d] > k; }),
      static_cast<std::uint32_t>(width_));
  denominators_.push_back(k);
  const auto widen = [&](auto& rows) {
    std::remove_reference_t<decltype(rows)> wider(links_.size() * (width_ + 1));
    for (std::size_t l = 0; l < links_.size(); ++l) std::copy_n(&rows[l * width_], width_, &wider[l * (width_ + 1)]);
    rows = std::move(wider);
  };
  widen(below_);
  widen(group_weight_);
  widen(open_);
  ++width_;
}

double MaxMin::weight_of(const std::uint64_t* row) const {
  if (width_ == 1) return static_cast<double>(row[0]);
  double w = 0;
  for (const std::uint32_t d : ascending_)
    if (row[d] != 0) w += static_cast<double>(row[d]) / denominators_[d];
  return w;
}

/// What the flows outside of the group leave of the link.
double MaxMin::slack(std::uint32_t link) const {
  if (!links_[link].bounded) return kInfinity;
  const Fixed* const row = &below_[link * width_];
  double room = scale_.value(capacity_[link] - row[0]);
  for (const std::uint32_t d : ascending_)
    if (d != 0 && row[d] != 0) room -= scale_.value(row[d]) / denominators_[d];
  return room;
}

bool MaxMin::overloaded(std::uint32_t link) const {
  if (!links_[link].bounded) return false;
  return width_ == 1 ? below_[link] > limit_[link] : slack(link) < -kTolerance * capacities_[link];
}

double MaxMin::load(LinkId link) const {
  const std::uint32_t l = index(link);
  if (members_[l].empty()) return 0;
  if (!groups_[l].flows.empty()) return capacities_[l];
  double sum = 0;
  if (!links_[l].bounded) {
    for (const Member& m : members_[l]) sum += rate(m.flow) * hops(flows_[m.flow])[m.hop].fraction();
    return sum;
  }
  for (const std::uint32_t d : ascending_)
    if (below_[l * width_ + d] != 0) sum += scale_.value(below_[l * width_ + d]) / denominators_[d];
  return std::min(sum, capacities_[l]);
}

void MaxMin::start_loaded() {
  for (const std::uint32_t l : loaded_) {
    links_[l].noted = false;
    links_[l].settled = false;
  }
  loaded_.clear();
  reported_ = false;
}

void MaxMin::note_moved(std::uint32_t flow) {
  Flow& f = flows_[flow];
  if (f.epoch == epoch_) return;
  f.epoch = epoch_;
  f.level_before = f.group == kNone ? -1 : level_of(f);
  if (f.group < kOwn && groups_[f.group].epoch == epoch_) f.level_before = groups_[f.group].level_before;
  moved_.push_back(flow);
}

void MaxMin::note_regraded(std::uint32_t link) {
  Group& group = groups_[link];
  if (group.epoch == epoch_) return;
  group.epoch = epoch_;
  group.level_before = links_[link].level;
  regraded_.push_back(link);
}

void MaxMin::queue(std::uint32_t link, double level) {
  LinkState& l = links_[link];
  if (l.pending) return;
  l.pending = true;
  l.settled = l.bounded && l.noted;
  heap_.push_back({level, link});
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>{});
}

void MaxMin::add(std::uint32_t flow, PathId path, std::uint32_t weight, double cap) {
  if (flow >= flows_.size()) {
    flows_.resize(flow + 1);
    places_.resize(flow + 1);
  }
  Flow& f = flows_[flow];
  SIM_ASSERT(!f.active && weight > 0, "a flow is added once, with a positive weight");
  const std::uint32_t fill = f.fill;
  f = Flow{};
  f.fill = fill;
  f.path = path;
  f.weight = weight;
  f.active = true;
  if (cap > 0) {
    f.cap = cap;
    f.cap_level = cap / weight;
  }
  ++active_;
  const auto path_hops = hops(f);
  places_[flow].resize(path_hops.size());
  for (std::uint32_t h = 0; h < path_hops.size(); ++h) {
    if (path_hops[h].k != 1) know_denominator(path_hops[h].k);
    auto& list = members_[index(path_hops[h].link)];
    places_[flow][h] = static_cast<std::uint32_t>(list.size());
    list.push_back({flow, h});
  }
  fresh_.push_back(flow);
  dirty_ = true;
}

void MaxMin::remove(std::uint32_t flow) {
  Flow& f = flows_[flow];
  SIM_ASSERT(f.active, "only an active flow can be removed");
  const std::uint32_t held_by = f.group;
  const bool contributes = held_by != kNone && level_of(f) < kInfinity;
  const Fixed level = held_by < kOwn ? leave(flow) : contributes ? scale_.fixed(f.cap_level) : 0;
  f.active = false;
  f.group = kNone;
  --active_;
  const auto path = hops(f);
  for (std::uint32_t h = 0; h < path.size(); ++h) {
    const PathLink& hop = path[h];
    const std::uint32_t link = index(hop.link);
    if (links_[link].bounded) below_[link * width_ + denominator(hop.k)] -= level * weight_on(f, hop);
    auto& list = members_[link];
    const std::uint32_t at = places_[flow][h];
    list[at] = list.back();
    places_[list[at].flow][list[at].hop] = at;
    list.pop_back();
    if (!groups_[link].flows.empty()) queue(link, links_[link].level);
    note_load(link);
  }
  dirty_ = true;
}

void MaxMin::set_capacity(LinkId id, double bytes_per_s) {
  const std::uint32_t link = index(id);
  if (capacities_[link] == bytes_per_s) return;
  if ((capacities_[link] == kInfinity) != (bytes_per_s == kInfinity)) refill_.push_back(link);
  capacities_[link] = bytes_per_s;
  make_room_for(bytes_per_s);
  set_fixed_capacity(link);
  queue(link, groups_[link].flows.empty() ? 0 : links_[link].level);
  note_load(link);
  dirty_ = true;
}

void MaxMin::solve() {
  ++epoch_;
  if (reported_) start_loaded();
  moved_.clear();
  regraded_.clear();
  touched_ = 0;
  changed_ = 0;
  std::size_t left = 0;
  for (std::size_t i = 0; i < fresh_.size(); ++i) {
    const std::uint32_t flow = fresh_[i];
    const Flow& f = flows_[flow];
    if (!f.active || f.group != kNone) continue;  // removed again, or named twice
    if (!refill_.empty() || !alone(f)) {
      fresh_[left++] = flow;
    } else {
      place_alone(flow);
    }
  }
  fresh_.resize(left);
  if (left > kFillFrom && left * 4 > active_)
    for (const std::uint32_t flow : fresh_)
      for (const PathLink& hop : hops(flows_[flow])) refill_.push_back(index(hop.link));
  if (!refill_.empty()) {
    fill_from(refill_);
    refill_.clear();
  }
  for (const std::uint32_t flow : fresh_) {
    if (flows_[flow].group != kNone) continue;
    if (const std::uint32_t link = place(flow); link != kOwn) queue(link, 0);
  }
  fresh_.clear();
  repair_all();
  count_changes();
  dirty_ = false;
  reported_ = true;
}

void MaxMin::solve_from_nothing() {
  for (std::uint32_t l = 0; l < links_.size(); ++l) refill_.push_back(l);
  solve();
}

void MaxMin::count_changes() {
  const auto regraded = [&](std::uint32_t link) {
    return groups_[link].epoch == epoch_ && links_[link].level != groups_[link].level_before;
  };
  for (const std::uint32_t link : regraded_)
    if (regraded(link)) changed_ += groups_[link].flows.size();
  for (const std::uint32_t flow : moved_) {
    const Flow& f = flows_[flow];
    if (f.group < kOwn && regraded(f.group)) --changed_;
    changed_ += level_of(f) != f.level_before;
  }
}

}  // namespace traingraph::sim
