// The words of a fabric: what a device is and what a link is for.
#pragma once

#include <cstdint>
#include <string>

namespace traingraph::topology {

/// `switch_` is a switch without a level (single switch, dragonfly router, custom fabrics).
enum class DeviceKind : std::uint8_t { gpu, nvswitch, nic, pcie_switch, host, leaf, spine, core, switch_ };
[[nodiscard]] std::string to_string(DeviceKind kind);

/// What a link is for; the tables of results group by it. `torus` stands for every direct link between GPUs of different
/// domains (torus, ring, fully connected), `local` and `global` for those inside and between the groups of a dragonfly,
/// `other` for custom ones.
enum class Tier : std::uint8_t { scale_up, pcie, nic, leaf_spine, spine_core, torus, local, global, other };
[[nodiscard]] std::string to_string(Tier tier);

inline constexpr DeviceKind kDeviceKinds[] = {DeviceKind::gpu,         DeviceKind::nvswitch, DeviceKind::nic,
                                              DeviceKind::pcie_switch, DeviceKind::host,     DeviceKind::leaf,
                                              DeviceKind::spine,       DeviceKind::core,     DeviceKind::switch_};
inline constexpr Tier kTiers[] = {Tier::scale_up, Tier::pcie,  Tier::nic,    Tier::leaf_spine, Tier::spine_core,
                                  Tier::torus,    Tier::local, Tier::global, Tier::other};

}  // namespace traingraph::topology
