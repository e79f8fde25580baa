// Where each kind of network is narrowest in the middle.
#include <algorithm>

#include "topology/build_parts.h"
#include "topology/cuts.h"

namespace traingraph::topology {
namespace {

/// The half of the domains (points) on one side: of the dimension whose cut is narrowest, the lower half.
auto torus_half(const DirectShape& d) {
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
  return [stride, n = d.dims[best]](std::uint32_t point) { return point / stride % n < n / 2; };
}

std::function<bool(std::uint32_t)> gpu_half(const Layout& l) {
  if (l.clos && l.clos->pods > 1)
    return [&l](std::uint32_t e) { return l.node(e) / l.clos->nodes_per_unit / l.clos->units_per_pod < l.clos->pods / 2; };
  if (l.clos && l.clos->units > 1)
    return [&l](std::uint32_t e) { return l.node(e) / l.clos->nodes_per_unit < l.clos->units / 2; };
  if (l.dragonfly && l.dragonfly->groups > 1)
    return [&l](std::uint32_t e) {
      const std::uint32_t router = (l.node(e) * l.nics_per_node + l.nic_of(e, 0)) / l.dragonfly->hosts;
      return router / l.dragonfly->routers < l.dragonfly->groups / 2;
    };
  if (l.direct && l.domains > 1) {
    if (l.direct->all_pairs) return [&l](std::uint32_t e) { return l.domain(e) < l.domains / 2; };
    return [&l, half = torus_half(*l.direct)](std::uint32_t e) { return half(l.domain(e)); };
  }
  if (l.domains > 1) return [&l](std::uint32_t e) { return l.domain(e) < l.domains / 2; };
  return [&l](std::uint32_t e) { return e < l.gpus / 2; };
}

}  // namespace

Cut bisection(const Fabric& fabric, const Layout& l) {
  const auto gpus = gpu_half(l);
  const auto inside = [&](DeviceId id) {
    const std::uint32_t i = sim::index(id);
    if (i < l.gpus) return gpus(i);
    if (i < l.nic_device) {  // an NVSwitch goes with its domain; of a domain cut in two it stays outside
      const std::uint32_t first = (i - l.nvswitch_device) / l.planes * l.domain_gpus;
      return gpus(first) && gpus(first + l.gpus_of_domain(first / l.domain_gpus) - 1);
    }
    if (i < l.leaf_device) {
      const std::uint32_t nic = i - l.nic_device;
      return gpus(nic / l.nics_per_node * l.gpus_per_node + nic % l.nics_per_node / l.nics_per_gpu * l.gpus_per_nic);
    }
    if (l.dragonfly) return l.dragonfly->groups > 1 && (i - l.leaf_device) / l.dragonfly->routers < l.dragonfly->groups / 2;
    const ClosShape& c = *l.clos;
    if (i < l.spine_device) {
      const std::uint32_t unit = (i - l.leaf_device) / c.leaves_per_unit;
      return c.pods > 1 ? unit / c.units_per_pod < c.pods / 2 : c.units > 1 && unit < c.units / 2;
    }
    if (i < l.core_device) return c.pods > 1 && (i - l.spine_device) / c.spines_per_block / c.classes() < c.pods / 2;
    return false;
  };
  return make_cut(fabric, "bisection", "bisection", inside);
}

}  // namespace traingraph::topology
