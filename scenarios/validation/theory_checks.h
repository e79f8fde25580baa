// Theory against simulation, where they must agree.
//
//   bounds  on random scenarios no simulated window is shorter than any of its lower bounds (analysis/bounds.h)
//   ideal   cases in which only one thing takes time have a closed form, and the simulation meets it
//   grid    the closed-form step model (arXiv 2411.01137) against the simulation of its own workload, linear_blocks, on the
//           fabric that it assumes: two levels, non-blocking
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace traingraph::scenarios {

struct BoundsCheck {
  std::uint64_t first_seed = 0, last_seed = 0;
  std::uint64_t scenarios = 0;
  std::uint64_t bounds = 0;  ///< compared, over all scenarios
  std::vector<std::string> failures;
  double least_gap = 0;  ///< smallest simulated / bound
};

struct IdealCase {
  std::string name;
  std::string formula;
  double expected_s = 0;
  double simulated_s = 0;
  [[nodiscard]] double error() const { return simulated_s / expected_s - 1; }
};
inline constexpr double kIdealTolerance = 1e-9;

/// One layout of the grid; times of one cold step.
struct GridPoint {
  std::string layout;
  std::string regime;
  double simulated_s = 0;
  double hidden_s = 0;   ///< the model: communication of other micro-batches hides behind arithmetic
  double exposed_s = 0;  ///< none does
  // Where the simulation differs from `hidden`, in seconds; they add up to the difference but for the end of the step.
  double blocks_s = 0;     ///< tensor and expert communication that a rank waits for
  double pipeline_s = 0;   ///< bubble and hand-offs
  double gradients_s = 0;  ///< the gradient all-reduce
  [[nodiscard]] double ratio() const { return simulated_s / hidden_s; }
};

struct CheckHooks {
  std::uint32_t threads = 1;
  const std::atomic<bool>* cancel = nullptr;
  std::function<void(const std::string&)> progress;
};

[[nodiscard]] BoundsCheck check_bounds(std::uint64_t scenarios, const CheckHooks& hooks);
[[nodiscard]] std::vector<IdealCase> check_ideal_cases();
/// `small`: some layouts only.
[[nodiscard]] std::vector<GridPoint> compare_step_model(bool small, const CheckHooks& hooks);

struct TheoryValidation {
  BoundsCheck bounds;
  std::vector<IdealCase> ideal;
  std::vector<GridPoint> grid;
  [[nodiscard]] bool passed() const;
};
/// The report, in Markdown.
[[nodiscard]] std::string to_markdown(const TheoryValidation& validation);

}  // namespace traingraph::scenarios
