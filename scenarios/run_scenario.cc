#include "scenarios/run_scenario.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/analyze.h"
#include "analysis/bounds.h"
#include "scenarios/sensitivity_runs.h"
#include "sim/simulate.h"
#include "topology/build.h"
#include "workloads/build.h"
#include "workloads/cluster.h"
#include "workloads/size_estimate.h"

namespace traingraph::scenarios {
namespace {

/// Resident before anything is built: the program, its libraries, presets.
constexpr double kProcess = 18e6;
/// The allocator takes memory from the system in large pages, and does not fill them all.
constexpr double kPages = 1.25;
/// What the engine keeps for a link: three solvers' states and lists of transfers, three recorders of its load (the run, and
/// collectives alone).
constexpr double kEnginePerLink = 480;

/// Bytes that a fabric takes: its tables and graph, names included, and what the engine keeps for it.
double bytes_of(const topology::Fabric& fabric, std::uint32_t bins) {
  double bytes = 0;
  for (const topology::Device& device : fabric.devices) bytes += sizeof device + static_cast<double>(device.name.capacity());
  for (const topology::LinkInfo& link : fabric.link_info) bytes += sizeof link + static_cast<double>(link.name.capacity());
  constexpr double kGraphBytesPerLink = 2 * sizeof(std::uint32_t);
  constexpr double kBytesPerBin = 2 * sizeof(float);  // while it is recorded, and in the record
  bytes += static_cast<double>(fabric.links.size()) *
           (sizeof(sim::Link) + kGraphBytesPerLink + kEnginePerLink + kBytesPerBin * bins);
  for (const topology::Cut& cut : fabric.cuts) bytes += sizeof cut + static_cast<double>(cut.inside.capacity()) / 8;
  return bytes;
}

void stop_if_cancelled(const std::atomic<bool>* cancel) {
  if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) throw sim::Cancelled{};
}

}  // namespace

Prepared prepare(const Scenario& scenario) {
  Prepared prepared;
  prepared.fabric = std::make_unique<const topology::Fabric>(topology::build(scenario.cluster));
  prepared.router = topology::make_router(*prepared.fabric, scenario.cluster);
  prepared.workload = workloads::build(scenario.workload, scenario.hardware, workloads::cluster_of(*prepared.fabric));
  return prepared;
}

RunSize size_of(const Scenario& scenario, const Prepared& prepared) {
  const workloads::SizeEstimate estimate = workloads::estimate_size(prepared.workload);
  return {.gpus = prepared.fabric->gpus(),
          .ranks = prepared.workload.program.ranks.size(),
          .devices = prepared.fabric->devices.size(),
          .links = prepared.fabric->links.size(),
          .operations = estimate.operations,
          .transfers = estimate.transfers,
          .memory = sim::Bytes{kProcess + kPages * (estimate.memory.count() + bytes_of(*prepared.fabric, scenario.run.bins))}};
}

namespace {

/// The longest chain of the whole run, or else of its first step alone: in several steps collectives may lose their common
/// start, and then they are more transfers than may be played.
std::optional<sim::Record> chain_of(const Prepared& prepared, const sim::RunOptions& options, bool try_whole) {
  const sim::Program& program = prepared.workload.program;
  std::optional<sim::Record> chain;
  if (try_whole || program.steps == 1) {
    chain = analysis::longest_chain(prepared.fabric->links, *prepared.router, program, options);
  }
  if (chain || program.steps == 1) return chain;
  sim::Program first_step = program;
  first_step.steps = 1;
  return analysis::longest_chain(prepared.fabric->links, *prepared.router, first_step, options);
}

}  // namespace

RunOutcome simulate_scenario(const Scenario& scenario, const Prepared& prepared, const RunHooks& hooks) {
  sim::RunOptions options = scenario.run;
  options.cancel = hooks.cancel;
  options.progress = hooks.progress;
  stop_if_cancelled(hooks.cancel);
  RunOutcome outcome;
  outcome.record = sim::simulate(prepared.fabric->links, *prepared.router, prepared.workload.program, options, hooks.trace);
  stop_if_cancelled(hooks.cancel);

  options.progress = nullptr;
  const auto forced = [](const sim::CollectiveModes& m) { return m.bulk_forced > 0; };
  const bool exact = std::none_of(outcome.record.modes.begin(), outcome.record.modes.end(), forced);
  const std::optional<sim::Record> chain = chain_of(prepared, options, exact);
  outcome.result = analysis::analyze({.fabric = *prepared.fabric,
                                      .router = *prepared.router,
                                      .workload = prepared.workload,
                                      .options = options,
                                      .record = outcome.record,
                                      .ideal = chain ? &*chain : nullptr});
  if (hooks.sensitivity) {
    outcome.result.sensitivity = sensitivity_by_running(
        scenario, prepared, {.cancel = hooks.cancel, .threads = hooks.threads, .progress = hooks.rerun_progress});
  }
  return outcome;
}

analysis::BoundReport bounds_of(const Scenario& scenario, const Prepared& prepared) {
  const std::optional<sim::Record> chain = chain_of(prepared, scenario.run, true);
  const std::vector<analysis::Bound> bounds = analysis::lower_bounds({.fabric = *prepared.fabric,
                                                                      .router = *prepared.router,
                                                                      .workload = prepared.workload,
                                                                      .step_ends = {},
                                                                      .ideal = chain ? &*chain : nullptr});
  const std::size_t ranks = prepared.workload.program.ranks.size();
  analysis::BoundReport report = analysis::bound_report(
      bounds, analysis::theory::scenario_step(scenario.cluster, scenario.hardware, scenario.workload, ranks));
  report.description = prepared.workload.description;
  report.fabric = prepared.fabric->name;
  report.gpus = ranks;
  return report;
}

}  // namespace traingraph::scenarios
