#include "sim/collective_plans.h"

#include <algorithm>
#include <bit>

#include "sim/error.h"

namespace traingraph::sim {

namespace {

/// Above this many lanes a collective's links are not surveyed for exact bulk play (memory and start-up time).
constexpr std::uint32_t kSurveyLanes = 1u << 20;

/// The distinct ranks whose transfers use a link, while they are few; and the stream on which they start them.
struct LinkUsers {
  static constexpr std::size_t kMost = 8;
  std::vector<RankId> ranks;
  std::uint32_t stream = 0;
  bool mixed = false;

  void add(RankId rank, std::uint32_t on_stream, bool one_stream) {
    if (ranks.empty() && !mixed) stream = on_stream;
    if (mixed || !one_stream || on_stream != stream) {
      mixed = true;
      return;
    }
    if (std::find(ranks.begin(), ranks.end(), rank) != ranks.end()) return;
    if (ranks.size() == kMost) {
      mixed = true;
    } else {
      ranks.push_back(rank);
    }
  }
};

}  // namespace

std::uint64_t member_connection(CommunicatorId communicator, std::uint32_t source, std::uint32_t destination) {
  std::uint64_t x = std::uint64_t{index(communicator)} * 0x9e3779b97f4a7c15U;
  x ^= (std::uint64_t{source} << 32 | destination) + 0x632be59bd9b4e019U + (x << 6) + (x >> 2);
  return x;
}

std::uint32_t lane_member(const TransferSource& source, std::uint32_t lane) {
  std::uint32_t low = 0;
  std::uint32_t high = source.members();
  while (high - low > 1) {
    const std::uint32_t middle = (low + high) / 2;
    (source.first_lane(middle) <= lane ? low : high) = middle;
  }
  return low;
}

CollectivePlans::CollectivePlans(const LinkTable& links, const Program& program, const RunOptions& options, PathTable& paths,
                                 PathCache& cache)
    : links_{links}, program_{program}, options_{options}, paths_{paths}, cache_{cache} {
  survey();
}

AloneTimer& CollectivePlans::timer() {
  if (!timer_) timer_ = std::make_unique<AloneTimer>(links_, paths_, options_.network);
  return *timer_;
}

std::shared_ptr<const TransferSource> CollectivePlans::source(CommunicatorId communicator, std::uint32_t collective) {
  const Communicator& c = program_.communicators[communicator];
  auto& known = sources_[{collective, c.shape}];
  if (!known) known = program_.source(collective, c.shape, c.members);
  SIM_ASSERT(known->members() == c.members.size(), "a collective's algorithm is made for its communicator's size");
  return known;
}

CollectivePlan& CollectivePlans::plan(CommunicatorId communicator, std::uint32_t collective) {
  auto& known = plans_[std::uint64_t{index(communicator)} << 32 | collective];
  if (!known) {
    known = std::make_unique<CollectivePlan>();
    known->communicator = communicator;
    known->collective = collective;
    known->source = source(communicator, collective);
    known->lane_paths.assign(known->source->lanes(), CollectivePlan::kNoPath);
  }
  return *known;
}

PathId CollectivePlans::path(CollectivePlan& plan, std::uint32_t lane, const Send& send) {
  PathId& known = plan.lane_paths[lane];
  if (known != CollectivePlan::kNoPath) return known;
  const auto& members = program_.communicators[plan.communicator].members;
  const auto endpoint = [&](std::uint32_t member) { return program_.ranks[members[member]].endpoint; };
  if (send.to_all) {
    std::vector<EndpointId> all;
    for (std::uint32_t m = 0; m < members.size(); ++m) all.push_back(endpoint(m));
    return known = cache_.in_switch(all);
  }
  const std::uint32_t from = lane_member(*plan.source, lane);
  const PathId path =
      cache_.path(endpoint(from), endpoint(send.destination), member_connection(plan.communicator, from, send.destination));
  if (plan.source->uniform(lane)) known = path;
  return path;
}

const std::vector<BulkEdge>& CollectivePlans::bulk_edges(CollectivePlan& plan) {
  std::vector<BulkEdge>& edges = plan.edges;
  if (plan.edges_known) return edges;
  plan.edges_known = true;
  const TransferSource& source = *plan.source;
  for (std::uint32_t lane = 0; lane < source.lanes(); ++lane) {
    const std::uint32_t sends = source.sends(lane);
    if (sends == 0) continue;
    if (source.uniform(lane)) {
      const Send send = source.send(lane, 0);
      edges.push_back({lane, send.destination, path(plan, lane, send), send.bytes * sends});
      continue;
    }
    const std::size_t first = edges.size();
    for (std::uint32_t s = 0; s < sends; ++s) {
      const Send send = source.send(lane, s);
      const auto same = std::find_if(edges.begin() + static_cast<std::ptrdiff_t>(first), edges.end(),
                                     [&](const BulkEdge& e) { return e.destination == send.destination; });
      if (same == edges.end()) {
        edges.push_back({lane, send.destination, path(plan, lane, send), send.bytes});
      } else {
        same->bytes += send.bytes;
      }
    }
  }
  return edges;
}

const std::vector<LinkLoad>& CollectivePlans::link_loads(CollectivePlan& plan) {
  if (!plan.loads.empty()) return plan.loads;
  for (const BulkEdge& edge : bulk_edges(plan))
    for (const PathLink& hop : paths_.links(edge.path)) plan.loads.push_back({hop.link, plan.edge_rate * hop.n / hop.k});
  std::stable_sort(plan.loads.begin(), plan.loads.end(),
                   [](const LinkLoad& a, const LinkLoad& b) { return a.link < b.link; });
  std::size_t kept = 0;
  for (const LinkLoad& load : plan.loads) {
    if (kept > 0 && plan.loads[kept - 1].link == load.link) {
      plan.loads[kept - 1].bytes_per_s += load.bytes_per_s;
    } else {
      plan.loads[kept++] = load;
    }
  }
  plan.loads.resize(kept);
  for (LinkLoad& load : plan.loads)  // sums of rounded shares must not exceed what the solver has granted
    load.bytes_per_s = std::min(load.bytes_per_s, links_[load.link].capacity.bytes_per_s());
  return plan.loads;
}

Duration CollectivePlans::charge(CollectivePlan& plan) {
  if (plan.charge_known) return plan.charge;
  // Communicators with the same algorithm and edges of the same cost share one computation.
  std::vector<std::uint64_t> key{plan.collective, program_.communicators[plan.communicator].shape};
  const std::vector<BulkEdge>& edges = bulk_edges(plan);
  std::vector<PathId> edge_paths;
  for (const BulkEdge& e : edges) edge_paths.push_back(e.path);
  const std::vector<double> rates = timer().rates(edge_paths);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    key.push_back(std::bit_cast<std::uint64_t>(rates[i]));
    key.push_back(static_cast<std::uint64_t>(paths_.latency(edge_paths[i]).count_ps()));
    key.push_back(static_cast<std::uint64_t>(paths_.overhead(edge_paths[i]).count_ps()));
  }
  const auto [known, fresh] = charges_.try_emplace(std::move(key));
  if (fresh) {
    const Duration in_steps =
        timer().steps(*plan.source, [&](std::uint32_t lane, const Send& send) { return path(plan, lane, send); });
    known->second.drain = timer().bulk(edges);
    known->second.charge = std::max(Duration{}, in_steps - known->second.drain);
  }
  plan.charge = known->second.charge;
  plan.drain = known->second.drain;
  plan.charge_known = true;
  return plan.charge;
}

bool CollectivePlans::equal_edges(CollectivePlan& plan) {
  const TransferSource& source = *plan.source;
  if (source.lanes() == 0) return true;
  // One lane a member that repeats itself (rings), or everything at once (direct): then all lanes are active together.
  bool at_once = true;
  for (std::uint32_t lane = 0; lane < source.lanes(); ++lane) {
    if (!source.uniform(lane)) return false;
    at_once = at_once && source.sends(lane) == 1 && source.needs(lane, 0).size == 0;
  }
  if (!at_once && source.lanes() != source.members()) return false;
  // All members end together only if all send and receive alike: the root of a gather does not.
  const auto arrivals = [&](std::uint32_t member) {
    std::uint64_t sum = 0;
    for (std::uint32_t b = source.first_inbox(member); b < source.first_inbox(member + 1); ++b) sum += source.expected(b);
    return sum;
  };
  for (std::uint32_t m = 1; m < source.members(); ++m)
    if (source.first_lane(m + 1) - source.first_lane(m) != source.first_lane(1) || arrivals(m) != arrivals(0)) return false;
  std::vector<PathId> lane_paths;
  for (std::uint32_t lane = 0; lane < source.lanes(); ++lane) {
    const Send send = source.send(lane, 0);
    if (send.to_all || source.sends(lane) != source.sends(0) || send.bytes.count() != source.send(0, 0).bytes.count() ||
        source.needs(lane, 0).size != source.needs(0, 0).size)
      return false;
    lane_paths.push_back(path(plan, lane, send));
    if (paths_.latency(lane_paths[lane]) != paths_.latency(lane_paths[0]) ||
        paths_.overhead(lane_paths[lane]) != paths_.overhead(lane_paths[0]))
      return false;
  }
  const std::vector<double> rates = timer().rates(lane_paths);
  plan.edge_rate = rates[0];
  return std::all_of(rates.begin(), rates.end(), [&](double r) { return r == rates[0]; });
}

CollectivePlans::Traffic CollectivePlans::traffic_of(const Template& role) {
  Traffic traffic;
  find_neighbours(role, traffic);
  for (const Op& op : role.ops) {
    if (op.kind == OpKind::send) {
      traffic.messages += 1;
      const std::pair<std::uint32_t, std::uint32_t> key{op.slot, op.stream};
      if (std::find(traffic.sends.begin(), traffic.sends.end(), key) == traffic.sends.end()) traffic.sends.push_back(key);
    }
    if (op.kind != OpKind::collective) continue;
    const auto same = std::find_if(traffic.calls.begin(), traffic.calls.end(),
                                   [&](const Call& c) { return c.collective == op.argument && c.slot == op.slot; });
    if (same == traffic.calls.end()) {
      traffic.calls.push_back({op.argument, op.slot, op.stream, 1, true});
    } else {
      ++same->count;
      same->one_stream = same->one_stream && same->stream == op.stream;
    }
  }
  return traffic;
}

void CollectivePlans::survey() {
  for (const Template& role : program_.templates) traffic_.push_back(traffic_of(role));
  const bool any = std::any_of(traffic_.begin(), traffic_.end(), [](const Traffic& t) { return !t.calls.empty(); });
  if (any && options_.collectives == CollectiveMode::automatic && options_.network != NetworkModel::chunk) find_exact();
  // Every member of a communicator issues the same calls; member 0 speaks for it.
  for (const Rank& rank : program_.ranks) {
    const Traffic& role = traffic_[index(rank.role)];
    inexact_transfers_ += role.messages * program_.steps;
    for (const Call& call : role.calls) {
      const Slot& slot = program_.slots[rank.first_slot + call.slot];
      if (slot.member != 0) continue;
      CollectivePlan& p = plan(static_cast<CommunicatorId>(slot.target), call.collective);
      p.sends = 0;
      for (std::uint32_t lane = 0; lane < p.source->lanes(); ++lane) p.sends += p.source->sends(lane);
      (p.bulk_exact ? program_transfers_ : inexact_transfers_) += p.sends * static_cast<double>(call.count) * program_.steps;
    }
  }
  program_transfers_ += inexact_transfers_;
}

void CollectivePlans::find_exact() {
  IdVector<LinkId, LinkUsers> users(links_.size());
  std::vector<bool> changes(links_.size(), false);  // links whose capacity changes during the run
  for (const Program::LinkChange& change : program_.link_changes) changes[index(change.link)] = true;
  std::vector<CollectivePlan*> candidates;
  const auto note = [&](PathId path, RankId rank, std::uint32_t stream, bool one_stream) {
    for (const PathLink& hop : paths_.links(path)) users[hop.link].add(rank, stream, one_stream);
  };
  for (std::uint32_t r = 0; r < program_.ranks.size(); ++r) {
    const auto id = static_cast<RankId>(r);
    const Rank& rank = program_.ranks[id];
    for (const auto& [slot_index, stream] : traffic_[index(rank.role)].sends) {
      const auto channel = static_cast<ChannelId>(program_.slots[rank.first_slot + slot_index].target);
      const Channel& c = program_.channels[channel];
      note(cache_.path(rank.endpoint, program_.ranks[c.destination].endpoint, channel_connection(channel)), id, stream,
           true);
    }
    for (const Call& call : traffic_[index(rank.role)].calls) {
      const Slot& slot = program_.slots[rank.first_slot + call.slot];
      CollectivePlan& p = plan(static_cast<CommunicatorId>(slot.target), call.collective);
      const TransferSource& source = *p.source;
      const bool surveyed = source.lanes() <= kSurveyLanes;
      if (slot.member == 0 && surveyed) candidates.push_back(&p);
      const std::uint32_t end = source.first_lane(slot.member + 1);
      for (std::uint32_t lane = source.first_lane(slot.member); lane < end; ++lane) {
        const std::uint32_t distinct = source.uniform(lane) ? std::min(source.sends(lane), 1u) : source.sends(lane);
        for (std::uint32_t s = 0; s < distinct; ++s) {
          const Send send = source.send(lane, s);
          note(path(p, lane, send), id, call.stream, call.one_stream && surveyed && !send.to_all);
        }
      }
    }
  }
  for (CollectivePlan* p : candidates) {
    if (!equal_edges(*p)) continue;
    std::vector<RankId> members = program_.communicators[p->communicator].members;
    std::sort(members.begin(), members.end());
    p->bulk_exact = true;
    for (const PathId lane_path : p->lane_paths) {
      if (lane_path == CollectivePlan::kNoPath) continue;
      for (const PathLink& hop : paths_.links(lane_path)) {
        p->bulk_exact = p->bulk_exact && !changes[index(hop.link)];
        if (options_.network == NetworkModel::ideal) continue;  // nothing shares a link
        const LinkUsers& u = users[hop.link];
        p->bulk_exact = p->bulk_exact && !u.mixed && std::all_of(u.ranks.begin(), u.ranks.end(), [&](RankId rank) {
                          return std::binary_search(members.begin(), members.end(), rank);
                        });
      }
    }
  }
}

}  // namespace traingraph::sim
