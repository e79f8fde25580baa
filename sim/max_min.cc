#include "sim/max_min.h"

#include <algorithm>
#include <functional>

#include "sim/error.h"

namespace traingraph::sim {

namespace {

/// A link's level that comes out this close to what it was has not changed.
constexpr double kSameLevel = 0x1p-51;
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
  bound_.resize(n);
  double largest = 0;
  for (std::size_t l = 0; l < n; ++l) {
    links_[l].capacity = links[static_cast<LinkId>(l)].capacity.bytes_per_s();
    if (links_[l].capacity < kInfinity) largest = std::max(largest, links_[l].capacity);
  }
  if (largest > 0) {
    largest_ = largest;
    scale_ = FixedScale{largest, kHeadroom};
  }
  for (std::uint32_t l = 0; l < n; ++l) set_fixed_capacity(l);
}

void MaxMin::set_fixed_capacity(std::uint32_t link) {
  const double capacity = links_[link].capacity;
  if (capacity == kInfinity) return;
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
  ascending_.insert(std::find_if(ascending_.begin(), ascending_.end(), [&](std::uint32_t d) { return denominators_[d] > k; }),
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
  if (links_[link].capacity == kInfinity) return kInfinity;
  const Fixed* const row = &below_[link * width_];
  double room = scale_.value(capacity_[link] - row[0]);
  for (const std::uint32_t d : ascending_)
    if (d != 0 && row[d] != 0) room -= scale_.value(row[d]) / denominators_[d];
  return room;
}

bool MaxMin::overloaded(std::uint32_t link) const {
  const double capacity = links_[link].capacity;
  if (capacity == kInfinity) return false;
  return width_ == 1 ? below_[link] > limit_[link] : slack(link) < -kTolerance * capacity;
}

double MaxMin::load(LinkId link) const {
  const std::uint32_t l = index(link);
  double sum = 0;
  if (links_[l].capacity == kInfinity) {
    for (const Member& m : members_[l]) sum += rate(m.flow) * hops(flows_[m.flow])[m.hop].fraction();
    return sum;
  }
  const Fixed level = groups_[l].empty() ? 0 : scale_.fixed(links_[l].level);
  for (const std::uint32_t d : ascending_) {
    const Fixed row = below_[l * width_ + d] + level * group_weight_[l * width_ + d];
    if (row != 0) sum += scale_.value(row) / denominators_[d];
  }
  return std::min(sum, links_[l].capacity);
}

void MaxMin::note_load(std::uint32_t link) {
  if (reported_) {
    for (const std::uint32_t l : loaded_) links_[l].noted = false;
    loaded_.clear();
    reported_ = false;
  }
  if (links_[link].noted) return;
  links_[link].noted = true;
  loaded_.push_back(link);
}

void MaxMin::note_moved(std::uint32_t flow) {
  Flow& f = flows_[flow];
  if (f.epoch == epoch_) return;
  f.epoch = epoch_;
  f.level_before = f.group == kNone ? -1 : f.level;
  if (f.group < kOwn && links_[f.group].epoch == epoch_) f.level_before = links_[f.group].level_before;
  moved_.push_back(flow);
}

void MaxMin::note_regraded(std::uint32_t link) {
  LinkState& l = links_[link];
  if (l.epoch == epoch_) return;
  l.epoch = epoch_;
  l.level_before = l.level;
  regraded_.push_back(link);
}

void MaxMin::queue(std::uint32_t link, double level) {
  if (links_[link].pending) return;
  links_[link].pending = true;
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
    know_denominator(path_hops[h].k);
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
  if (f.group < kOwn) leave(flow);
  f.active = false;
  --active_;
  const auto path_hops = hops(f);
  for (std::uint32_t h = 0; h < path_hops.size(); ++h) {
    const PathLink& hop = path_hops[h];
    const std::uint32_t link = index(hop.link);
    if (links_[link].capacity < kInfinity)
      below_[link * width_ + denominator(hop.k)] -= scale_.fixed(f.level) * (std::uint64_t{f.weight} * hop.n);
    auto& list = members_[link];
    const std::uint32_t at = places_[flow][h];
    list[at] = list.back();
    places_[list[at].flow][list[at].hop] = at;
    list.pop_back();
    if (!groups_[link].empty()) queue(link, links_[link].level);
    note_load(link);
  }
  f.group = kNone;
  dirty_ = true;
}

void MaxMin::set_capacity(LinkId id, double bytes_per_s) {
  const std::uint32_t link = index(id);
  LinkState& l = links_[link];
  if (l.capacity == bytes_per_s) return;
  if ((l.capacity == kInfinity) != (bytes_per_s == kInfinity)) refill_.push_back(link);
  l.capacity = bytes_per_s;
  make_room_for(bytes_per_s);
  set_fixed_capacity(link);
  queue(link, groups_[link].empty() ? 0 : l.level);
  note_load(link);
  dirty_ = true;
}

/// Puts the flow into the group of the link at its hop; its level stays until the link is graded.
void MaxMin::join(std::uint32_t flow, std::uint32_t hop) {
  note_moved(flow);
  Flow& f = flows_[flow];
  if (f.group < kOwn) {
    const std::uint32_t old = f.group;
    leave(flow);
    if (!groups_[old].empty()) queue(old, links_[old].level);
  }
  const PathLink& at = hops(f)[hop];
  const std::uint32_t link = index(at.link);
  LinkState& l = links_[link];
  const std::size_t row = link * width_ + denominator(at.k);
  const std::uint64_t weight = std::uint64_t{f.weight} * at.n;
  below_[row] -= scale_.fixed(f.level) * weight;
  group_weight_[row] += weight;
  f.group = link;
  f.place = static_cast<std::uint32_t>(groups_[link].size());
  groups_[link].push_back({flow, hop});
  l.capped += f.cap < kInfinity;
  l.joined = true;
  note_load(link);
}

/// Takes the flow out of its link's group; it keeps its level.
void MaxMin::leave(std::uint32_t flow) {
  Flow& f = flows_[flow];
  const std::uint32_t link = f.group;
  LinkState& l = links_[link];
  auto& group = groups_[link];
  const PathLink& at = hops(f)[group[f.place].hop];
  const std::size_t row = link * width_ + denominator(at.k);
  const std::uint64_t weight = std::uint64_t{f.weight} * at.n;
  group_weight_[row] -= weight;
  below_[row] += scale_.fixed(f.level) * weight;
  l.highest = std::max(l.highest, f.level);
  l.capped -= f.cap < kInfinity;
  group[f.place] = group.back();
  flows_[group[f.place].flow].place = f.place;
  group.pop_back();
  if (group.empty()) {
    l.level = kInfinity;
    l.joined = false;
  }
  f.group = kOwn;
  note_load(link);
}

/// A flow that the link does not hold has changed what it uses by `difference` x weight; `level` is the flow's new one.
inline void MaxMin::shift(const PathLink& hop, std::uint32_t weight, Fixed difference, double level) {
  const std::uint32_t link = index(hop.link);
  LinkState& l = links_[link];
  note_load(link);
  if (l.capacity == kInfinity) return;  // never holds anything: needs no sums
  below_[link * width_ + denominator(hop.k)] += difference * (std::uint64_t{weight} * hop.n);
  l.highest = std::max(l.highest, level);
  if (l.pending) return;
  if (l.level < kInfinity) {
    queue(link, l.level);
  } else if (difference > 0 && overloaded(link)) {
    queue(link, level);
  }
}

/// A flow of no group gets what its cap allows.
void MaxMin::hold_at_cap(std::uint32_t flow) {
  note_moved(flow);
  Flow& f = flows_[flow];
  f.group = kOwn;
  for (const PathLink& hop : hops(f)) {
    if (links_[index(hop.link)].capacity < kInfinity) {
      shift(hop, f.weight, scale_.fixed(f.cap_level) - scale_.fixed(f.level), f.cap_level);
    } else {
      note_load(index(hop.link));
    }
  }
  f.level = f.cap_level;
  ++touched_;
}

bool MaxMin::alone(const Flow& f) const {
  const auto path = hops(f);
  return std::all_of(path.begin(), path.end(), [&](const PathLink& hop) { return members_[index(hop.link)].size() == 1; });
}

/// Gives a new flow its first bottleneck: the link that seems to have the least room for it. Returns it, or kOwn.
std::uint32_t MaxMin::place(std::uint32_t flow) {
  Flow& f = flows_[flow];
  const auto path = hops(f);
  double least = f.cap_level;
  std::uint32_t best = kOwn;
  for (std::uint32_t h = 0; h < path.size(); ++h) {
    const std::uint32_t link = index(path[h].link);
    if (links_[link].capacity == kInfinity) continue;
    const double weight = f.weight * path[h].fraction() + weight_of(&group_weight_[link * width_]);
    const double level = std::max(0.0, slack(link)) / weight;
    if (level >= least) continue;
    least = level;
    best = h;
  }
  if (best == kOwn) {
    hold_at_cap(flow);
    return kOwn;
  }
  join(flow, best);
  return index(path[best].link);
}

/// Restores the invariant of one link, given the levels of the flows that it does not hold.
void MaxMin::repair(std::uint32_t link) {
  LinkState& l = links_[link];
  while (true) {
    const double weight = weight_of(&group_weight_[link * width_]);
    if (weight == 0 && !overloaded(link)) return;
    const double level = weight == 0 ? -kInfinity : slack(link) / weight;
    if (l.capped > 0 && release_capped(link, level)) continue;
    if (level < l.highest * (1 - kTolerance)) take_higher(link);
    if (l.capped > 0 && release_capped(link, std::max(0.0, slack(link)) / weight_of(&group_weight_[link * width_]))) continue;
    break;
  }
  if (groups_[link].empty()) return;
  const double level = std::max(0.0, slack(link) / weight_of(&group_weight_[link * width_]));
  const bool same = l.level < kInfinity && std::abs(level - l.level) <= kSameLevel * l.level;
  if (same && !l.joined) return;
  grade(link, same ? l.level : level);
}

/// Flows of the group whose cap is below the link's level are held by it instead.
bool MaxMin::release_capped(std::uint32_t link, double level) {
  bool any = false;
  auto& group = groups_[link];
  for (std::uint32_t i = 0; i < group.size();) {
    const std::uint32_t flow = group[i].flow;
    if (flows_[flow].cap_level > level) {
      ++i;
      continue;
    }
    note_moved(flow);
    leave(flow);
    hold_at_cap(flow);
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
    if (f.level * (1 - kTolerance) > level) {
      candidates_.push_back({f.level, i});
    } else {
      rest = std::max(rest, f.level);
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
  const Fixed target = scale_.fixed(level);
  level = scale_.value(target);
  const double old = l.level;
  const Fixed common = old < kInfinity ? target - scale_.fixed(old) : 0;
  l.level = level;
  l.joined = false;
  note_load(link);
  for (const Member& m : groups_[link]) {
    Flow& f = flows_[m.flow];
    const Fixed difference = f.level == old ? common : target - scale_.fixed(f.level);
    ++touched_;
    if (difference == 0) continue;
    f.level = level;
    const auto path = hops(f);
    for (std::uint32_t h = 0; h < path.size(); ++h)
      if (h != m.hop) shift(path[h], f.weight, difference, level);
  }
}

void MaxMin::repair_all() {
  const std::uint64_t budget = touched_ + 8 * static_cast<std::uint64_t>(active_) + 64;
  std::uint64_t repairs = 64 + 8 * static_cast<std::uint64_t>(links_.size());
  while (!heap_.empty()) {
    const Entry next = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>{});
    heap_.pop_back();
    if (!links_[next.id].pending) continue;  // filled meanwhile
    links_[next.id].pending = false;
    repair(next.id);
    if (touched_ <= budget && repairs-- > 0) continue;
    const std::vector<std::uint32_t> reached = loaded_;
    fill_from(reached);
  }
}

void MaxMin::solve() {
  ++epoch_;
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
    } else if (const std::uint32_t link = place(flow); link != kOwn) {
      repair(link);
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
  for (const std::uint32_t link : regraded_)
    if (links_[link].level != links_[link].level_before) changed_ += groups_[link].size();
  for (const std::uint32_t flow : moved_) {
    const Flow& f = flows_[flow];
    if (f.group != kOwn && links_[f.group].epoch == epoch_ && links_[f.group].level != links_[f.group].level_before) --changed_;
    changed_ += f.level != f.level_before;
  }
}

}  // namespace traingraph::sim
