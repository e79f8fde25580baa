// PointSearch: the fastest layout of one run on 2^n GPUs, exactly, by branch and bound.
//
// A candidate is: totals (DP, PP, EP, TF, TM, powers of two with product 2^n), microbatches m, and a split of every total
// over the network levels, inner levels filled first. Three bounds of t_step, each the step model itself with some terms
// replaced by something no larger, cut the tree; none of them loses the optimum:
//   1. totals: matmuls at their arithmetic alone, every collective at the best split that it would have by itself;
//   2. totals and m: exact matmuls (KernelTable), the same collectives;
//   3. totals, m and split: all terms.
// Totals are visited in the order of bound 1. What survives bound 3 is computed by StepModel::times, which alone decides, so
// the answer does not depend on the order of visit or on the incumbents; equal steps are told apart by the order of layouts.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/theory/kernel_table.h"
#include "analysis/theory/split_table.h"
#include "analysis/theory/step_model.h"

namespace traingraph::analysis::theory {

struct FoundLayout {
  Layout layout;
  StepTimes times;
};

/// No degree of a candidate exceeds two to this.
inline constexpr int kLargestExponent = 100;

/// The splits of a network under its assumptions, made once for many points.
struct SplitTables {
  SplitTable all_reduce;
  SplitTable all_to_all;
  SplitTable boundary;

  explicit SplitTables(const StepModel& model);
};

enum class Pipelining : std::uint8_t {
  any,
  none,  ///< PP = m = 1: the latency wall's layouts
};

/// What the collectives of a candidate cost in a step; sums of WordCosts times words.
struct Communication {
  PerLevel net_s{};     ///< busy time of each level
  double blocks_s = 0;  ///< the same without gradients, summed over the levels
  double gradient_s = 0;
  double serial_s = 0;  ///< one direction of one block, all tokens of a data-parallel rank at once
  double serial_latency_s = 0;
  double tail_s = 0;
};

class PointSearch {
 public:
  /// Keeps references to all that it is given.
  PointSearch(const StepModel& model, const SplitTables& splits, const ScaledRun& run, Pipelining pipelining);

  /// Largest n that any candidate has.
  [[nodiscard]] int largest_gpus_exponent() const;

  /// The candidate on 2^n GPUs with the shortest step of at most `limit_s` that finishes the run in time, if there is one.
  /// `incumbents` are tried first; those that are no candidates are passed over.
  [[nodiscard]] std::optional<FoundLayout> fastest(int n, double limit_s, std::span<const Layout> incumbents);

 private:
  struct Totals {
    int data, pipeline, expert, hidden, model;  // exponents
    double bound_s;
  };
  /// How a dimension's WordCost enters a Communication.
  struct Weight {
    double net = 0;
    double serial = 0;
    double latency = 0;
  };
  /// What is the same for all candidates with the same totals.
  struct Context {
    Totals totals{};
    double blocks = 0;
    double chunk = 0;
    double bubble_blocks = 0;  // (PP-1) chunk
    std::array<Weight, kDimensions> weights{};
  };
  struct Microbatching {
    int exponent;
    BlockTimes block;
  };

  [[nodiscard]] Context context(const Totals& totals) const;
  [[nodiscard]] Communication least_communication(const Context& context) const;
  [[nodiscard]] double estimate(const Context& context, const Communication& communication, const BlockTimes& block,
                                int microbatches) const;
  [[nodiscard]] double bound(const Context& context) const;
  [[nodiscard]] int most_microbatches(const Totals& totals) const;
  [[nodiscard]] bool too_slow(const Communication& communication) const;
  void add(Communication& to, const Context& context, Dimension dimension, const WordCost& cost) const;

  void collect(int n);
  void explore(const Totals& totals);
  void split(const Context& context, int depth, Layout& layout, Layout::Levels& rest, const Communication& so_far);
  void try_microbatches(const Context& context, Layout& layout, const Communication& communication);
  void consider(const Layout& layout);
  [[nodiscard]] bool is_candidate(const Layout& layout) const;
  [[nodiscard]] const SplitTable& table(Dimension dimension) const;

  const StepModel& model_;
  const SplitTables& splits_;
  const ScaledRun& run_;
  bool pipelined_;
  ExponentCaps caps_;
  KernelTable kernels_;

  Layout::Levels fill_{};  // exponents of the levels for the current n
  double threshold_s_ = 0;
  std::optional<FoundLayout> best_;
  std::vector<Totals> open_;
  std::vector<Microbatching> kept_;
};

}  // namespace traingraph::analysis::theory
