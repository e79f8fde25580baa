// Placement: which GPU each rank runs on.
//
//   in_order   rank r on GPU r
//   list       rank r on the r-th GPU of the list
//   random     scale-up domains in an order drawn from the seed; the GPUs of a domain stay together and in order
//   scattered  domains dealt out over the racks: one from each rack in turn, racks and domains ascending
//
// More GPUs than ranks are allowed: the rest stay idle. Throws sim::InputError when there are fewer, when a list is too
// short, names a GPU twice or one that does not exist, and for `scattered` on a fabric that has no racks.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/ids.h"
#include "workloads/cluster.h"
#include "workloads/workload_spec.h"

namespace traingraph::workloads {

[[nodiscard]] std::vector<sim::EndpointId> place(const PlacementSpec& spec, std::uint32_t ranks, const Cluster& cluster);

}  // namespace traingraph::workloads
