// One collective on a group of GPUs, `iterations` times back to back, as nccl-tests does. Rank r may enter the first
// iteration late, by late_entry[r]. Everything happens on stream 0, so a rank's time is charged to exposed_dp (and to idle
// while it is late).
#pragma once

#include "workloads/cluster.h"
#include "workloads/workload.h"
#include "workloads/workload_spec.h"

namespace traingraph::workloads {

[[nodiscard]] Workload build_collective_run(const CollectiveRunSpec& spec, const WorkloadSpec& common,
                                            const Cluster& cluster);

}  // namespace traingraph::workloads
