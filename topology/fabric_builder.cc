#include "topology/fabric_builder.h"

#include "sim/error.h"
#include "topology/cuts.h"

namespace traingraph::topology {

void FabricBuilder::reserve(std::size_t devices, std::size_t links) {
  fabric_.devices.reserve(devices);
  fabric_.links.reserve(links);
  fabric_.link_info.reserve(links);
  edges_.reserve(links);
  properties_.reserve(links);
}

DeviceId FabricBuilder::add(Device device) {
  const bool gpu = device.kind == DeviceKind::gpu;
  const DeviceId id = fabric_.devices.push_back(std::move(device));
  if (gpu) fabric_.endpoints.push_back(id);
  return id;
}

sim::LinkId FabricBuilder::connect(const Cable& cable) {
  const sim::LinkId forth = add_link(cable, cable.a, cable.b);
  if (cable.duplex == Duplex::full) add_link(cable, cable.b, cable.a);
  if (cable.duplex == Duplex::half) {
    edges_.emplace_back(sim::index(cable.b), sim::index(cable.a));
    properties_.push_back({forth});
  }
  return forth;
}

sim::LinkId FabricBuilder::add_link(const Cable& cable, DeviceId from, DeviceId to) {
  SIM_ASSERT(fabric_.devices.contains(from) && fabric_.devices.contains(to), "a cable joins devices that exist");
  const sim::LinkId id =
      fabric_.links.push_back({cable.speed.bandwidth * static_cast<double>(cable.cables), cable.speed.latency});
  fabric_.link_info.push_back({.source = from,
                               .target = to,
                               .tier = cable.tier,
                               .name = link_name(fabric_.devices[from].name, fabric_.devices[to].name, cable.copy),
                               .cables = cable.cables,
                               .half_duplex = cable.duplex == Duplex::half});
  edges_.emplace_back(sim::index(from), sim::index(to));
  properties_.push_back({id});
  return id;
}

Fabric FabricBuilder::freeze(std::string name) && {
  fabric_.name = std::move(name);
  fabric_.graph = Graph{boost::edges_are_unsorted_multi_pass, edges_.begin(), edges_.end(), properties_.begin(),
                        static_cast<std::uint32_t>(fabric_.devices.size())};
  fabric_.cuts = label_cuts(fabric_);
  return std::move(fabric_);
}

std::string link_name(const std::string& source, const std::string& target, std::uint32_t copy) {
  std::size_t common = 0;
  for (std::size_t i = 0; i < source.size() && i < target.size() && source[i] == target[i]; ++i)
    if (source[i] == '.') common = i + 1;
  std::string name = source;
  name += '>';
  name.append(target, common);
  if (copy > 0) {
    name += '#';
    name += std::to_string(copy);
  }
  return name;
}

}  // namespace traingraph::topology
