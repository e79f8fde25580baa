// A fabric listed device by device.
#include <cmath>
#include <unordered_map>

#include "topology/build_parts.h"
#include "topology/input_error.h"
#include "topology/size_limits.h"

namespace traingraph::topology {
namespace {

using Names = std::unordered_map<std::string, DeviceId>;

Names add_devices(FabricBuilder& b, const Custom& custom) {
  Names names;
  std::int32_t own = -1;
  for (const CustomDevice& d : custom.devices) own = std::max(own, d.domain);
  std::uint32_t gpus = 0;
  for (const CustomDevice& d : custom.devices) {
    if (d.name.empty()) refuse("scale_out.devices", "a device without a name", "a unique name for every device");
    const bool gpu = d.kind == DeviceKind::gpu;
    const std::int32_t domain = gpu && d.domain < 0 ? ++own : d.domain;
    const DeviceId id = b.add(
        {.kind = d.kind, .name = d.name, .domain = domain, .node = d.node, .rack = d.rack, .pod = d.pod, .rail = d.rail});
    if (!names.emplace(d.name, id).second)
      refuse("scale_out.devices", fmt::format("two devices named '{}'", d.name), "unique names");
    gpus += gpu ? 1 : 0;
  }
  if (gpus == 0) refuse("scale_out.devices", "no gpu", "at least one device of kind gpu");
  return names;
}

DeviceId find(const Names& names, const std::string& name, const std::string& key) {
  const auto it = names.find(name);
  if (it == names.end()) refuse(key, fmt::format("'{}'", name), "the name of a listed device");
  return it->second;
}

}  // namespace

Fabric build_custom(const ClusterSpec& spec, const Custom& custom) {
  if (!std::holds_alternative<NoScaleUp>(spec.scale_up))
    refuse("node.scale_up.kind", "a scale-up network beside a custom one", "none: list its devices and links too");
  FabricBuilder b;
  const Names names = add_devices(b, custom);
  std::unordered_map<std::uint64_t, std::uint32_t> copies;  // links so far of an ordered pair
  for (std::size_t n = 0; n < custom.links.size(); ++n) {
    const CustomLink& link = custom.links[n];
    const std::string what = fmt::format("scale_out.links[{}]", n);
    const DeviceId a = find(names, link.source, what + ".source"), z = find(names, link.target, what + ".target");
    if (a == z) refuse(what, "a link from a device to itself", "two different devices");
    if (!(link.bandwidth.bytes_per_s() >= 0) || !std::isfinite(link.bandwidth.bytes_per_s()))
      refuse(what + ".bandwidth", link.bandwidth.bytes_per_s(), "0 (down) or more bytes/s");
    if (link.latency < sim::Duration{})
      refuse(what + ".latency", fmt::format("{} ps", link.latency.count_ps()), "0 or more");
    if (link.parallel == 0) refuse(what + ".parallel", link.parallel, "1 or more");
    if (link.half_duplex && link.one_way) refuse(what, "half_duplex and one_way", "one of them");
    check_custom_size(b.links(), link.parallel, n);
    for (std::uint32_t i = 0; i < link.parallel; ++i) {
      // both directions of a pair take their copies from one count, so that names stay unique whichever way links are
      // written
      const std::uint64_t low = std::min(sim::index(a), sim::index(z)), high = std::max(sim::index(a), sim::index(z));
      b.connect({.a = a,
                 .b = z,
                 .speed = {link.bandwidth, link.latency},
                 .tier = link.tier,
                 .duplex = link.half_duplex ? Duplex::half
                           : link.one_way   ? Duplex::one_way
                                            : Duplex::full,
                 .copy = copies[low << 32U | high]++});
    }
  }
  Fabric fabric = std::move(b).freeze(spec.name);
  fabric.gpus_forward = custom.gpus_forward;
  return fabric;
}

}  // namespace traingraph::topology
