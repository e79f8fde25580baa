// What every kind of job has in common: ranks to GPUs, slow GPUs.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sim/ids.h"
#include "workloads/cluster.h"
#include "workloads/workload_spec.h"

namespace traingraph::workloads {

/// The GPUs of a job whose layout has `ranks` ranks (`what` names the product). Throws sim::InputError when the GPUs used -
/// stated, else those of a placement list, else the whole fabric - are not as many.
[[nodiscard]] std::vector<sim::EndpointId> place_job(const PlacementSpec& placement, std::uint32_t ranks,
                                                     std::optional<std::uint32_t> gpus, const char* what,
                                                     const Cluster& cluster);

/// Throws sim::InputError for a factor that is not positive, a GPU named twice or one that does not exist.
[[nodiscard]] std::vector<std::pair<sim::EndpointId, double>> slow_factors(const WorkloadSpec& spec, const Cluster& cluster);

}  // namespace traingraph::workloads
