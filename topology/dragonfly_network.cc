// Minimal routing on a dragonfly: at most one global link, with a local hop before and after it where needed.
#include <algorithm>

#include "sim/error.h"
#include "topology/network.h"

namespace traingraph::topology {
namespace {

class DragonflyNetwork : public SwitchedNetwork {
 public:
  DragonflyNetwork(const Layout& layout, const LegJoiner& join, const RoutingSpec& routing)
      : l_{layout}, d_{*layout.dragonfly}, join_{join}, routing_{routing} {}

  std::uint32_t hops(NicPlace a, NicPlace b) const override {
    const Router x = router(a), y = router(b);
    if (x.group == y.group) return x.place == y.place ? 2 : 3;
    return 2 + length(x, y, gateways(x, y).front());
  }

  Leg leg(NicPlace a, NicPlace b, const Flow& flow) const override {
    const Router x = router(a), y = router(b);
    const bool within = x.group == y.group;
    const std::vector<std::uint32_t> links = within ? std::vector<std::uint32_t>{0} : gateways(x, y);
    const auto n = static_cast<std::uint32_t>(links.size());
    if (routing_.policy == RoutingPolicy::static_) {
      std::uint32_t rest = l_.number_on_rail(b.node, b.nic);
      const std::uint32_t t = links[rest % n];
      rest /= n;
      return chain(a, b, t, rest % d_.local_copies(), rest % d_.local_copies());
    }
    Leg sum;
    if (routing_.policy == RoutingPolicy::ecmp) {
      for (std::uint32_t q = 0; q < routing_.queue_pairs; ++q) {
        const FlowHash hash{routing_.seed, flow, q};
        std::uint32_t place = a.nic << 8U;
        const std::uint32_t t = links[hash.pick(place++, n)];
        const std::uint32_t first = hash.pick(place++, d_.local_copies()), second = hash.pick(place++, d_.local_copies());
        join_.add(sum, chain(a, b, t, first, second), {1, routing_.queue_pairs});
      }
      return sum;
    }
    // equally long ways have equally many local hops, hence equally many routes over parallel links
    const std::uint32_t copies = d_.local_copies();
    for (const std::uint32_t t : links) {
      const bool first = within ? x.place != y.place : d_.gateway(x.group, y.group, t) != x.place;
      const bool second = !within && d_.gateway(y.group, x.group, t) != y.place;
      const std::uint32_t firsts = first ? copies : 1, seconds = second ? copies : 1;
      for (std::uint32_t i = 0; i < firsts * seconds; ++i)
        join_.add(sum, chain(a, b, t, i / seconds, i % seconds), {1, std::uint64_t{n} * firsts * seconds});
    }
    return sum;
  }

  Leg reduction(std::span<const NicPlace>) const override {
    throw sim::InputError{
        "the members of an in-switch reduction are in different domains, and a dragonfly's routers cannot reduce"};
  }

 private:
  struct Router {
    std::uint32_t group, place;
  };
  [[nodiscard]] Router router(NicPlace n) const {
    const std::uint32_t r = (n.node * l_.nics_per_node + n.nic) / d_.hosts;
    return {r / d_.routers, r % d_.routers};
  }
  /// Links from router to router over global cable t.
  [[nodiscard]] std::uint32_t length(Router x, Router y, std::uint32_t t) const {
    return 1 + (d_.gateway(x.group, y.group, t) != x.place ? 1 : 0) + (d_.gateway(y.group, x.group, t) != y.place ? 1 : 0);
  }
  /// The global cables on the shortest ways between two groups' routers.
  [[nodiscard]] std::vector<std::uint32_t> gateways(Router x, Router y) const {
    std::vector<std::uint32_t> best;
    std::uint32_t least = 4;
    for (std::uint32_t t = 0; t < d_.pair_links; ++t) {
      const std::uint32_t len = length(x, y, t);
      if (len < least) best.clear();
      least = std::min(least, len);
      if (len == least) best.push_back(t);
    }
    return best;
  }
  [[nodiscard]] Leg chain(NicPlace a, NicPlace b, std::uint32_t t, std::uint32_t first_copy,
                          std::uint32_t second_copy) const {
    const Router x = router(a), y = router(b);
    std::vector<sim::LinkId> hops{l_.port_link(a.node, a.nic, 0, false)};
    if (x.group == y.group) {
      if (x.place != y.place) hops.push_back(l_.local_link(x.group, x.place, y.place, first_copy));
    } else {
      const std::uint32_t out = d_.gateway(x.group, y.group, t), in = d_.gateway(y.group, x.group, t);
      if (out != x.place) hops.push_back(l_.local_link(x.group, x.place, out, first_copy));
      hops.push_back(l_.global_link(x.group, y.group, t));
      if (in != y.place) hops.push_back(l_.local_link(y.group, in, y.place, second_copy));
    }
    hops.push_back(l_.port_link(b.node, b.nic, 0, true));
    return join_.chain(hops);
  }

  const Layout& l_;
  const DragonflyShape& d_;
  const LegJoiner& join_;
  const RoutingSpec& routing_;
};

}  // namespace

std::unique_ptr<SwitchedNetwork> make_dragonfly_network(const Layout& layout, const LegJoiner& join,
                                                        const RoutingSpec& routing) {
  return std::make_unique<DragonflyNetwork>(layout, join, routing);
}

}  // namespace traingraph::topology
