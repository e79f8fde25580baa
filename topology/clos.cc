// Leaves, spines and cores (fat tree, rail-optimized, rail-only, dual plane, dual ToR) and the single switch.
#include "topology/build_parts.h"

namespace traingraph::topology {
namespace {

std::int32_t label(std::uint32_t v) { return static_cast<std::int32_t>(v); }

std::string leaf_name(const ClosShape& c, std::uint32_t leaf) {
  const std::uint32_t unit = leaf / c.leaves_per_unit, port = c.port_of_leaf(leaf);
  std::string name = c.rail_aligned ? fmt::format("unit{}.leaf{}", unit, c.rail_of_leaf(leaf)) : fmt::format("leaf{}", unit);
  return c.ports > 1 ? name + fmt::format(".port{}", port) : name;
}

/// Where a spine stands: "pod1.plane0.rail3.spine5", with the parts of which there are several.
std::string spine_name(const ClosShape& c, std::uint32_t block, std::uint32_t spine) {
  const std::uint32_t pod = block / c.classes(), cls = block % c.classes();
  std::string name;
  if (c.pods > 1) name += fmt::format("pod{}.", pod);
  if (c.planes > 1) name += fmt::format("plane{}.", cls / c.rail_blocks);
  if (c.rail_blocks > 1) name += fmt::format("rail{}.", cls % c.rail_blocks);
  return name + fmt::format("spine{}", spine);
}

}  // namespace

void add_clos_switches(FabricBuilder& b, const Layout& l) {
  const ClosShape& c = *l.clos;
  for (std::uint32_t leaf = 0; leaf < c.leaves(); ++leaf) {
    const std::uint32_t unit = leaf / c.leaves_per_unit;
    const bool lone = c.tiers == 1 && !c.rail_aligned && c.ports == 1;
    Device d{.kind = lone ? DeviceKind::switch_ : DeviceKind::leaf, .name = lone ? "switch0" : leaf_name(c, leaf)};
    if (c.units > 1) d.unit = label(unit);
    if (c.pods > 1) d.pod = label(unit / c.units_per_pod);
    if (c.rail_aligned) d.rail = label(c.rail_of_leaf(leaf));
    // a top-of-rack switch belongs to its rack
    if (l.nodes_per_rack != 0 && c.units > 1 && l.nodes_per_rack % c.nodes_per_unit == 0)
      d.rack = label(unit / (l.nodes_per_rack / c.nodes_per_unit));
    b.add(std::move(d));
  }
  for (std::uint32_t block = 0; block < c.blocks(); ++block)
    for (std::uint32_t s = 0; s < c.spines_per_block; ++s) {
      Device d{.kind = DeviceKind::spine, .name = spine_name(c, block, s)};
      if (c.pods > 1) d.pod = label(block / c.classes());
      if (c.rail_blocks > 1) d.rail = label(block % c.rail_blocks);
      b.add(std::move(d));
    }
  for (std::uint32_t i = 0; i < c.cores(); ++i) b.add({.kind = DeviceKind::core, .name = fmt::format("core{}", i)});
}

void connect_clos(FabricBuilder& b, const Layout& l) {
  const ClosShape& c = *l.clos;
  for (std::uint32_t node = 0; node < l.nodes; ++node)
    for (std::uint32_t nic = 0; nic < l.nics_per_node; ++nic)
      for (std::uint32_t port = 0; port < c.ports; ++port) {
        const std::uint32_t leaf = c.leaf(node / c.nodes_per_unit, l.rail(node, nic), port);
        b.connect({.a = nic_side(l, node, nic),
                   .b = static_cast<DeviceId>(l.leaf_device + leaf),
                   .speed = c.nic,
                   .tier = Tier::nic,
                   .copy = l.nic_devices ? 0 : nic % l.nics_per_gpu / (c.rail_aligned ? c.rails : 1)});
      }
  if (c.tiers >= 2)
    for (std::uint32_t leaf = 0; leaf < c.leaves(); ++leaf)
      for (std::uint32_t s = 0; s < c.spines_per_block; ++s)
        for (std::uint32_t copy = 0; copy < c.leaf_spine_copies(); ++copy)
          b.connect({.a = static_cast<DeviceId>(l.leaf_device + leaf),
                     .b = static_cast<DeviceId>(l.spine_device + c.block_of_leaf(leaf) * c.spines_per_block + s),
                     .speed = c.leaf_spine,
                     .tier = Tier::leaf_spine,
                     .cables = c.bundled ? c.leaf_spine_links : 1,
                     .copy = copy});
  if (c.tiers == 3)
    for (std::uint32_t spine = 0; spine < c.spines(); ++spine) {
      const std::uint32_t set = c.core_set_of_block(spine / c.spines_per_block);
      const std::uint32_t group = spine % c.spines_per_block / c.spines_per_core_group();
      for (std::uint32_t core = 0; core < c.cores_per_group; ++core)
        for (std::uint32_t copy = 0; copy < c.spine_core_copies(); ++copy)
          b.connect({.a = static_cast<DeviceId>(l.spine_device + spine),
                     .b = static_cast<DeviceId>(l.core_device + (set * c.core_groups + group) * c.cores_per_group + core),
                     .speed = c.spine_core,
                     .tier = Tier::spine_core,
                     .cables = c.bundled ? c.spine_core_links : 1,
                     .copy = copy});
    }
}

}  // namespace traingraph::topology
