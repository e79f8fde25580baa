// 2^e as a double, exactly: std::ldexp without its call, which the layout search would feel.
#pragma once

#include <bit>
#include <cstdint>

namespace traingraph::analysis::theory {

/// REQUIRES: -1022 <= exponent <= 1023.
[[nodiscard]] constexpr double power_of_two(int exponent) {
  constexpr int kBias = 1023;
  constexpr int kMantissaBits = 52;
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + kBias) << kMantissaBits);
}
static_assert(power_of_two(0) == 1.0 && power_of_two(10) == 1024.0 && power_of_two(-2) == 0.25);

}  // namespace traingraph::analysis::theory
