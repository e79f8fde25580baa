// Sums of doubles that do not depend on the order of their terms: 128-bit fixed point.
//
// A Fixed holds a multiple of 2^-bits, where `bits` is chosen once (FixedScale) from the largest value that can occur.
// Adding and subtracting are exact, so a sum that is kept up to date by differences equals the sum from nothing bit for bit,
// and n equal terms are one product. Only the conversions round: of a double, its bits below 2^-bits (towards zero); to a
// double, to nearest. Scaling all values by a power of two shifts `bits` with them and changes no digit.
#pragma once

#include <cmath>
#include <cstdint>

namespace traingraph::sim {

__extension__ using Fixed = __int128;

class FixedScale {
 public:
  /// A scale for values of magnitude up to `largest` (finite, positive), whose sums may be 2^headroom times larger.
  explicit FixedScale(double largest, int headroom) {
    const int bits = 126 - headroom - (std::ilogb(largest) + 1);
    up_ = std::ldexp(1.0, bits);
    down_ = std::ldexp(1.0, -bits);
  }

  [[nodiscard]] Fixed fixed(double value) const { return static_cast<Fixed>(value * up_); }
  [[nodiscard]] double value(Fixed sum) const { return static_cast<double>(sum) * down_; }

 private:
  double up_;
  double down_;
};

}  // namespace traingraph::sim
