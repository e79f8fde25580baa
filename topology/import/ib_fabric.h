// An InfiniBand fabric as its tools list it: nodes with ports, links between ports. ibnetdiscover and iblinkinfo write the
// same thing in different ways; both become an IbFabric, and write_ib_fabric() a Custom network.
//
// A host is the set of channel adapters whose description begins with the same word ("node7 mlx5_0", "node7 HCA-1").
// Switches next to hosts are leaves, next to leaves spines, all above cores.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "topology/import/import.h"

namespace traingraph::topology::imports {

struct IbNode {
  bool is_switch = false;
  std::string description;  ///< what the tool prints in quotes or after the guid; may be empty
};

struct IbPort {
  std::string node;  ///< id: guid or what stands for it
  std::uint32_t port = 0;
  auto operator<=>(const IbPort&) const = default;
};

class IbFabric {
 public:
  /// Adds a node or completes what is known of it.
  void node(const std::string& id, bool is_switch, std::string_view description);
  /// Both sides may tell of the same cable; speed 0: not told.
  void link(IbPort a, IbPort b, sim::Bandwidth speed);

  std::map<std::string, IbNode> nodes;
  std::map<std::pair<IbPort, IbPort>, sim::Bandwidth> links;  ///< the lower end first
};

/// Gb/s of data of one lane ("HDR": 50); 0 when there is no such rate.
[[nodiscard]] double lane_rate(std::string_view name);
/// The same by its signalling rate in Gb/s as iblinkinfo prints it (53.125: 50).
[[nodiscard]] double lane_rate(double signalling);

[[nodiscard]] Imported write_ib_fabric(const ImportFile& file, const IbFabric& fabric, const ImportOptions& options);

}  // namespace traingraph::topology::imports
