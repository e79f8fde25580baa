// LayoutSearch: given a GPU and a training compute, which split of work over how many GPUs finishes in time with the highest
// utilization. Exact: every power-of-two layout is a candidate (PointSearch says how they are cut).
//
// The number of GPUs 2^n runs upward from what the arithmetic alone needs and ends two after the first n on which the run
// can be finished in time: no larger n has been seen to win.
#pragma once

#include <optional>
#include <span>

#include "analysis/theory/point_search.h"

namespace traingraph::analysis::theory {

class LayoutSearch {
 public:
  /// Throws sim::InputError for a record that fault_of() refuses.
  LayoutSearch(const Gpu& gpu, const Assumptions& assumptions);
  LayoutSearch(const LayoutSearch&) = delete;
  LayoutSearch& operator=(const LayoutSearch&) = delete;

  [[nodiscard]] const StepModel& model() const { return model_; }
  [[nodiscard]] ScaledRun run(double compute) const { return scaled_run(compute, model_.assumptions()); }

  /// The layout with the highest utilization that finishes in time, or nothing if none does on up to 2^60 GPUs.
  /// `incumbents`, such as the answers for a neighbouring compute or assumption set, make it faster and change nothing.
  [[nodiscard]] std::optional<FoundLayout> best(double compute, std::span<const Layout> incumbents = {}) const;

  /// Whether a run can finish in time on any number of GPUs without pipelining (PP = m = 1).
  [[nodiscard]] bool feasible_without_pipeline(double compute) const;

 private:
  [[nodiscard]] int least_gpus_exponent(const ScaledRun& run) const;

  StepModel model_;
  SplitTables splits_;
};

/// `layout` moved to 2^n GPUs in all ways of at most two doublings or halvings at the outermost of `levels`, with the
/// microbatches as they are, halved and doubled: where to look first. What comes out need not be a candidate.
[[nodiscard]] std::vector<Layout> neighbours(const Layout& layout, int n, std::size_t levels);

}  // namespace traingraph::analysis::theory
