// SplitTable: every way to spread a degree 2^e over the network levels, with the cost of the collective that runs over it.
// Depends on the network and the assumptions only, so a search makes it once for all training computes.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "analysis/theory/layout.h"
#include "analysis/theory/word_cost.h"

namespace traingraph::analysis::theory {

struct SplitOption {
  Layout::Levels exponents{};
  WordCost cost;
  bool possible = false;  ///< the inner levels alone do not exceed e
};

class SplitTable {
 public:
  using Cost = std::function<WordCost(const PerLevel& degrees)>;

  /// For e = 0 .. `largest_exponent`.
  SplitTable(const Gpu& gpu, int largest_exponent, const Cost& cost);

  /// Indexed by the exponents of the inner levels in mixed radix: index = sum over l < K-1 of exponents[l] * stride(l).
  [[nodiscard]] std::span<const SplitOption> options(int exponent) const;
  [[nodiscard]] const SplitOption& option(int exponent, const Layout::Levels& inner) const;
  /// Of each field the smallest over the options: no split costs less.
  [[nodiscard]] const WordCost& least(int exponent) const { return least_[static_cast<std::size_t>(exponent)]; }

 private:
  std::size_t radix_size_ = 1;  ///< options per exponent
  std::vector<std::size_t> strides_;
  std::vector<SplitOption> options_;
  std::vector<WordCost> least_;
};

}  // namespace traingraph::analysis::theory
