// The parts of build(), one per kind of network; each creates its devices and links in the numbering of Layout.
#pragma once

#include <fmt/format.h>

#include "topology/fabric_builder.h"
#include "topology/layout.h"

namespace traingraph::topology {

/// A device of a node with the labels (rack, unit, pod) that follow from the node.
[[nodiscard]] Device node_device(const Layout& l, std::uint32_t node, DeviceKind kind, std::string name,
                                 std::uint32_t domain, std::int32_t rail);

/// The device at the node's end of a NIC's cable: the NIC, or its GPU where they are one.
[[nodiscard]] DeviceId nic_side(const Layout& l, std::uint32_t node, std::uint32_t nic);

void add_clos_switches(FabricBuilder& b, const Layout& l);
void connect_clos(FabricBuilder& b, const Layout& l);

void connect_direct(FabricBuilder& b, const Layout& l);

void add_dragonfly_routers(FabricBuilder& b, const Layout& l);
void connect_dragonfly(FabricBuilder& b, const Layout& l);

[[nodiscard]] Fabric build_custom(const ClusterSpec& spec, const Custom& custom);

/// The cut between the lower and the upper half of the GPUs (by whole domains; across the dimension of a torus that is cut
/// narrowest), with the switches on the side where the least capacity crosses. Never more than the NICs of either half.
[[nodiscard]] Cut bisection(const Fabric& fabric, const Layout& l);

}  // namespace traingraph::topology
