#include "scenarios/sensitivity_runs.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <variant>

#include "scenarios/run_scenario.h"
#include "sim/simulate.h"
#include "workloads/build.h"
#include "workloads/cluster.h"

namespace traingraph::scenarios {
namespace {

using analysis::Perturbation;
using analysis::ResourceKind;

void scale_overheads(topology::ClusterSpec& cluster, double factor) {
  cluster.nic.overhead = cluster.nic.overhead.scaled(factor);
  std::visit(
      [factor]<class T>(T& scale_up) {
        if constexpr (!std::is_same_v<T, topology::NoScaleUp>) scale_up.overhead = scale_up.overhead.scaled(factor);
      },
      cluster.scale_up);
  if (auto* custom = std::get_if<topology::Custom>(&cluster.scale_out)) custom->overhead = custom->overhead.scaled(factor);
}

void scale_flop_rate(workloads::HardwareSpec& hardware, double factor) {
  for (auto& [precision, peak] : hardware.peaks) peak = peak * factor;
  if (hardware.matmul) hardware.matmul->flop_per_clock_per_sm *= factor;
}

void scale_memory_bandwidth(workloads::HardwareSpec& hardware, double factor) {
  hardware.memory_bandwidth = hardware.memory_bandwidth * factor;
  if (hardware.matmul) hardware.matmul->memory_bandwidth = hardware.matmul->memory_bandwidth * factor;
}

/// Calls work(0..n-1) in `threads` threads and rethrows the failure of the lowest number, if any.
template <class Work>
void in_threads(std::size_t n, std::uint32_t threads, const Work& work) {
  std::atomic<std::size_t> next{0};
  std::vector<std::exception_ptr> failures(n);
  const auto take_and_work = [&] {
    for (std::size_t i = next++; i < n; i = next++) {
      try {
        work(i);
      } catch (...) {
        failures[i] = std::current_exception();
        next = n;  // the others finish what they have begun
      }
    }
  };
  {
    std::vector<std::jthread> crew;
    for (std::size_t t = 1; t < std::min<std::size_t>(threads, n); ++t) crew.emplace_back(take_and_work);
    take_and_work();
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace

sim::Duration perturbed_step_time(const Scenario& scenario, const Prepared& prepared, const Perturbation& perturbation,
                                  const std::atomic<bool>* cancel) {
  sim::RunOptions options = scenario.run;
  options.cancel = cancel;
  options.progress = nullptr;
  options.bins = 0;
  options.critical_path = false;
  const auto step_time = [&](const topology::Fabric& fabric, const sim::Router& router, const sim::Program& program) {
    return sim::simulate(fabric.links, router, program, options).step_time();
  };
  switch (perturbation.resource.kind) {
    case ResourceKind::bandwidth:
    case ResourceKind::latency: {
      topology::Fabric fabric = *prepared.fabric;
      fabric.links = analysis::perturbed_links(fabric, perturbation);
      const auto router = topology::make_router(fabric, scenario.cluster);
      return step_time(fabric, *router, prepared.workload.program);
    }
    case ResourceKind::software_overhead: {
      topology::ClusterSpec cluster = scenario.cluster;
      scale_overheads(cluster, perturbation.factor);
      const auto router = topology::make_router(*prepared.fabric, cluster);
      return step_time(*prepared.fabric, *router, prepared.workload.program);
    }
    case ResourceKind::flop_rate:
    case ResourceKind::hbm_bandwidth:
      break;
  }
  workloads::HardwareSpec hardware = scenario.hardware;
  if (perturbation.resource.kind == ResourceKind::flop_rate) {
    scale_flop_rate(hardware, perturbation.factor);
  } else {
    scale_memory_bandwidth(hardware, perturbation.factor);
  }
  const workloads::Workload workload =
      workloads::build(scenario.workload, hardware, workloads::cluster_of(*prepared.fabric));
  return step_time(*prepared.fabric, *prepared.router, workload.program);
}

std::vector<analysis::Sensitivity> sensitivity_by_running(const Scenario& scenario, const Prepared& prepared,
                                                          const SensitivityHooks& hooks) {
  const std::vector<analysis::Resource> resources = analysis::resources_of(*prepared.fabric);
  // analysis asks for one run after the other: a first pass learns which, threads make them, a second hands them over.
  std::vector<Perturbation> asked;
  static_cast<void>(analysis::sensitivities(resources, [&](const Perturbation& perturbation) {
    asked.push_back(perturbation);
    return sim::Duration::ps(1);
  }));
  std::vector<sim::Duration> answers(asked.size());
  std::mutex reporting;
  std::size_t done = 0;
  in_threads(asked.size(), hooks.threads, [&](std::size_t i) {
    answers[i] = perturbed_step_time(scenario, prepared, asked[i], hooks.cancel);
    const std::lock_guard lock{reporting};
    ++done;
    if (hooks.progress) hooks.progress(done, asked.size());
  });
  std::size_t next = 0;
  return analysis::sensitivities(resources, [&](const Perturbation&) { return answers[next++]; });
}

}  // namespace traingraph::scenarios
