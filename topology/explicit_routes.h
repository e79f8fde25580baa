// Routing by listed paths.
#pragma once

#include <memory>

#include "topology/routing.h"

namespace traingraph::topology {

/// Pairs with listed paths take them; others take `rest` when routing.otherwise is given, else are an InputError that names
/// the pair. Overheads are those that `rest` charges the pair. Throws InputError for a path whose devices are not linked.
[[nodiscard]] std::unique_ptr<FabricRouter> make_explicit_router(const Fabric& fabric, const ClusterSpec& spec,
                                                                 std::unique_ptr<FabricRouter> rest);

}  // namespace traingraph::topology
