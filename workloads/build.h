// build: the one way from a WorkloadSpec to a Workload (a Program for the engine and what is known of it by counting).
//
// Throws sim::InputError for a spec that cannot be built: degrees that do not multiply to the ranks, sizes that do not
// divide, a GPU's memory that does not suffice (naming the terms), a precision that the hardware lacks. Cost: O(GPUs +
// operations of one rank per pipeline stage); never operations times GPUs.
#pragma once

#include <cstdint>
#include <string>

#include "workloads/cluster.h"
#include "workloads/hardware_spec.h"
#include "workloads/workload.h"
#include "workloads/workload_spec.h"

namespace traingraph::workloads {

[[nodiscard]] Workload build(const WorkloadSpec& spec, const HardwareSpec& hardware, const Cluster& cluster);

}  // namespace traingraph::workloads
