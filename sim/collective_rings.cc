// CollectivePlans: which calls may be played as rings whose members enter apart (conditions (4) and (5) of the header).
#include <algorithm>

#include "sim/collective_plans.h"
#include "sim/end_time.h"

namespace traingraph::sim {
namespace {

/// A number of lane_links that stands for links that some lanes share.
constexpr std::uint32_t kShared = 0xffffffff;

}  // namespace

void CollectivePlans::find_neighbours(const Template& role, Traffic& traffic) {
  traffic.neighbours.assign(role.ops.size(), Neighbours{});
  std::vector<std::uint32_t> first(role.streams, kNone);
  std::vector<std::uint32_t> last(role.streams, kNone);
  for (std::uint32_t op = 0; op < role.ops.size(); ++op) {
    const Op& o = role.ops[op];
    if (o.kind != OpKind::collective && o.kind != OpKind::send) continue;
    if (first[o.stream] == kNone) {
      first[o.stream] = op;
    } else {
      traffic.neighbours[op].before = last[o.stream];
      traffic.neighbours[last[o.stream]].after = op;
    }
    last[o.stream] = op;
  }
  for (std::uint32_t stream = 0; stream < role.streams; ++stream) {
    if (first[stream] == kNone) continue;
    traffic.neighbours[first[stream]].before = last[stream];
    traffic.neighbours[last[stream]].after = first[stream];
  }
}

bool CollectivePlans::one_role(CommunicatorId communicator) const {
  const std::vector<RankId>& members = program_.communicators[communicator].members;
  return std::all_of(members.begin(), members.end(),
                     [&](RankId m) { return program_.ranks[m].role == program_.ranks[members[0]].role; });
}

/// Fills `ring` and `lane_links` of a plan.
void CollectivePlans::find_ring(CollectivePlan& plan) {
  if (plan.lane_links != 0) return;
  plan.lane_links = kShared;
  if (!plan.bulk_exact || !one_role(plan.communicator)) return;
  std::optional<StaggeredRing>& ring = rings_.try_emplace(plan.source.get(), StaggeredRing::of(*plan.source)).first->second;
  if (!ring) return;
  std::vector<std::pair<LinkId, std::uint32_t>> lanes;  // by link
  for (std::uint32_t lane = 0; lane < plan.lane_paths.size(); ++lane)
    for (const PathLink& hop : paths_.links(plan.lane_paths[lane])) lanes.emplace_back(hop.link, lane);
  std::sort(lanes.begin(), lanes.end());
  const bool shared = std::adjacent_find(lanes.begin(), lanes.end(),
                                         [](const auto& a, const auto& b) { return a.first == b.first; }) != lanes.end();
  if (shared && options_.network != NetworkModel::ideal) return;
  std::vector<std::uint64_t> key;
  for (const auto& [link, lane] : lanes) key.push_back(std::uint64_t{index(link)} << 32 | lane);
  plan.lane_links =
      lane_links_.try_emplace(std::move(key), static_cast<std::uint32_t>(lane_links_.size() + 1)).first->second;
  plan.ring = &*ring;
}

bool CollectivePlans::same_lane_links(const CollectivePlan& plan, RankId rank, std::uint32_t op) {
  const Rank& r = program_.ranks[rank];
  const Op& o = program_.templates[r.role].ops[op];
  if (o.kind != OpKind::collective) return false;
  const Slot& slot = program_.slots[r.first_slot + o.slot];
  if (static_cast<CommunicatorId>(slot.target) != plan.communicator) return false;
  CollectivePlan& other = this->plan(plan.communicator, o.argument);
  find_ring(other);
  return other.ring != nullptr && other.lane_links == plan.lane_links;
}

const StaggeredRing* CollectivePlans::staggered_ring(CollectivePlan& plan, RankId rank, std::uint32_t op) {
  find_ring(plan);
  if (plan.ring == nullptr || options_.network == NetworkModel::ideal) return plan.ring;
  const Neighbours& beside = traffic_[index(program_.ranks[rank].role)].neighbours[op];
  const bool alone = same_lane_links(plan, rank, beside.before) && same_lane_links(plan, rank, beside.after);
  return alone ? plan.ring : nullptr;
}

StaggeredRing::Costs CollectivePlans::ring_costs(const CollectivePlan& plan) const {
  const PathId path = plan.lane_paths[0];
  const Time drained = end_time(Time::zero(), plan.source->send(0, 0).bytes.count(), plan.edge_rate);
  if (drained == Time::never()) beyond_clock();
  return {.overhead = paths_.overhead(path), .drain = drained.since_start(), .latency = paths_.latency(path)};
}

}  // namespace traingraph::sim
