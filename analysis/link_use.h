// Links over the reported step: by tier, and the most loaded ones by name.
//
// Utilization is against the mean capacity of the link over the step's window, so that link changes cannot lift it above 1.
// O(links).
#pragma once

#include <cstddef>
#include <vector>

#include "analysis/result.h"
#include "sim/program.h"
#include "sim/record.h"
#include "topology/fabric.h"

namespace traingraph::analysis {

/// Every link, in order of id; empty when the record has no links (`ideal`). SIM_ASSERTs that no link was above its
/// capacity.
[[nodiscard]] std::vector<LinkUse> link_use(const topology::Fabric& fabric, const sim::Program& program,
                                            const sim::Record& record);

[[nodiscard]] std::vector<TierUse> tier_use(const topology::Fabric& fabric, const std::vector<LinkUse>& links);

/// The `count` most loaded links that carried anything, by mean utilization; ties by id.
[[nodiscard]] std::vector<LinkUse> most_loaded(std::vector<LinkUse> links, std::size_t count);

}  // namespace traingraph::analysis
