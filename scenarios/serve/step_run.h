// StepRun: one run of a scenario for the page, from its text to the JSON that the page draws: a step document
// (analysis/step_document.h), or the step time with one resource changed.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/options.h"

namespace traingraph::scenarios::serve {

/// "What if this resource were `factor` times as large?"
struct WhatIf {
  std::string resource;  ///< as analysis::name_of() says: "bandwidth nic"
  double factor = 1;
};

struct StepRequest {
  std::string yaml;
  std::vector<std::string> overrides;
  bool sensitivity = false;
  std::optional<WhatIf> what_if;
};

struct StepHooks {
  const std::atomic<bool>* cancel = nullptr;
  std::function<void(const sim::Progress&)> progress;
  std::function<void(std::size_t, std::size_t)> rerun_progress;
  std::uint32_t threads = 1;
  std::string version;  ///< of the program
};

/// Largest runs that the page may start; larger ones belong on the command line.
inline constexpr std::uint64_t kMostGpus = 32768;
inline constexpr double kMostMemory = 4e9;  ///< bytes, as estimated
/// Time bins of the heat map.
inline constexpr std::uint32_t kHeatBins = 300;

/// {"gpus", "operations", "transfers", "memory_bytes"} of a scenario that can be run here. Throws ScenarioError with every
/// fault, or sim::InputError when it is too large.
[[nodiscard]] std::string checked_size(const StepRequest& request);
/// The JSON for the page. Throws what simulate_scenario() throws, and as checked_size().
[[nodiscard]] std::string run_step(const StepRequest& request, const StepHooks& hooks);

}  // namespace traingraph::scenarios::serve
