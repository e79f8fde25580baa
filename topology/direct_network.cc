// Routes on tori (dimension order, or spread over minimal paths) and between directly linked pairs.
#include <algorithm>
#include <numeric>

#include "sim/error.h"
#include "topology/network.h"

namespace traingraph::topology {

/// How far to go along one dimension, and which way.
struct DirectNetwork::Offset {
  std::size_t dim = 0;
  std::uint32_t steps = 0;
  bool up = true;
  bool tie = false;  ///< the other way round is as long
};

std::vector<DirectNetwork::Offset> DirectNetwork::offsets(std::uint32_t from, std::uint32_t to) const {
  const DirectShape& d = *l_.direct;
  std::vector<Offset> out;
  std::uint32_t stride = 1;
  for (std::size_t dim = 0; dim < d.dims.size(); ++dim) {
    const std::uint32_t n = d.dims[dim], a = from / stride % n, b = to / stride % n;
    stride *= n;
    if (a == b) continue;
    if (!d.wraps[dim]) {
      out.push_back({.dim = dim, .steps = b > a ? b - a : a - b, .up = b > a});
      continue;
    }
    const std::uint32_t up = (b + n - a) % n;
    out.push_back({.dim = dim, .steps = std::min(up, n - up), .up = up <= n - up, .tie = 2 * up == n});
  }
  return out;
}

std::uint32_t DirectNetwork::hops(std::uint32_t from, std::uint32_t to) const {
  if (l_.direct->all_pairs) return from == to ? 0 : 1;
  std::uint32_t sum = 0;
  for (const Offset& o : offsets(from, to)) sum += o.steps;
  return sum;
}

/// One step: the link taken; `point` moves on.
sim::LinkId DirectNetwork::hop(std::uint32_t& point, std::size_t dim, bool up, std::uint32_t position) const {
  const DirectShape& d = *l_.direct;
  std::uint32_t stride = 1;
  for (std::size_t i = 0; i < dim; ++i) stride *= d.dims[i];
  const std::uint32_t n = d.dims[dim], place = point / stride % n;
  const std::uint32_t next = point - place * stride + (up ? (place + 1) % n : (place + n - 1) % n) * stride;
  const std::uint64_t cable = d.torus_cable(up ? point : next, dim);
  point = next;
  return l_.direct_link(cable, position, !up);
}

Leg DirectNetwork::in_order(std::uint32_t from, const std::vector<Offset>& order, std::uint32_t position) const {
  std::vector<sim::LinkId> links;
  for (const Offset& o : order)
    for (std::uint32_t i = 0; i < o.steps; ++i) links.push_back(hop(from, o.dim, o.up, position));
  return join_.chain(links);
}

Leg DirectNetwork::leg(std::uint32_t from, std::uint32_t to, std::uint32_t position, const Flow& flow) const {
  if (l_.direct->all_pairs)
    return join_.chain({l_.direct_link(l_.direct->pair_cable(std::min(from, to), std::max(from, to)), position, from > to)});
  std::vector<Offset> way = offsets(from, to);
  if (routing_.policy == RoutingPolicy::static_) {  // lowest dimension first; ties alternate with the destination
    std::uint32_t rest = to;
    for (Offset& o : way) {
      if (o.tie) o.up = (rest & 1U) == 0;
      rest /= l_.direct->dims[o.dim];
    }
    return in_order(from, way, position);
  }
  if (routing_.policy == RoutingPolicy::ecmp) {
    Leg sum;
    for (std::uint32_t q = 0; q < routing_.queue_pairs; ++q) {
      const FlowHash hash{routing_.seed, flow, q};
      std::vector<Offset> order = way;
      for (std::size_t i = order.size(); i > 1; --i)
        std::swap(order[i - 1], order[hash.pick(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i))]);
      for (Offset& o : order)
        if (o.tie) o.up = hash.pick(16 + static_cast<std::uint32_t>(o.dim), 2) == 0;
      join_.add(sum, in_order(from, order, position), {1, routing_.queue_pairs});
    }
    return sum;
  }
  // spray: over both ways round where they are equally long, then over the paths of each
  std::vector<std::size_t> ties;
  for (std::size_t i = 0; i < way.size(); ++i)
    if (way[i].tie) ties.push_back(i);
  const std::uint32_t ways = 1U << ties.size();
  Leg sum;
  for (std::uint32_t mask = 0; mask < ways; ++mask) {
    for (std::size_t i = 0; i < ties.size(); ++i) way[ties[i]].up = (mask >> i & 1U) == 0;
    const bool orders = routing_.torus_spray == TorusSpray::dimension_orders;
    join_.add(sum, orders ? all_orders(from, way, position) : all_minimal(from, way, position, ways), {1, ways});
  }
  return sum;
}

Leg DirectNetwork::all_orders(std::uint32_t from, const std::vector<Offset>& offsets, std::uint32_t position) const {
  std::vector<std::size_t> order(offsets.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::uint64_t count = 1;
  for (std::size_t i = 2; i <= order.size(); ++i) count *= i;
  Leg sum;
  do {
    std::vector<Offset> way;
    for (const std::size_t i : order) way.push_back(offsets[i]);
    join_.add(sum, in_order(from, way, position), {1, count});
  } while (std::next_permutation(order.begin(), order.end()));
  return sum;
}

namespace {

/// Monotone lattice paths over the given steps: the multinomial (sum)! / product of steps!.
std::uint64_t lattice_paths(const std::vector<std::uint32_t>& steps) {
  std::uint64_t ways = 1, placed = 0;
  for (const std::uint32_t s : steps)
    for (std::uint32_t i = 1; i <= s; ++i) {
      // ways x (placed + i) / i stays whole: a product of binomials
      const sim::Fraction next = sim::Fraction::of(ways, i) * sim::Fraction::of(++placed, 1);
      SIM_ASSERT(next.k == 1, "a multinomial is whole");
      ways = next.n;
    }
  return ways;
}

}  // namespace

Leg DirectNetwork::all_minimal(std::uint32_t from, const std::vector<Offset>& offsets, std::uint32_t position,
                               std::uint32_t ways) const {
  try {
    return box(from, offsets, position, ways);
  } catch (const sim::InputError&) {
    throw sim::InputError{
        "routing spray over all minimal paths of this torus needs shares finer than 32 bits for far pairs; set "
        "torus_spray: dimension_orders, or another policy"};
  }
}

/// One of `ways` ways round. The share of the step from x along dimension i in the box of minimal paths: paths(0, x) paths(x
/// + e_i, d) / paths(0, d).
Leg DirectNetwork::box(std::uint32_t from, const std::vector<Offset>& offsets, std::uint32_t position,
                       std::uint32_t ways) const {
  std::vector<std::uint32_t> all, x(offsets.size(), 0);
  for (const Offset& o : offsets) all.push_back(o.steps);
  Leg leg;
  leg.routes = lattice_paths(all);
  leg.latency = in_order(from, offsets, position).latency;
  const sim::Fraction each = sim::Fraction::of(1, leg.routes);
  std::vector<std::uint32_t> rest = all;
  for (bool more = true; more;) {
    std::uint32_t point = from;
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::uint32_t s = 0; s < x[i]; ++s) static_cast<void>(hop(point, offsets[i].dim, offsets[i].up, position));
    const sim::Fraction before = sim::Fraction{lattice_paths(x), 1} * each;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i] == all[i]) continue;
      std::vector<std::uint32_t> left = rest;
      --left[i];
      std::uint32_t at = point;
      const sim::LinkId link = hop(at, offsets[i].dim, offsets[i].up, position);
      const sim::Fraction share = before * sim::Fraction{lattice_paths(left), 1};
      leg.links.push_back({link, share});
      static_cast<void>(sim::path_link(link, share * sim::Fraction{1, ways}));  // refuses shares that cannot be kept
    }
    more = false;
    for (std::size_t i = 0; i < x.size() && !more; ++i) {
      more = x[i] < all[i];
      x[i] = more ? x[i] + 1 : 0;
      rest[i] = all[i] - x[i];
    }
  }
  if (join_.lists(leg.routes)) {
    std::vector<std::size_t> steps;  // each distinct order of single steps is one path
    for (std::size_t i = 0; i < all.size(); ++i) steps.insert(steps.end(), all[i], i);
    do {
      std::uint32_t at = from;
      Leg::Stages stages;
      for (const std::size_t i : steps) stages.push_back({hop(at, offsets[i].dim, offsets[i].up, position)});
      leg.listed.push_back({.stages = std::move(stages), .fraction = each});
    } while (std::next_permutation(steps.begin(), steps.end()));
  }
  return leg;
}

}  // namespace traingraph::topology
