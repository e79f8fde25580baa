// A cluster that is listed device by device, as the YAML of a scenario's `cluster:`, one line a device and one a link.
#pragma once

#include <string>
#include <vector>

#include "topology/cluster_spec.h"

namespace traingraph::scenarios {

/// `cluster` must have a Custom scale-out network. Reads back as the same values. `notes` become comments at its head.
[[nodiscard]] std::string cluster_yaml(const topology::ClusterSpec& cluster, const std::vector<std::string>& notes = {});

}  // namespace traingraph::scenarios
