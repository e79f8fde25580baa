// NCCL's constants and what its search finds on known nodes, from the presets nccl/ and nccl_nodes/.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/nccl/cost_model.h"

namespace traingraph::scenarios {

[[nodiscard]] workloads::NcclConstants load_nccl_constants();
/// Throws ScenarioError when there is no such preset.
[[nodiscard]] workloads::NcclNode load_nccl_node(std::string_view preset);
/// The preset of nccl_nodes that speaks of this node preset; empty if none does.
[[nodiscard]] std::string nccl_node_for(std::string_view node_preset);
/// The node preset that a cluster preset names; empty if it names none.
[[nodiscard]] std::string node_of_cluster(std::string_view cluster_preset);

}  // namespace traingraph::scenarios
