// Up*/down* routing on leaves, spines and cores: climb to the lowest level at which the two leaves meet, then descend. On
// the way up every uplink leads there; on the way down the spine below a core and the copy of a parallel link are free.
#include <algorithm>

#include "sim/error.h"
#include "topology/network.h"

namespace traingraph::topology {
namespace {

/// What is free on the way from leaf to leaf.
struct Choice {
  std::uint32_t up_spine = 0, up_copy = 0;           // leaf > spine
  std::uint32_t core = 0, core_up_copy = 0;          // spine > core, within the spine's core group
  std::uint32_t down_spine = 0, core_down_copy = 0;  // core > spine, within the core's group
  std::uint32_t down_copy = 0;                       // spine > leaf
};

class ClosNetwork : public SwitchedNetwork {
 public:
  ClosNetwork(const Layout& layout, const LegJoiner& join, const RoutingSpec& routing, bool reduces)
      : l_{layout}, c_{*layout.clos}, join_{join}, routing_{routing}, reduces_{reduces} {}

  std::uint32_t hops(NicPlace a, NicPlace b) const override {
    const std::uint32_t la = leaf(a, 0), lb = leaf(b, 0);
    if (la == lb) return 2;
    if (c_.tiers < 2) return 0;
    const std::uint32_t x = c_.block_of_leaf(la), y = c_.block_of_leaf(lb);
    if (x == y) return 4;
    return c_.tiers == 3 && c_.core_set_of_block(x) == c_.core_set_of_block(y) ? 6 : 0;
  }

  Leg leg(NicPlace a, NicPlace b, const Flow& flow) const override {
    const std::uint32_t links = hops(a, b);
    SIM_ASSERT(links > 0, "only NICs that can meet are joined");
    if (routing_.policy == RoutingPolicy::static_) return static_leg(a, b, links);
    Leg sum;
    if (routing_.policy == RoutingPolicy::ecmp) {
      for (std::uint32_t q = 0; q < routing_.queue_pairs; ++q)
        join_.add(sum, hashed_leg(a, b, links, FlowHash{routing_.seed, flow, q}), {1, routing_.queue_pairs});
    } else {
      for (std::uint32_t port = 0; port < c_.ports; ++port) join_.add(sum, sprayed_leg(a, b, port, links), {1, c_.ports});
    }
    return sum;
  }

  Leg reduction(std::span<const NicPlace> members) const override;

 private:
  [[nodiscard]] std::uint32_t leaf(NicPlace n, std::uint32_t port) const {
    return c_.leaf(n.node / c_.nodes_per_unit, l_.rail(n.node, n.nic), port);
  }
  /// A spine of a leaf's block, counted over all blocks.
  [[nodiscard]] std::uint32_t spine(std::uint32_t leaf, std::uint32_t s) const {
    return c_.block_of_leaf(leaf) * c_.spines_per_block + s;
  }
  [[nodiscard]] std::uint32_t group_first(std::uint32_t s) const {
    return s / c_.spines_per_core_group() * c_.spines_per_core_group();
  }

  [[nodiscard]] Leg chain(NicPlace a, NicPlace b, std::uint32_t port, std::uint32_t links, const Choice& x) const;
  [[nodiscard]] Leg static_leg(NicPlace a, NicPlace b, std::uint32_t links) const;
  [[nodiscard]] Leg hashed_leg(NicPlace a, NicPlace b, std::uint32_t links, const FlowHash& hash) const;
  [[nodiscard]] Leg sprayed_leg(NicPlace a, NicPlace b, std::uint32_t port, std::uint32_t links) const;
  void list_routes(Leg& leg, NicPlace a, NicPlace b, std::uint32_t port) const;
  [[nodiscard]] Leg tree(std::span<const NicPlace> members, std::uint32_t port, std::uint32_t tiers,
                         std::uint32_t root_spine, std::uint32_t root_core) const;

  const Layout& l_;
  const ClosShape& c_;
  const LegJoiner& join_;
  const RoutingSpec& routing_;
  bool reduces_;
};

Leg ClosNetwork::chain(NicPlace a, NicPlace b, std::uint32_t port, std::uint32_t links, const Choice& x) const {
  const std::uint32_t la = leaf(a, port), lb = leaf(b, port);
  std::vector<sim::LinkId> hops{l_.port_link(a.node, a.nic, port, false)};
  if (links >= 4) hops.push_back(l_.leaf_spine(la, x.up_spine, x.up_copy, false));
  if (links == 6) {
    hops.push_back(l_.spine_core(spine(la, x.up_spine), x.core, x.core_up_copy, false));
    hops.push_back(l_.spine_core(spine(lb, x.down_spine), x.core, x.core_down_copy, true));
  }
  if (links >= 4) hops.push_back(l_.leaf_spine(lb, x.down_spine, x.down_copy, true));
  hops.push_back(l_.port_link(b.node, b.nic, port, true));
  return join_.chain(hops);
}

/// d-mod-k: the digits of the destination's number on its rail, lowest first, choose port, spine, parallel link, core. Down
/// goes the way that up would come, so all traffic of a destination descends over the same switches.
Leg ClosNetwork::static_leg(NicPlace a, NicPlace b, std::uint32_t links) const {
  std::uint32_t rest = l_.number_on_rail(b.node, b.nic);
  const auto digit = [&rest](std::uint32_t base) {
    const std::uint32_t d = rest % base;
    rest /= base;
    return d;
  };
  const std::uint32_t port = digit(c_.ports);
  Choice x;
  if (links >= 4) {
    x.up_spine = x.down_spine = digit(c_.spines_per_block);
    x.up_copy = x.down_copy = digit(c_.leaf_spine_copies());
  }
  if (links == 6) {
    x.core = digit(c_.cores_per_group);
    x.core_up_copy = x.core_down_copy = digit(c_.spine_core_copies());
  }
  return chain(a, b, port, links, x);
}

Leg ClosNetwork::hashed_leg(NicPlace a, NicPlace b, std::uint32_t links, const FlowHash& hash) const {
  // the NIC takes part in the hash, so that the NICs of one GPU choose independently
  std::uint32_t place = a.nic << 8U;
  const auto pick = [&](std::uint32_t choices) { return hash.pick(place++, choices); };
  const std::uint32_t port = pick(c_.ports);
  Choice x;
  if (links >= 4) {
    x.up_spine = x.down_spine = pick(c_.spines_per_block);
    x.up_copy = pick(c_.leaf_spine_copies());
    x.down_copy = pick(c_.leaf_spine_copies());
  }
  if (links == 6) {
    x.core = pick(c_.cores_per_group);
    x.core_up_copy = pick(c_.spine_core_copies());
    x.core_down_copy = pick(c_.spine_core_copies());
    x.down_spine = group_first(x.up_spine) + pick(c_.spines_per_core_group());
  }
  return chain(a, b, port, links, x);
}

/// Every route carries the same share, so a link's share is one over the number of equal links at its place.
Leg ClosNetwork::sprayed_leg(NicPlace a, NicPlace b, std::uint32_t port, std::uint32_t links) const {
  if (links == 2) return chain(a, b, port, links, {});
  const std::uint32_t la = leaf(a, port), lb = leaf(b, port);
  const std::uint64_t spines = c_.spines_per_block, copies = c_.leaf_spine_copies();
  const std::uint64_t cores = c_.cores_per_group, core_copies = c_.spine_core_copies();
  Leg leg;
  leg.routes = spines * copies * copies;
  if (links == 6) leg.routes *= cores * core_copies * core_copies * c_.spines_per_core_group();
  const auto add = [&](sim::LinkId link, std::uint64_t k) { leg.links.push_back({link, {1, k}}); };
  add(l_.port_link(a.node, a.nic, port, false), 1);
  add(l_.port_link(b.node, b.nic, port, true), 1);
  for (std::uint32_t s = 0; s < spines; ++s) {
    for (std::uint32_t copy = 0; copy < copies; ++copy) {
      add(l_.leaf_spine(la, s, copy, false), spines * copies);
      add(l_.leaf_spine(lb, s, copy, true), spines * copies);
    }
    for (std::uint32_t core = 0; links == 6 && core < cores; ++core)
      for (std::uint32_t copy = 0; copy < core_copies; ++copy) {
        add(l_.spine_core(spine(la, s), core, copy, false), spines * cores * core_copies);
        add(l_.spine_core(spine(lb, s), core, copy, true), spines * cores * core_copies);
      }
  }
  leg.latency = chain(a, b, port, links, {}).latency;
  if (join_.lists(leg.routes)) list_routes(leg, a, b, port);
  return leg;
}

void ClosNetwork::list_routes(Leg& leg, NicPlace a, NicPlace b, std::uint32_t port) const {
  const std::uint32_t links = hops(a, b);
  const bool cores = links == 6;
  const std::uint32_t copies = c_.leaf_spine_copies(), core_copies = cores ? c_.spine_core_copies() : 1;
  const std::uint32_t core_count = cores ? c_.cores_per_group : 1, downs = cores ? c_.spines_per_core_group() : 1;
  const auto list = [&](const Choice& x) {
    Leg one = chain(a, b, port, links, x);
    leg.listed.push_back({std::move(one.listed.at(0).stages), {1, leg.routes}});
  };
  for (std::uint32_t s = 0; s < c_.spines_per_block; ++s)
    for (std::uint32_t i = 0; i < copies * copies; ++i)
      for (std::uint32_t core = 0; core < core_count; ++core)
        for (std::uint32_t j = 0; j < core_copies * core_copies; ++j)
          for (std::uint32_t d = 0; d < downs; ++d)
            list({.up_spine = s,
                  .up_copy = i / copies,
                  .core = core,
                  .core_up_copy = j / core_copies,
                  .down_spine = cores ? group_first(s) + d : s,
                  .core_down_copy = j % core_copies,
                  .down_copy = i % copies});
}

Leg ClosNetwork::reduction(std::span<const NicPlace> members) const {
  if (!reduces_)
    throw sim::InputError{
        "the members of an in-switch reduction are in different domains, and the scale-out switches cannot reduce "
        "(in_network_reduction is false)"};
  std::uint32_t tiers = 1;
  for (const NicPlace& m : members) {
    const std::uint32_t links = hops(members[0], m);
    if (links == 0) throw sim::InputError{"the members of an in-switch reduction share no switch: their rails are separate"};
    tiers = std::max(tiers, links / 2);
  }
  const std::uint32_t roots = (tiers >= 2 ? c_.spines_per_block : 1) * (tiers == 3 ? c_.cores_per_group : 1);
  const std::uint32_t first = l_.number_on_rail(members[0].node, members[0].nic);
  Leg sum;
  if (routing_.policy != RoutingPolicy::spray) {  // one tree, its root chosen as the first member's d-mod-k path would
    const std::uint32_t root = first / c_.ports % roots;
    if (tiers == 1) return tree(members, first % c_.ports, tiers, 0, 0);
    return tree(members, first % c_.ports, tiers, root % c_.spines_per_block, root / c_.spines_per_block);
  }
  for (std::uint32_t port = 0; port < c_.ports; ++port)
    for (std::uint32_t root = 0; root < roots; ++root)
      join_.add(sum,
                tree(members, port, tiers, tiers >= 2 ? root % c_.spines_per_block : 0,
                     tiers == 3 ? root / c_.spines_per_block : 0),
                {1, std::uint64_t{roots} * c_.ports});
  return sum;
}

/// The tree over spine `root_spine` of every block (and one core above them), each link once; first of parallel links.
Leg ClosNetwork::tree(std::span<const NicPlace> members, std::uint32_t port, std::uint32_t tiers, std::uint32_t root_spine,
                      std::uint32_t root_core) const {
  Leg::Stages stages(2 * tiers);
  std::vector<std::uint32_t> leaves, spines;
  for (const NicPlace& m : members) {
    stages.front().push_back(l_.port_link(m.node, m.nic, port, false));
    stages.back().push_back(l_.port_link(m.node, m.nic, port, true));
    leaves.push_back(leaf(m, port));
  }
  const auto unique = [](std::vector<std::uint32_t>& v) {
    std::ranges::sort(v);
    v.erase(std::unique(v.begin(), v.end()), v.end());
  };
  unique(leaves);
  for (std::size_t i = 0; tiers >= 2 && i < leaves.size(); ++i) {
    stages[1].push_back(l_.leaf_spine(leaves[i], root_spine, 0, false));
    stages[stages.size() - 2].push_back(l_.leaf_spine(leaves[i], root_spine, 0, true));
    spines.push_back(spine(leaves[i], root_spine));
  }
  unique(spines);
  for (std::size_t i = 0; tiers == 3 && i < spines.size(); ++i) {
    stages[2].push_back(l_.spine_core(spines[i], root_core, 0, false));
    stages[3].push_back(l_.spine_core(spines[i], root_core, 0, true));
  }
  return join_.staged(std::move(stages));
}

}  // namespace

std::unique_ptr<SwitchedNetwork> make_clos_network(const Layout& layout, const LegJoiner& join, const RoutingSpec& routing,
                                                   bool reduces) {
  return std::make_unique<ClosNetwork>(layout, join, routing, reduces);
}

}  // namespace traingraph::topology
