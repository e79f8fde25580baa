#include "topology/build.h"

#include <algorithm>

#include "sim/error.h"
#include "topology/build_parts.h"
#include "topology/cuts.h"
#include "topology/layout.h"

namespace traingraph::topology {
namespace {

std::int32_t label(std::uint32_t v) { return static_cast<std::int32_t>(v); }

void add_gpus(FabricBuilder& b, const Layout& l) {
  for (std::uint32_t e = 0; e < l.gpus; ++e) {
    const std::uint32_t node = l.node(e);
    b.add(node_device(l, node, DeviceKind::gpu, fmt::format("node{}.gpu{}", node, e % l.gpus_per_node), l.domain(e),
                      l.has_nics ? label(l.rail(node, l.nic_of(e, 0))) : label(e % l.domain_gpus)));
  }
}

void add_nvswitches(FabricBuilder& b, const Layout& l) {
  for (std::uint32_t d = 0; d < l.domains && l.planes > 0; ++d)
    for (std::uint32_t p = 0; p < l.planes; ++p) {
      if (l.domain_nodes > 1) {
        b.add({.kind = DeviceKind::nvswitch,
               .name = fmt::format("domain{}.nvswitch{}", d, p),
               .domain = label(d),
               .rack = l.nodes_per_rack != 0 && l.nodes_per_rack % l.domain_nodes == 0
                           ? label(d * l.domain_nodes / l.nodes_per_rack)
                           : -1});
        continue;
      }
      const std::uint32_t per_node = l.gpus_per_node / l.domain_gpus;
      const std::uint32_t node = d / per_node;
      b.add(node_device(l, node, DeviceKind::nvswitch, fmt::format("node{}.nvswitch{}", node, d % per_node * l.planes + p),
                        d, -1));
    }
}

void add_nics(FabricBuilder& b, const Layout& l) {
  if (!l.nic_devices) return;
  for (std::uint32_t node = 0; node < l.nodes; ++node)
    for (std::uint32_t i = 0; i < l.nics_per_node; ++i) {
      // a NIC belongs to a domain when all its GPUs do
      const std::uint32_t gpu = node * l.gpus_per_node + i / l.nics_per_gpu * l.gpus_per_nic;
      Device d =
          node_device(l, node, DeviceKind::nic, fmt::format("node{}.nic{}", node, i), l.domain(gpu), label(l.rail(node, i)));
      if (l.domain(gpu) != l.domain(gpu + l.gpus_per_nic - 1)) d.domain = -1;
      b.add(std::move(d));
    }
}

void connect_scale_up(FabricBuilder& b, const Layout& l) {
  const auto gpu = [](std::uint32_t e) { return static_cast<DeviceId>(e); };
  const auto connect = [&](std::uint32_t x, std::uint32_t y, std::uint32_t cables) {
    b.connect({.a = gpu(x), .b = gpu(y), .speed = l.scale_up_link, .tier = Tier::scale_up, .cables = cables});
  };
  if (l.scale_up == ScaleUpKind::nvswitch)
    for (std::uint32_t e = 0; e < l.gpus; ++e)
      for (std::uint32_t p = 0; p < l.planes; ++p) connect(e, l.nvswitch_device + l.domain(e) * l.planes + p, 1);
  for (std::uint32_t d = 0; d < l.domains; ++d) {
    const std::uint32_t first = d * l.domain_gpus;
    if (l.scale_up == ScaleUpKind::full_mesh)
      for (std::uint32_t i = 0; i < l.domain_gpus; ++i)
        for (std::uint32_t j = i + 1; j < l.domain_gpus; ++j) connect(first + i, first + j, 1);
    if (l.scale_up == ScaleUpKind::cube_mesh)
      for (const MeshPair& p : kCubeMesh) connect(first + p.a, first + p.b, p.cables);
  }
}

void connect_nics(FabricBuilder& b, const Layout& l) {
  if (!l.nic_devices) return;
  for (std::uint32_t e = 0; e < l.gpus; ++e)
    for (std::uint32_t i = 0; i < l.nics_per_gpu; ++i)
      b.connect({.a = static_cast<DeviceId>(e),
                 .b = static_cast<DeviceId>(l.nic_device + l.node(e) * l.nics_per_node + l.nic_of(e, i)),
                 .speed = l.pcie,
                 .tier = Tier::pcie});
}

}  // namespace

Device node_device(const Layout& l, std::uint32_t node, DeviceKind kind, std::string name, std::uint32_t domain,
                   std::int32_t rail) {
  Device d{.kind = kind, .name = std::move(name), .domain = label(domain), .node = label(node), .rail = rail};
  if (l.nodes_per_rack != 0) d.rack = label(node / l.nodes_per_rack);
  if (l.clos && l.clos->units > 1) d.unit = label(node / l.clos->nodes_per_unit);
  if (l.clos && l.clos->pods > 1) d.pod = label(node / l.clos->nodes_per_unit / l.clos->units_per_pod);
  if (l.dragonfly) d.pod = label(node * l.nics_per_node / (l.dragonfly->hosts * l.dragonfly->routers));
  return d;
}

DeviceId nic_side(const Layout& l, std::uint32_t node, std::uint32_t nic) {
  const std::uint32_t gpu = node * l.gpus_per_node + nic / l.nics_per_gpu;
  return static_cast<DeviceId>(l.nic_devices ? l.nic_device + node * l.nics_per_node + nic : gpu);
}

Fabric build(const ClusterSpec& spec) {
  if (const auto* custom = std::get_if<Custom>(&spec.scale_out)) return build_custom(spec, *custom);
  const Layout l = resolve(spec);
  FabricBuilder b;
  b.reserve(l.end_device, l.end_link);
  add_gpus(b, l);
  add_nvswitches(b, l);
  add_nics(b, l);
  if (l.clos) add_clos_switches(b, l);
  if (l.dragonfly) add_dragonfly_routers(b, l);
  connect_scale_up(b, l);
  connect_nics(b, l);
  if (l.clos) connect_clos(b, l);
  if (l.direct) connect_direct(b, l);
  if (l.dragonfly) connect_dragonfly(b, l);
  SIM_ASSERT(b.links() == l.end_link, "the builder makes the links that the layout numbers");
  Fabric fabric = std::move(b).freeze(spec.name);
  SIM_ASSERT(fabric.devices.size() == l.end_device, "the builder makes the devices that the layout numbers");
  fabric.gpus_per_domain = l.domain_gpus;
  fabric.gpus_forward = l.direct.has_value() || l.scale_up == ScaleUpKind::cube_mesh;
  if (l.gpus > 1) fabric.cuts.push_back(bisection(fabric, l));
  return fabric;
}

}  // namespace traingraph::topology
