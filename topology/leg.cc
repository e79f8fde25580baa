#include "topology/leg.h"

#include <algorithm>
#include <limits>

namespace traingraph::topology {
namespace {

std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) {
  if (a != 0 && b > std::numeric_limits<std::uint64_t>::max() / a) return std::numeric_limits<std::uint64_t>::max();
  return a * b;
}

/// Equal routes become one with the sum of their shares.
void merge_equal(std::vector<Leg::ListedRoute>& routes) {
  std::vector<Leg::ListedRoute> out;
  for (Leg::ListedRoute& r : routes) {
    const auto same = std::ranges::find(out, r.stages, &Leg::ListedRoute::stages);
    if (same == out.end())
      out.push_back(std::move(r));
    else
      same->fraction = same->fraction + r.fraction;
  }
  routes = std::move(out);
}

}  // namespace

Leg LegJoiner::chain(const std::vector<sim::LinkId>& hops) const {
  const sim::Fraction all{1, 1};
  Leg leg;
  leg.routes = 1;
  leg.links.reserve(hops.size());
  for (const sim::LinkId l : hops) {
    leg.links.push_back({l, all});
    leg.latency += table_[l].latency;
  }
  if (lists(1)) {
    leg.listed.push_back({.stages = {}, .fraction = all});
    for (const sim::LinkId l : hops) leg.listed[0].stages.push_back({l});
  }
  return leg;
}

Leg LegJoiner::staged(Leg::Stages stages) const {
  const sim::Fraction all{1, 1};
  Leg leg;
  leg.routes = 1;
  for (const auto& stage : stages) {
    sim::Duration longest;
    for (const sim::LinkId l : stage) {
      leg.links.push_back({l, all});
      longest = std::max(longest, table_[l].latency);
    }
    leg.latency += longest;
  }
  if (lists(1)) leg.listed.push_back({.stages = std::move(stages), .fraction = all});
  return leg;
}

Leg LegJoiner::series(Leg a, Leg b) const {
  Leg leg;
  leg.latency = a.latency + b.latency;
  leg.routes = saturating_product(a.routes, b.routes);
  leg.links = std::move(a.links);
  leg.links.insert(leg.links.end(), b.links.begin(), b.links.end());
  if (lists(leg.routes))
    for (const Leg::ListedRoute& x : a.listed)
      for (const Leg::ListedRoute& y : b.listed) {
        leg.listed.push_back({.stages = x.stages, .fraction = x.fraction * y.fraction});
        auto& stages = leg.listed.back().stages;
        stages.insert(stages.end(), y.stages.begin(), y.stages.end());
      }
  return leg;
}

void LegJoiner::add(Leg& sum, Leg part, sim::Fraction fraction) const {
  sum.latency = std::max(sum.latency, part.latency);
  const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - sum.routes;
  sum.routes += std::min(part.routes, room);
  for (const Leg::Share& s : part.links) sum.links.push_back({s.link, s.fraction * fraction});
  if (!lists(sum.routes)) {
    sum.listed.clear();
    return;
  }
  for (Leg::ListedRoute& r : part.listed) sum.listed.push_back({std::move(r.stages), r.fraction * fraction});
}

sim::Path LegJoiner::path(Leg leg, sim::Duration overhead) const {
  sim::Path path;
  path.latency = leg.latency;
  path.overhead = overhead;
  std::ranges::sort(leg.links, {}, &Leg::Share::link);
  path.links.reserve(leg.links.size());
  for (std::size_t i = 0; i < leg.links.size();) {
    sim::Fraction sum = leg.links[i].fraction;
    std::size_t j = i + 1;
    for (; j < leg.links.size() && leg.links[j].link == leg.links[i].link; ++j) sum = sum + leg.links[j].fraction;
    path.links.push_back(sim::path_link(leg.links[i].link, sum));
    i = j;
  }
  if (!lists(leg.routes)) return path;
  merge_equal(leg.listed);
  for (Leg::ListedRoute& r : leg.listed) {
    const sim::PathLink share = sim::path_link({}, r.fraction);
    path.routes.push_back({.stages = std::move(r.stages), .n = share.n, .k = share.k});
  }
  return path;
}

}  // namespace traingraph::topology
