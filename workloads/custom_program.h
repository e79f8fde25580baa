// A user-written program: a list of tasks becomes one template per rank. Rules beside CustomTask in workload_spec.h.
//
// Time on stream 0 is charged to compute (compute tasks), wait and bubble (receives; sends on stream 0 to wait) and
// exposed_dp (collectives). A program that cannot finish (a receive without a send, a cycle) is found by the engine, which
// names the tasks.
#pragma once

#include "workloads/cluster.h"
#include "workloads/workload.h"
#include "workloads/workload_spec.h"

namespace traingraph::workloads {

/// Throws sim::InputError naming the task: unknown or repeated ids and groups, `after` across ranks, ranks out of range,
/// `except` of a rank outside the group or of the whole group.
[[nodiscard]] Workload build_custom_program(const CustomProgramSpec& spec, const WorkloadSpec& common,
                                            const Cluster& cluster);

}  // namespace traingraph::workloads
