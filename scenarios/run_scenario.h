// From a scenario to its result, in the order in which data flows:
//
//     Scenario -> Fabric, router -> Workload -> Record -> Result
//
// prepare() makes what a simulation needs, simulate_scenario() simulates and analyses. Neither reads nor writes a file, and
// nothing is shared between calls, so several may run at once in several threads. Throws what its parts throw:
// sim::InputError, sim::Cancelled, sim::InternalError.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "analysis/bound_report.h"
#include "analysis/result.h"
#include "scenarios/scenario.h"
#include "sim/options.h"
#include "sim/record.h"
#include "topology/fabric.h"
#include "topology/routing.h"
#include "workloads/workload.h"

namespace traingraph::scenarios {

/// What one simulation works on. The router refers to the fabric, hence the pointers: a Prepared may be moved.
struct Prepared {
  std::unique_ptr<const topology::Fabric> fabric;
  std::unique_ptr<const topology::FabricRouter> router;
  workloads::Workload workload;
};

/// Builds the cluster and the workload: finds out what cannot be reached, what does not fit into memory.
[[nodiscard]] Prepared prepare(const Scenario& scenario);

/// How large a run will be.
struct RunSize {
  std::uint64_t gpus = 0;   ///< of the cluster
  std::uint64_t ranks = 0;  ///< GPUs that the workload uses
  std::uint64_t devices = 0;
  std::uint64_t links = 0;  ///< directed
  double operations = 0;    ///< kernels, collective calls and messages, over all ranks and steps
  double transfers = 0;     ///< when every collective is played step by step
  sim::Bytes memory;        ///< of the process at its largest
};
/// The memory is an estimate, right to a factor of 1.5 for runs in the flow model without trace: the program itself, the
/// fabric with what the engine keeps for each link, workloads::estimate_size, and the time bins.
[[nodiscard]] RunSize size_of(const Scenario& scenario, const Prepared& prepared);

struct RunOutcome {
  sim::Record record;
  analysis::Result result;  ///< without `effort`, which is the caller's to measure
};

struct RunHooks {
  const std::atomic<bool>* cancel = nullptr;           ///< see sim::RunOptions
  std::function<void(const sim::Progress&)> progress;  ///< of the simulation itself
  sim::TraceSink* trace = nullptr;
  bool sensitivity = false;                                      ///< re-run with every resource at +-1 %
  std::uint32_t threads = 1;                                     ///< re-runs at a time
  std::function<void(std::size_t, std::size_t)> rerun_progress;  ///< re-runs done, of how many; one thread at a time
};

/// The lower bound of the longest chain needs a second pass over the program, or over its first step when the whole would be
/// more than `run.step_limit` transfers; it is left out when the first step is, too.
[[nodiscard]] RunOutcome simulate_scenario(const Scenario& scenario, const Prepared& prepared, const RunHooks& hooks = {});

/// The lower bounds of the scenario's step and the closed-form step model, without simulating the network: the longest chain
/// is played with every transfer alone on its links, of the first step only or not at all when that would be more than
/// `run.step_limit` transfers.
[[nodiscard]] analysis::BoundReport bounds_of(const Scenario& scenario, const Prepared& prepared);

}  // namespace traingraph::scenarios
