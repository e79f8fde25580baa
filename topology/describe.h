// A fabric for people: counts, bisection, oversubscription, diameter, and drawings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topology/cluster_spec.h"
#include "topology/fabric.h"

namespace traingraph::topology {

struct DeviceCount {
  DeviceKind kind{};
  std::uint64_t count = 0;
};

/// Links of one tier between one pair of device kinds with one speed; both directions of a cable together.
struct LinkGroup {
  Tier tier{};
  DeviceKind a{}, b{};       ///< nearer to the GPUs first
  std::uint64_t cables = 0;  ///< physical cables (two directions each; a one-way link counts half, the sum rounded up)
  sim::Bandwidth bandwidth;  ///< of one cable, one direction
  sim::Duration latency;     ///< of one link
};

/// capacity from below / capacity up of the switches of one kind; 2.0 = "2:1 oversubscribed". The greatest of its switches.
struct Oversubscription {
  DeviceKind kind{};
  double ratio = 1.0;
};

struct Description {
  std::string name;
  std::uint64_t gpus = 0, nodes = 0, domains = 0;
  std::uint64_t nics = 0;                          ///< also those that are one device with their GPU
  std::vector<DeviceCount> devices;                ///< kinds that occur, in order of DeviceKind
  std::vector<LinkGroup> links;                    ///< ordered by tier, then kinds, then bandwidth
  std::uint64_t link_objects = 0;                  ///< directed links as simulated (bundles count once)
  std::optional<sim::Bandwidth> bisection;         ///< one direction, of the builder's cut; none for custom fabrics
  std::uint64_t bisection_gpus = 0;                ///< on the smaller side
  std::vector<Oversubscription> oversubscription;  ///< leaf and spine, where they have switches above
  /// The most links between two GPUs; none when some pair is unreachable, or for custom fabrics of more than 2,048 GPUs.
  std::optional<std::uint32_t> diameter;
};

/// O(devices + links); custom fabrics up to 2,048 GPUs also one search per GPU.
[[nodiscard]] Description describe(const Fabric& fabric, const ClusterSpec& spec);

/// Lines for a terminal.
[[nodiscard]] std::string to_text(const Description& description);

/// {"schema": "traingraph/topology/1", description, "devices": [...], "links": [...]}; SI units in the keys.
[[nodiscard]] std::string to_json(const Fabric& fabric, const Description& description);

/// Graphviz, one edge per cable (bundle). Fabrics of more than `most_devices` devices are drawn by kind: one box per kind,
/// one edge per LinkGroup.
[[nodiscard]] std::string to_dot(const Fabric& fabric, const Description& description, std::size_t most_devices = 2000);

/// A drawing with one row per level, GPUs at the bottom. Above `most_devices` devices: one box per kind with its count.
[[nodiscard]] std::string to_svg(const Fabric& fabric, const Description& description, std::size_t most_devices = 600);

}  // namespace traingraph::topology
