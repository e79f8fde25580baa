// NodeTemplate: one node as read, its devices named without the node, to be written as many times as asked for.
#pragma once

#include <string>
#include <vector>

#include "topology/import/custom_writer.h"

namespace traingraph::topology::imports {

struct NodeLink {
  std::string a, b;
  LinkSpec speed;
  Tier tier = Tier::other;
  std::uint32_t parallel = 1;
};

struct NodeTemplate {
  std::vector<CustomDevice> devices;  ///< GPUs first; NICs are "nic0", "nic1", ...
  std::vector<NodeLink> links;
  std::vector<sim::Bandwidth> nics;  ///< by number
  bool scale_up = false;             ///< GPUs have links of their own: the node is a scale-up domain
  bool gpus_forward = false;
};

/// options.nodes copies, node0 to nodeN-1; several have their NICs on one switch. Throws ImportError when several are asked
/// for and there is no NIC.
[[nodiscard]] Imported write_nodes(const ImportFile& file, const NodeTemplate& node, CustomWriter writer,
                                   const ImportOptions& options);

}  // namespace traingraph::topology::imports
