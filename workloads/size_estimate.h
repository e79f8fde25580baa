// estimate_size(): how large a run of a program will be, counted before it is run.
//
// Operations and transfers are exact. Memory is that of the program (what its tables hold) and of the engine, as the sum of
//   - templates: their operations and dependencies, and 16 bytes an operation for their timelines;
//   - ranks: streams, slots, memberships of communicators;
//   - plans: each call on each communicator that has it, with the path of every lane (a lane per edge of a ring, per pair of
//     a direct algorithm; as many links as paths have), and lanes and inboxes of the largest call of each communicator as if
//     it were in flight;
//   - of each step, its end, and history, for the critical path: one node for each collective, message or run of kernels
//   whose end may still turn out
//     to have set the step time. Members of a communicator go on from its last arrival, so ranks share one history with
//     those that they meet most often. The stages of a pipeline share the last one's, and each has besides what it did
//     since it parted from it: s/2 of m micro-batches at s stages from the end (the way there, without the way back).
// The bytes of each were measured on whole runs in the flow model; a vector that grows to n entries costs about 2 n, for it
// doubles and holds old and new while it moves. Good to a factor of 1.5 together with the fabric's part, which a Program
// does not know (scenarios/run_scenario.h adds it). The chunk model and traces hold more.
#pragma once

#include "sim/units.h"
#include "workloads/workload.h"

namespace traingraph::workloads {

struct SizeEstimate {
  double operations = 0;  ///< over all ranks and steps
  double transfers = 0;   ///< when every collective is played step by step
  sim::Bytes memory;      ///< of the program and of the engine that plays it
};

/// `links_per_path` of a transfer: two for every plane of switches that it is spread over. O(operations of all templates
/// + ranks + lanes of all calls).
[[nodiscard]] SizeEstimate estimate_size(const Workload& workload, double links_per_path = 16);

}  // namespace traingraph::workloads
