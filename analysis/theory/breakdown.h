// Where the time of a step goes, and what holds it up.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/theory/step_model.h"

namespace traingraph::analysis::theory {

/// Fractions of the step; they add up to 1.
struct Breakdown {
  double arithmetic = 0;  ///< at the sustained rate without any waste: equal to rel
  double kernels = 0;     ///< what the products take beyond that: tiles, memory, caches, launch latency
  PerLevel network{};     ///< traffic of a level that the products do not hide
  double latency = 0;     ///< blocks in series that the products do not hide
  double bubble = 0;
  double tail = 0;  ///< the last gradients
};
[[nodiscard]] Breakdown breakdown(const StepTimes& times, const StepModel& model);

enum class Binding : std::uint8_t { arithmetic, memory, l2, sm_network, kernel_latency, network, latency, bubble };

/// The longest of the terms of which the step model takes the largest: products (and of those, what limits them), each
/// network level, blocks in series, and beside them the bubble.
struct Binds {
  Binding what = Binding::arithmetic;
  int level = 0;  ///< of a network
};
[[nodiscard]] Binds binds(const StepTimes& times, const StepModel& model);
/// "arithmetic", "memory", "network 1", ...
[[nodiscard]] std::string to_string(const Binds& binds);

}  // namespace traingraph::analysis::theory
