// The re-runs behind the sensitivities (analysis/sensitivity.h): the same scenario with one resource a little larger or
// smaller.
//
// A changed link is changed in the fabric, so that routers see its latency too; a changed overhead in the cluster's
// description; a changed GPU in the hardware, from which the workload is built again. Runs are independent and take place in
// `threads` threads; results do not depend on their number. Cost: two simulations per resource, each without records.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/result.h"
#include "analysis/sensitivity.h"
#include "scenarios/scenario.h"
#include "sim/units.h"

namespace traingraph::scenarios {

struct Prepared;

struct SensitivityHooks {
  const std::atomic<bool>* cancel = nullptr;
  std::uint32_t threads = 1;
  /// Runs done so far, of how many; called by one thread at a time.
  std::function<void(std::size_t, std::size_t)> progress;
};

[[nodiscard]] std::vector<analysis::Sensitivity> sensitivity_by_running(const Scenario& scenario, const Prepared& prepared,
                                                                        const SensitivityHooks& hooks);

/// The step time of the scenario with one resource changed.
[[nodiscard]] sim::Duration perturbed_step_time(const Scenario& scenario, const Prepared& prepared,
                                                const analysis::Perturbation& perturbation, const std::atomic<bool>* cancel);

}  // namespace traingraph::scenarios
