#include "scenarios/run_scenario.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/analyze.h"
#include "analysis/bounds.h"
#include "scenarios/checks.h"
#include "scenarios/diagnostics.h"
#include "scenarios/sensitivity_runs.h"
#include "sim/error.h"
#include "sim/simulate.h"
#include "topology/build.h"
#include "topology/input_error.h"
#include "topology/layout.h"
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

/// Links of the longest path of GPU 0 inside its domain and out of it, or what the estimate was calibrated with.
double links_per_path(const Prepared& prepared) {
  constexpr std::size_t kUsual = 16;
  const topology::Fabric& fabric = *prepared.fabric;
  std::size_t most = kUsual;
  for (const std::uint32_t other : {1U, fabric.gpus_per_domain}) {
    if (other >= fabric.gpus()) continue;
    try {
      most = std::max(most, prepared.router->route(sim::EndpointId{0}, sim::EndpointId{other}, 0).links.size());
    } catch (const sim::InputError&) {
      // a pair that nothing needs may have no path
    }
  }
  return static_cast<double>(most);
}

void stop_if_cancelled(const std::atomic<bool>* cancel) {
  if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) throw sim::Cancelled{};
}

/// Refuses a fabric whose tables alone are more than the machine's memory, before they fill it.
void expect_memory_for(const topology::ClusterSpec& cluster) {
  if (std::holds_alternative<topology::Custom>(cluster.scale_out)) return;  // as long as its description
  const topology::Layout layout = topology::resolve(cluster);
  const double least = static_cast<double>(layout.end_link) * (sizeof(sim::Link) + sizeof(topology::LinkInfo)) +
                       static_cast<double>(layout.end_device) * sizeof(topology::Device);
  const double there = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (there <= 0 || least <= there) return;
  throw std::system_error{ENOMEM, std::generic_category(),
                          fmt::format("a fabric of {} devices and {} directed links takes more than {:.0f} GB",
                                      layout.end_device, layout.end_link, least / 1e9)};
}

}  // namespace

Prepared prepare(const Scenario& scenario) {
  expect_memory_for(scenario.cluster);
  Prepared prepared;
  try {
    prepared.fabric = std::make_unique<const topology::Fabric>(topology::build(scenario.cluster));
    prepared.router = topology::make_router(*prepared.fabric, scenario.cluster);
  } catch (const topology::ClusterError& e) {
    Diagnostics diagnostics;
    Checker{scenario.provenance, diagnostics}.report("cluster." + e.key(), e.text());
    diagnostics.check();
  }
  prepared.workload = workloads::build(scenario.workload, scenario.hardware, workloads::cluster_of(*prepared.fabric));
  return prepared;
}

RunSize size_of(const Scenario& scenario, const Prepared& prepared) {
  const workloads::SizeEstimate estimate = workloads::estimate_size(prepared.workload, links_per_path(prepared));
  return {
      .gpus = prepared.fabric->gpus(),
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
