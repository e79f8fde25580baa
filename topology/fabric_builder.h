// FabricBuilder: devices and cables in, a frozen Fabric out. Ids count up in the order of the calls; a cable takes two
// LinkIds, the first for its first direction (half-duplex and one-way cables take one).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "topology/cluster_spec.h"
#include "topology/fabric.h"

namespace traingraph::topology {

enum class Duplex : std::uint8_t { full, half, one_way };

struct Cable {
  DeviceId a{};
  DeviceId b{};
  LinkSpec speed;  ///< of one physical cable, one direction
  Tier tier = Tier::other;
  Duplex duplex = Duplex::full;
  std::uint32_t cables = 1;  ///< bundled into one Link of so many times the capacity
  std::uint32_t copy = 0;    ///< which of several parallel links between a and b: makes the name unique
};

class FabricBuilder {
 public:
  void reserve(std::size_t devices, std::size_t links);
  DeviceId add(Device device);
  /// The LinkId from a to b.
  sim::LinkId connect(const Cable& cable);
  [[nodiscard]] std::size_t links() const { return fabric_.links.size(); }

  /// The graph with its endpoints (GPUs in order of id) and the cuts of its labels; `name` is for people.
  [[nodiscard]] Fabric freeze(std::string name) &&;

 private:
  sim::LinkId add_link(const Cable& cable, DeviceId from, DeviceId to);

  Fabric fabric_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;
  std::vector<EdgeProperty> properties_;
};

/// "node3.gpu5>nvswitch0": what both names have in common up to a dot is said once.
[[nodiscard]] std::string link_name(const std::string& source, const std::string& target, std::uint32_t copy);

}  // namespace traingraph::topology
