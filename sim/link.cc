#include "sim/link.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/clock_range.h"
#include "sim/error.h"
#include "sim/fraction.h"

namespace traingraph::sim {
namespace {

/// Sorts by link and adds the shares of equal links.
std::vector<PathLink> merged(std::vector<std::pair<LinkId, Fraction>> shares) {
  std::ranges::sort(shares, {}, [](const auto& s) { return s.first; });
  std::vector<PathLink> out;
  out.reserve(shares.size());
  for (std::size_t i = 0; i < shares.size();) {
    Fraction sum = shares[i].second;
    std::size_t j = i + 1;
    for (; j < shares.size() && shares[j].first == shares[i].first; ++j) sum = sum + shares[j].second;
    out.push_back(path_link(shares[i].first, sum));
    i = j;
  }
  return out;
}

/// The links of one stage are crossed in parallel, stages one after the other.
Duration propagation(const LinkTable& links, const Route& route) {
  Duration sum;
  for (const auto& stage : route.stages) {
    Duration longest;
    for (const LinkId l : stage) longest = std::max(longest, links[l].latency);
    sum = checked_sum(sum, longest);
  }
  return sum;
}

}  // namespace

Path single_path(const LinkTable& links, const std::vector<LinkId>& hops, Duration overhead) {
  Route route;
  route.stages.reserve(hops.size());
  for (const LinkId l : hops) route.stages.push_back({l});
  return combine_routes(links, {std::move(route)}, overhead);
}

Path combine_routes(const LinkTable& links, std::vector<Route> routes, Duration overhead) {
  Path path;
  path.overhead = overhead;
  std::vector<std::pair<LinkId, Fraction>> shares;
  Fraction total;
  for (const Route& route : routes) {
    SIM_ASSERT(route.n >= 1 && route.k >= 1, "a route carries a share of its transfer");
    const Fraction share = Fraction::of(route.n, route.k);
    total = total + share;
    for (const auto& stage : route.stages)
      for (const LinkId l : stage) {
        SIM_ASSERT(links.contains(l), "a route's links exist");
        shares.emplace_back(l, share);
      }
    path.latency = std::max(path.latency, propagation(links, route));
  }
  SIM_ASSERT(routes.empty() || total == Fraction::of(1, 1), "the shares of a path's routes add up to 1");
  path.links = merged(std::move(shares));
  path.routes = std::move(routes);
  return path;
}

Bandwidth rate_alone(const LinkTable& links, const Path& path) {
  double rate = std::numeric_limits<double>::infinity();
  for (const PathLink& l : path.links)
    rate = std::min(rate, links[l.link].capacity.bytes_per_s() * static_cast<double>(l.k) / static_cast<double>(l.n));
  return Bandwidth::bytes_per_s(rate);
}

}  // namespace traingraph::sim
