// What both of Slurm's topology files describe: switches with nodes or switches below, or blocks of nodes.
#pragma once

#include <string>
#include <vector>

#include "topology/import/import.h"

namespace traingraph::topology::imports {

struct SlurmSwitch {
  std::string name;
  std::vector<std::string> nodes;
  std::vector<std::string> children;
  std::size_t line = 1, column = 1;
};

/// Blocks become leaves below one switch. Speeds and GPUs come from the options; every switch has as much capacity up as
/// down, divided by options.oversubscription.
[[nodiscard]] Imported write_slurm_tree(const ImportFile& file, std::vector<SlurmSwitch> switches, bool blocks,
                                        const ImportOptions& options);

}  // namespace traingraph::topology::imports
