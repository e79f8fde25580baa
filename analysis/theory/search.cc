#include "analysis/theory/search.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "analysis/theory/power_of_two.h"
#include "sim/error.h"

namespace traingraph::analysis::theory {
namespace {

constexpr int kLargestGpusExponent = 60;
constexpr int kBeyondFirst = 2;  // exponents of GPUs looked at after the first feasible one

const Gpu& searchable(const Gpu& gpu) {
  if (const std::string fault = fault_of(gpu); !fault.empty()) throw sim::InputError{fault};
  return gpu;
}

std::vector<Layout> incumbents_on(int n, std::span<const Layout> incumbents, std::size_t levels) {
  std::vector<Layout> all;
  for (const Layout& layout : incumbents) {
    const std::vector<Layout> near = neighbours(layout, n, levels);
    all.insert(all.end(), near.begin(), near.end());
  }
  return all;
}

}  // namespace

std::vector<Layout> neighbours(const Layout& layout, int n, std::size_t levels) {
  constexpr int kFarthest = 2;
  const int missing = n - layout.gpus_exponent();
  if (std::abs(missing) > kFarthest) return {};
  std::vector<Layout> moved{layout};
  for (int step = 0; step < std::abs(missing); ++step) {
    std::vector<Layout> next;
    for (const Layout& from : moved) {
      for (int d = 0; d < kDimensions; ++d) {
        Layout to = from;
        std::int8_t& exponent = to.exponents[static_cast<std::size_t>(d)][levels - 1];
        exponent = static_cast<std::int8_t>(exponent + (missing > 0 ? 1 : -1));
        next.push_back(to);
      }
    }
    moved = std::move(next);
  }
  const std::size_t count = moved.size();
  for (std::size_t i = 0; i < count; ++i) {
    for (const int change : {-1, 1}) {
      Layout other = moved[i];
      other.microbatches = static_cast<std::int8_t>(other.microbatches + change);
      moved.push_back(other);
    }
  }
  return moved;
}

LayoutSearch::LayoutSearch(const Gpu& gpu, const Assumptions& assumptions)
    : model_{searchable(gpu), assumptions}, splits_{model_} {}

int LayoutSearch::least_gpus_exponent(const ScaledRun& run) const {
  const double gpus = run.compute / (model_.assumptions().duration_s * model_.gpu().sustained_flop_per_s());
  return std::max(0, static_cast<int>(std::ceil(std::log2(gpus))));
}

std::optional<FoundLayout> LayoutSearch::best(double compute, std::span<const Layout> incumbents) const {
  const ScaledRun run = this->run(compute);
  PointSearch point{model_, splits_, run, Pipelining::any};
  std::optional<FoundLayout> best;
  int last = std::min(kLargestGpusExponent, point.largest_gpus_exponent());
  for (int n = least_gpus_exponent(run); n <= last; ++n) {
    std::vector<Layout> first = incumbents_on(n, incumbents, model_.levels());
    double limit = model_.step_limit_s(run);
    if (best) {
      // On more GPUs, only a step that is shorter in proportion uses them better.
      limit = std::min(limit, best->times.step_s * power_of_two(best->layout.gpus_exponent() - n));
      const std::vector<Layout> near = neighbours(best->layout, n, model_.levels());
      first.insert(first.end(), near.begin(), near.end());
    }
    const std::optional<FoundLayout> found = point.fastest(n, limit, first);
    if (!found) continue;
    if (!best) last = std::min(last, n + kBeyondFirst);
    if (!best || found->times.mfu > best->times.mfu) best = found;
  }
  return best;
}

bool LayoutSearch::feasible_without_pipeline(double compute) const {
  const ScaledRun run = this->run(compute);
  PointSearch point{model_, splits_, run, Pipelining::none};
  for (int n = least_gpus_exponent(run); n <= point.largest_gpus_exponent(); ++n) {
    if (point.fastest(n, model_.step_limit_s(run), {})) return true;
  }
  return false;
}

}  // namespace traingraph::analysis::theory
