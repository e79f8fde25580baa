// The planner: simulates layouts in the order of their bound until no bound that is left beats the best step simulated, and
// says how far it got: proven, or within so many percent of the best that there can be.
//
// Steps compared are whole cold steps (`steps: 1`), of which the bound speaks (step_bound.h). Candidates are simulated in
// rounds of kRound, whatever the number of threads, so that a plan without a time budget does not depend on it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/plan/search.h"

namespace traingraph::analysis::plan {

/// What became of a candidate.
struct Simulated {
  PlanLayout layout;
  double bound = 0;    ///< s
  double seconds = 0;  ///< of the simulated step; 0: it could not be
  double memory = 0;   ///< bytes of the GPU that needs most, by the exact model
  double tokens_per_s = 0;
  double mfu = 0;
  std::string why_not;     ///< what keeps it from being built; then nothing above counts
  bool too_large = false;  ///< for this machine: it is left unknown
};

/// Simulates a layout; called from several threads. What cannot be built is an answer, not an exception.
using SimulateLayout = std::function<Simulated(const PlanLayout&)>;

struct PlanLimits {
  std::uint32_t threads = 1;
  std::optional<std::uint64_t> top;  ///< simulate at most so many layouts
  std::optional<double> budget_s;    ///< begin no round after so many seconds
  const std::atomic<bool>* cancel = nullptr;
  std::function<void(const std::string&)> progress;
};
inline constexpr std::size_t kRound = 4;

/// One part of a bound: what the step would lose if it were free, taken away one after the other.
struct BoundTerm {
  std::string name;
  double seconds = 0;
};

struct Plan {
  std::uint32_t gpus = 0;
  SearchResult search;  ///< candidates emptied of all but the first kShown
  double search_seconds = 0;
  std::vector<Simulated> simulated;  ///< ascending by time; those that could not be built are left out
  std::uint64_t not_built = 0;       ///< passed the filter but not the exact rules
  std::uint64_t too_large = 0;       ///< not simulated because of their size
  std::optional<double> least_left;  ///< smallest bound of a layout that was not simulated; none: all were
  std::vector<BoundTerm> winner_terms, runner_up_terms;

  [[nodiscard]] const Simulated* best() const { return simulated.empty() ? nullptr : &simulated.front(); }
  [[nodiscard]] bool proven() const;
  /// How much faster than the best simulated a layout may still be; 0 when proven.
  [[nodiscard]] double may_be_faster() const;
};
/// Candidates of a search that a plan keeps to be shown.
inline constexpr std::size_t kShown = 100;

[[nodiscard]] Plan plan(StepBound& bound, std::uint32_t gpus, const SearchSpace& space, const SimulateLayout& simulate,
                        const PlanLimits& limits);

/// The bound of a layout as a sum. The layout must be prepared.
[[nodiscard]] std::vector<BoundTerm> bound_terms(const StepBound& bound, const PlanLayout& layout);

/// Those of which no other is at least as good in time, memory and GPUs and better in one; ascending by GPUs, then time.
struct FrontPoint {
  std::uint32_t gpus = 0;
  Simulated step;
};
[[nodiscard]] std::vector<FrontPoint> pareto_front(const std::vector<Plan>& plans);

}  // namespace traingraph::analysis::plan
