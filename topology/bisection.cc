// A fabric's bisection: the GPUs in two halves, and the narrowest place between them that the kind of network has.
#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "topology/build_parts.h"
#include "topology/cuts.h"

namespace traingraph::topology {
namespace {

/// The place of each domain (point) in an order whose lower half is a half of the torus across the dimension that is cut
/// narrowest: that dimension varies slowest.
auto torus_order(const DirectShape& d) {
  std::size_t best = 0;
  double least = 0;
  for (std::size_t i = 0; i < d.dims.size(); ++i) {
    if (d.dims[i] < 2) continue;
    const double cables = static_cast<double>(d.points / d.dims[i]) * (d.wraps[i] ? 2 : 1);
    if (least == 0 || cables < least) {
      least = cables;
      best = i;
    }
  }
  std::uint32_t stride = 1;
  for (std::size_t i = 0; i < best; ++i) stride *= d.dims[i];
  return [stride, n = d.dims[best], lines = d.points / d.dims[best]](std::uint32_t point) {
    return point / stride % n * lines + point / (stride * n) * stride + point % stride;
  };
}

/// Half of the GPUs, the smaller one where they are odd: whole domains, or of a single domain the first GPUs.
std::function<bool(std::uint32_t)> gpu_half(const Layout& l) {
  if (l.domains == 1) return [&l](std::uint32_t e) { return e < l.gpus / 2; };
  if (l.direct && !l.direct->all_pairs)
    return [&l, order = torus_order(*l.direct)](std::uint32_t e) { return order(l.domain(e)) < l.domains / 2; };
  return [&l](std::uint32_t e) { return l.domain(e) < l.domains / 2; };
}

/// Which switches stand with the GPUs that `gpus` names, so that the links between them and the rest carry least: a unit's
/// leaves, when they have less capacity up than down, and a pod's spines, when they have less than what is below them.
class Side {
 public:
  Side(const Layout& l, std::function<bool(std::uint32_t)> gpus) : l_{l}, gpus_{std::move(gpus)} {
    if (l.clos) choose(*l.clos);
    if (l.dragonfly) choose(*l.dragonfly);
  }

  [[nodiscard]] bool contains(DeviceId id) const {
    const std::uint32_t i = sim::index(id);
    if (i < l_.gpus) return gpus_(i);
    if (i < l_.nic_device) {  // an NVSwitch goes with its domain; of a domain cut in two it stays outside
      const std::uint32_t first = (i - l_.nvswitch_device) / l_.planes * l_.domain_gpus;
      return gpus_(first) && gpus_(first + l_.gpus_of_domain(first / l_.domain_gpus) - 1);
    }
    if (i < l_.leaf_device) {
      const std::uint32_t nic = i - l_.nic_device;
      return gpus_(nic / l_.nics_per_node * l_.gpus_per_node + nic % l_.nics_per_node / l_.nics_per_gpu * l_.gpus_per_nic);
    }
    if (l_.dragonfly) return routers_[i - l_.leaf_device];
    const ClosShape& c = *l_.clos;
    if (i < l_.spine_device) return leaves_[(i - l_.leaf_device) / c.leaves_per_unit];
    return i < l_.core_device && spines_[(i - l_.spine_device) / c.spines_per_block / c.classes()];
  }

 private:
  [[nodiscard]] bool whole(std::uint32_t first_node, std::uint32_t end_node) const {
    const std::uint32_t end = std::min(end_node, l_.nodes);
    for (std::uint32_t e = first_node * l_.gpus_per_node; e < end * l_.gpus_per_node; ++e)
      if (!gpus_(e)) return false;
    return true;
  }

  void choose(const ClosShape& c) {
    leaves_.assign(c.units, false);
    spines_.assign(c.pods, false);
    if (c.tiers < 2) return;
    const double nic = c.nic.bandwidth.bytes_per_s() * l_.nics_per_node * c.ports;
    const double up = c.leaf_spine.bandwidth.bytes_per_s() * c.leaves_per_unit * c.spines_per_block * c.leaf_spine_links;
    const double top =
        c.spine_core.bandwidth.bytes_per_s() * c.classes() * c.spines_per_block * c.cores_per_group * c.spine_core_links;
    for (std::uint32_t pod = 0; pod < c.pods; ++pod) {
      const std::uint32_t first = pod * c.units_per_pod, end = std::min(first + c.units_per_pod, c.units);
      double below = 0;
      bool all = true;
      for (std::uint32_t unit = first; unit < end; ++unit) {
        const std::uint32_t node = unit * c.nodes_per_unit, end_node = std::min(node + c.nodes_per_unit, l_.nodes);
        const double down = nic * (end_node - node);
        const bool inside = whole(node, end_node);
        leaves_[unit] = inside && up <= down;
        below += std::min(up, down);
        all = all && inside;
      }
      spines_[pod] = all && c.tiers == 3 && top <= below;
      if (spines_[pod]) std::fill(leaves_.begin() + first, leaves_.begin() + end, true);
    }
  }

  /// A router stands with its NICs; those without NICs with those before them.
  void choose(const DragonflyShape& d) {
    routers_.assign(std::size_t{d.groups} * d.routers, false);
    const std::uint64_t nics = std::uint64_t{l_.nodes} * l_.nics_per_node;
    for (std::size_t r = 0; r < routers_.size(); ++r) {
      const std::uint64_t first = r * d.hosts, end = std::min<std::uint64_t>(first + d.hosts, nics);
      routers_[r] = first < nics || r == 0 ? first < end : bool{routers_[r - 1]};
      for (std::uint64_t n = first; n < end; ++n) {
        const auto node = static_cast<std::uint32_t>(n / l_.nics_per_node),
                   nic = static_cast<std::uint32_t>(n % l_.nics_per_node);
        routers_[r] = routers_[r] && gpus_(node * l_.gpus_per_node + nic / l_.nics_per_gpu * l_.gpus_per_nic);
      }
    }
  }

  const Layout& l_;
  std::function<bool(std::uint32_t)> gpus_;
  std::vector<bool> leaves_, spines_, routers_;  // by unit, by pod, by router
};

}  // namespace

Cut bisection(const Fabric& fabric, const Layout& l) {
  const auto gpus = gpu_half(l);
  const Side lower{l, gpus};
  const Side upper{l, [&gpus](std::uint32_t e) { return !gpus(e); }};
  Cut first = make_cut(fabric, "bisection", "bisection", [&](DeviceId d) { return lower.contains(d); });
  if (!l.clos && !l.dragonfly) return first;
  Cut second = make_cut(fabric, "bisection", "bisection", [&](DeviceId d) { return !upper.contains(d); });
  return second.capacity_out < first.capacity_out ? second : first;
}

}  // namespace traingraph::topology
