// KernelTable: the matmul times of one run in all its layouts, each computed when it is first asked for. They depend on
// DP*m, EP, TF and TM (and on PP if weights stay on chip only together), and on nothing of the network.
#pragma once

#include <optional>
#include <vector>

#include "analysis/theory/step_model.h"

namespace traingraph::analysis::theory {

/// Largest exponents that a run allows: no degree exceeds what it divides.
struct ExponentCaps {
  int data = 0;      ///< DP*m, by tokens
  int pipeline = 0;  ///< by blocks
  int expert = 0;
  int hidden = 0;
  int model = 0;
};

struct BlockTimes {
  double forward_s = 0;          ///< fwd of one block and microbatch
  double weight_gradient_s = 0;  ///< dw
};

/// A layout as far as the matmuls see it: exponents of DP*m, PP, EP, TF and TM.
struct KernelKey {
  int tokens = 0;
  int pipeline = 0;
  int expert = 0;
  int hidden = 0;
  int model = 0;
};

class KernelTable {
 public:
  KernelTable(const StepModel& model, const ScaledRun& run, const ExponentCaps& caps);

  [[nodiscard]] const BlockTimes& exact(const KernelKey& key);
  /// A lower bound of both fields from arithmetic and latency alone.
  [[nodiscard]] double least(const KernelKey& key) const;

 private:
  struct Shapes {
    workloads::TiledMatmul up;    // d1 x d2
    workloads::TiledMatmul down;  // d2 x d1
  };
  [[nodiscard]] BlockTimes compute(const KernelKey& key);
  [[nodiscard]] std::size_t index(const KernelKey& key) const;

  const StepModel& model_;
  const ScaledRun& run_;
  ExponentCaps caps_;
  std::vector<std::optional<Shapes>> shapes_;  // by TF and TM
  std::vector<BlockTimes> times_;              // forward_s = 0: not computed yet
  std::vector<double> padded_tokens_;          // of one expert, by the exponent of DP*m
  std::vector<double> hidden_flop_s_;          // 2 padded d1 over the sustained rate, by TF
  std::vector<double> padded_model_;           // by TM
};

}  // namespace traingraph::analysis::theory
