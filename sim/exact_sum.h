// Sums of doubles that do not depend on the order of their terms: 128-bit fixed point.
//
// A Fixed holds a multiple of 2^-bits, where `bits` is chosen once (FixedScale) from the largest value that can occur.
// Adding and subtracting are exact, so a sum that is kept up to date by differences equals the sum from nothing bit for bit,
// and n equal terms are one product. Only the conversions round: of a double, its bits below 2^-bits (towards zero); to a
// double, to nearest. Scaling all values by a power of two shifts `bits` with them and changes no digit.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace traingraph::sim {

__extension__ using Fixed = __int128;

/// The double nearest to x, ties to even: what static_cast gives, without a call into the compiler's library.
[[nodiscard]] inline double to_double(Fixed x) {
  const auto low = static_cast<std::uint64_t>(x);
  const auto high = static_cast<std::int64_t>(x >> 64);
  if (high == (static_cast<std::int64_t>(low) >> 63)) return static_cast<double>(static_cast<std::int64_t>(low));
  const bool negative = high < 0;
  __extension__ using Unsigned = unsigned __int128;
  const Unsigned magnitude = negative ? -static_cast<Unsigned>(x) : static_cast<Unsigned>(x);
  // The highest 63 bits, and a last one that says whether anything was below: enough to round once.
  const int shift = 65 - std::countl_zero(static_cast<std::uint64_t>(magnitude >> 64) | 1U);
  const auto kept = static_cast<std::uint64_t>(magnitude >> shift);
  const bool rest = (magnitude & ((Unsigned{1} << shift) - 1)) != 0;
  const auto rounded = static_cast<double>(static_cast<std::int64_t>(kept | static_cast<std::uint64_t>(rest)));
  const auto bits = std::bit_cast<std::uint64_t>(rounded) + (static_cast<std::uint64_t>(shift) << 52U);
  return std::bit_cast<double>(bits | (std::uint64_t{negative} << 63U));
}

/// x without its fraction; |x| < 2^127. The same as static_cast.
[[nodiscard]] inline Fixed to_fixed(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const int shift = static_cast<int>((bits >> 52U) & 0x7ffU) - 1075;
  const std::uint64_t mantissa = (bits & ((std::uint64_t{1} << 52U) - 1)) | (std::uint64_t{1} << 52U);
  if (shift < -52) return 0;
  const Fixed magnitude = shift < 0 ? static_cast<Fixed>(mantissa >> -shift) : static_cast<Fixed>(mantissa) << shift;
  return (bits >> 63U) != 0 ? -magnitude : magnitude;
}

class FixedScale {
 public:
  /// A scale for values of magnitude up to `largest` (finite, positive), whose sums may be 2^headroom times larger.
  explicit FixedScale(double largest, int headroom) {
    const int bits = 126 - headroom - (std::ilogb(largest) + 1);
    up_ = std::ldexp(1.0, bits);
    down_ = std::ldexp(1.0, -bits);
  }

  [[nodiscard]] Fixed fixed(double value) const { return to_fixed(value * up_); }
  [[nodiscard]] double value(Fixed sum) const { return to_double(sum) * down_; }

 private:
  double up_;
  double down_;
};

}  // namespace traingraph::sim
