// Known cuts of a fabric: sets of GPUs with the summed capacity of the links over their boundary.
#pragma once

#include <functional>
#include <vector>

#include "topology/fabric.h"

namespace traingraph::topology {

/// One cut per node, domain, rack, unit and pod that the devices' labels name: a device is inside when it bears the label,
/// so every such set is a cut. One pass over the links per kind of label.
[[nodiscard]] std::vector<Cut> label_cuts(const Fabric& fabric);

/// The cut between the devices for which `inside` holds and all others.
[[nodiscard]] Cut make_cut(const Fabric& fabric, std::string name, std::string kind,
                           const std::function<bool(DeviceId)>& inside);

}  // namespace traingraph::topology
