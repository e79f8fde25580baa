// Layout: how a run is split over GPUs. Every dimension of parallelism has one degree per network level, a power of two,
// kept as its exponent; microbatches are counted per data-parallel rank.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>

#include "analysis/theory/gpu.h"

namespace traingraph::analysis::theory {

enum Dimension : std::uint8_t {
  kData,          ///< DP
  kPipeline,      ///< PP
  kExpert,        ///< EP
  kTensorHidden,  ///< TF, tensor parallelism over ff
  kTensorModel,   ///< TM, tensor parallelism over d
};
inline constexpr int kDimensions = 5;

struct Layout {
  using Levels = std::array<std::int8_t, kMaxLevels>;  ///< exponents, innermost level first

  std::array<Levels, kDimensions> exponents{};
  std::int8_t microbatches = 0;  ///< exponent of m

  [[nodiscard]] int exponent(Dimension dimension) const;  ///< of the product over the levels
  [[nodiscard]] double degree(Dimension dimension) const;
  [[nodiscard]] double degree(Dimension dimension, int level) const;
  [[nodiscard]] int gpus_exponent() const;
  [[nodiscard]] double microbatch_count() const;

  /// An order among layouts of equal cost, so that a search has one answer.
  auto operator<=>(const Layout&) const = default;
};

/// The same with any positive degrees, as the step model takes them.
struct Degrees {
  std::array<PerLevel, kDimensions> levels;  ///< 1 where nothing is split
  double microbatches = 1;                   ///< m

  Degrees();
  Degrees(const Layout& layout);  // NOLINT(google-explicit-constructor): a layout is one way to give degrees
  [[nodiscard]] double total(Dimension dimension) const;
  [[nodiscard]] double gpus() const;
};

/// "2x64": the degrees of a dimension, inner to outer, as many as the network has levels.
[[nodiscard]] std::string degrees_text(const Layout& layout, Dimension dimension, int levels);

}  // namespace traingraph::analysis::theory
