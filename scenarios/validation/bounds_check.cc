#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>

#include "analysis/share_out.h"
#include "scenarios/run_scenario.h"
#include "scenarios/validation/random_scenarios.h"
#include "scenarios/validation/theory_checks.h"
#include "sim/error.h"

namespace traingraph::scenarios {
namespace {

/// Nothing when the scenario cannot be built.
std::optional<std::vector<analysis::Bound>> bounds_of_run(std::uint64_t seed, const std::atomic<bool>* cancel) {
  try {
    const Scenario scenario = random_scenario(seed);
    const Prepared prepared = prepare(scenario);
    RunHooks hooks;
    hooks.cancel = cancel;
    return simulate_scenario(scenario, prepared, hooks).result.bounds;
  } catch (const sim::InputError&) {
    return std::nullopt;
  }
}

}  // namespace

BoundsCheck check_bounds(std::uint64_t scenarios, const CheckHooks& hooks) {
  constexpr std::uint64_t kFirst = 1;
  BoundsCheck check;
  check.first_seed = kFirst;
  check.least_gap = std::numeric_limits<double>::infinity();
  std::uint64_t next = kFirst;
  while (check.scenarios < scenarios) {
    const std::uint64_t n = scenarios - check.scenarios;
    std::vector<std::optional<std::vector<analysis::Bound>>> runs(n);
    analysis::share_out(n, hooks.threads, hooks.cancel,
                        [&](std::size_t, std::size_t i) { runs[i] = bounds_of_run(next + i, hooks.cancel); });
    for (std::uint64_t i = 0; i < n; ++i) {
      if (!runs[i]) continue;
      ++check.scenarios;
      check.last_seed = next + i;
      for (const analysis::Bound& b : *runs[i]) {
        if (b.value <= sim::Duration{}) continue;
        ++check.bounds;
        check.least_gap = std::min(check.least_gap, b.simulated / b.value);
        if (b.simulated >= b.value) continue;
        check.failures.push_back(fmt::format("seed {}: {} ({}): {} ps, simulated {} ps", next + i, b.name, b.subject,
                                             b.value.count_ps(), b.simulated.count_ps()));
      }
    }
    next += n;
    if (hooks.progress) hooks.progress(fmt::format("bounds: {} of {} scenarios", check.scenarios, scenarios));
  }
  return check;
}

}  // namespace traingraph::scenarios
