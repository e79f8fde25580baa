#include "topology/shortest_paths.h"

#include <algorithm>
#include <limits>
#include <map>

#include "sim/error.h"

namespace traingraph::topology {
namespace {

constexpr std::uint32_t kFar = std::numeric_limits<std::uint32_t>::max();

std::uint64_t checked_sum(std::uint64_t a, std::uint64_t b) {
  if (a > std::numeric_limits<std::uint64_t>::max() - b)
    throw sim::InputError{
        "a pair has more shortest paths than can be counted (2^64); choose another routing policy than spray"};
  return a + b;
}

}  // namespace

ShortestPaths::ShortestPaths(const Fabric& fabric) : fabric_{fabric} {
  const Graph& g = fabric.graph;
  const std::size_t n = fabric.devices.size();
  first_in_.assign(n + 1, 0);
  for (std::uint32_t v = 0; v < n; ++v)
    for (auto [e, end] = boost::out_edges(v, g); e != end; ++e) ++first_in_[boost::target(*e, g) + 1];
  for (std::size_t i = 0; i < n; ++i) first_in_[i + 1] += first_in_[i];
  in_.resize(first_in_[n]);
  std::vector<std::uint32_t> at(first_in_.begin(), first_in_.end() - 1);
  for (std::uint32_t v = 0; v < n; ++v)
    for (auto [e, end] = boost::out_edges(v, g); e != end; ++e) in_[at[boost::target(*e, g)]++] = {v, g[*e].link};
}

bool ShortestPaths::may_pass(std::uint32_t device, bool through_gpus) const {
  return through_gpus || fabric_.devices[static_cast<DeviceId>(device)].kind != DeviceKind::gpu;
}

std::optional<std::uint32_t> ShortestPaths::distance(DeviceId from, DeviceId to, const PathRules& rules) const {
  // states: device x global links used so far (only where they are limited)
  const std::uint32_t layers = rules.most_global == ~0U ? 1 : rules.most_global + 1;
  std::vector<std::uint32_t> distance(fabric_.devices.size() * layers, kFar);
  std::vector<std::uint32_t> queue{sim::index(from) * layers};
  distance[queue[0]] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const std::uint32_t device = queue[i] / layers, used = queue[i] % layers;
    if (device == sim::index(to)) return distance[queue[i]];
    if (device != sim::index(from) && !may_pass(device, rules.through_gpus)) continue;
    for (auto [e, end] = boost::out_edges(device, fabric_.graph); e != end; ++e) {
      const Tier tier = fabric_.link_info[fabric_.graph[*e].link].tier;
      if ((rules.tiers & PathRules::bit(tier)) == 0) continue;
      const std::uint32_t layer = layers > 1 && tier == Tier::global ? used + 1 : used;
      if (layer >= layers) continue;
      const std::uint32_t state = boost::target(*e, fabric_.graph) * layers + layer;
      if (distance[state] != kFar) continue;
      distance[state] = distance[queue[i]] + 1;
      queue.push_back(state);
    }
  }
  return std::nullopt;
}

std::vector<std::uint32_t> ShortestPaths::distances_to(DeviceId to, std::optional<DeviceId> from, bool through_gpus) const {
  std::vector<std::uint32_t> distance(fabric_.devices.size(), kFar);
  std::vector<std::uint32_t> queue{sim::index(to)};
  distance[queue[0]] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const std::uint32_t device = queue[i];
    if (from && device == sim::index(*from)) break;
    if (device != sim::index(to) && !may_pass(device, through_gpus)) continue;
    for (std::uint32_t k = first_in_[device]; k < first_in_[device + 1]; ++k) {
      if (distance[in_[k].device] != kFar) continue;
      distance[in_[k].device] = distance[device] + 1;
      queue.push_back(in_[k].device);
    }
  }
  return distance;
}

std::vector<ShortestPaths::Edge> ShortestPaths::next(std::uint32_t device, DeviceId to, bool through_gpus,
                                                     const std::vector<std::uint32_t>& distance) const {
  std::vector<Edge> out;
  for (auto [e, end] = boost::out_edges(device, fabric_.graph); e != end; ++e) {
    const std::uint32_t t = boost::target(*e, fabric_.graph);
    if (distance[t] == kFar || distance[t] + 1 != distance[device]) continue;
    if (t != sim::index(to) && !may_pass(t, through_gpus)) continue;
    out.push_back({t, fabric_.graph[*e].link});
  }
  // the order in which links were listed, not that of the graph's storage
  std::ranges::sort(out, {}, &Edge::link);
  return out;
}

Leg ShortestPaths::leg(DeviceId from, DeviceId to, bool through_gpus, const Flow& flow, const RoutingSpec& routing,
                       const LegJoiner& join) const {
  SIM_ASSERT(routing.policy != RoutingPolicy::explicit_, "explicit routes are listed, not searched");
  const std::vector<std::uint32_t> distance = distances_to(to, from, through_gpus);
  if (distance[sim::index(from)] == kFar) return {};
  if (routing.policy == RoutingPolicy::spray) return sprayed(from, to, through_gpus, distance, join);
  const auto walk = [&](const auto& choose) {
    std::vector<sim::LinkId> hops;
    for (std::uint32_t at = sim::index(from); at != sim::index(to);) {
      const std::vector<Edge> edges = next(at, to, through_gpus, distance);
      const Edge& edge = edges[choose(static_cast<std::uint32_t>(hops.size()), static_cast<std::uint32_t>(edges.size()))];
      hops.push_back(edge.link);
      at = edge.device;
    }
    return join.chain(hops);
  };
  if (routing.policy == RoutingPolicy::static_) {
    std::uint32_t rest = flow.destination;
    return walk([&rest](std::uint32_t, std::uint32_t choices) {
      const std::uint32_t digit = rest % choices;
      rest /= choices;
      return digit;
    });
  }
  Leg sum;
  for (std::uint32_t q = 0; q < routing.queue_pairs; ++q) {
    const FlowHash hash{routing.seed, flow, q};
    join.add(sum, walk([&hash](std::uint32_t place, std::uint32_t choices) { return hash.pick(place, choices); }),
             {1, routing.queue_pairs});
  }
  return sum;
}

/// Counts shortest paths: before[v] from the source to v, after[v] from v to the destination; the link u > v carries
/// before[u] after[v] / total.
Leg ShortestPaths::sprayed(DeviceId from, DeviceId to, bool through_gpus, const std::vector<std::uint32_t>& distance,
                           const LegJoiner& join) const {
  struct Node {
    std::vector<Edge> edges;
    std::uint64_t before = 0, after = 0;
    sim::Duration latency;  // of the longest way from the source
  };
  std::vector<std::map<std::uint32_t, Node>> levels(distance[sim::index(from)] + 1);
  levels[0][sim::index(from)].before = 1;
  for (std::size_t i = 0; i + 1 < levels.size(); ++i)
    for (auto& [device, node] : levels[i]) {
      node.edges = next(device, to, through_gpus, distance);
      for (const Edge& e : node.edges) {
        Node& target = levels[i + 1][e.device];
        target.before = checked_sum(target.before, node.before);
        target.latency = std::max(target.latency, node.latency + fabric_.links[e.link].latency);
      }
    }
  Node& last = levels.back().at(sim::index(to));
  last.after = 1;
  Leg leg;
  leg.routes = last.before;
  leg.latency = last.latency;
  const sim::Fraction each = sim::Fraction::of(1, leg.routes);
  for (std::size_t i = levels.size() - 1; i-- > 0;)
    for (auto& [device, node] : levels[i])
      for (const Edge& e : node.edges) {
        const std::uint64_t after = levels[i + 1].at(e.device).after;
        node.after = checked_sum(node.after, after);
        leg.links.push_back({e.link, sim::Fraction{node.before, 1} * each * sim::Fraction{after, 1}});
      }
  if (!join.lists(leg.routes)) return leg;
  Leg::Stages stages;
  const auto list = [&](const auto& self, std::uint32_t device, std::size_t level) -> void {
    if (level + 1 == levels.size()) {
      leg.listed.push_back({.stages = stages, .fraction = each});
      return;
    }
    for (const Edge& e : levels[level].at(device).edges) {
      stages.push_back({e.link});
      self(self, e.device, level + 1);
      stages.pop_back();
    }
  };
  list(list, sim::index(from), 0);
  return leg;
}

std::optional<std::uint32_t> ShortestPaths::diameter(bool through_gpus) const {
  std::uint32_t most = 0;
  for (const DeviceId to : fabric_.endpoints) {
    const std::vector<std::uint32_t> distance = distances_to(to, std::nullopt, through_gpus);
    for (const DeviceId from : fabric_.endpoints) {
      if (distance[sim::index(from)] == kFar) return std::nullopt;
      most = std::max(most, distance[sim::index(from)]);
    }
  }
  return most;
}

}  // namespace traingraph::topology
