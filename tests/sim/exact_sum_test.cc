#include "sim/exact_sum.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tests/sim/property.h"

namespace traingraph::sim::tests {
namespace {

/// Numbers of every length, with runs of zeros and ones at their ends (where rounding decides).
Fixed number_of(Dice& dice) {
  Fixed x = static_cast<Fixed>(dice.bits()) << 64 | static_cast<Fixed>(dice.bits());
  x >>= dice.below(128);
  if (dice.chance(0.5)) {
    const std::uint32_t low = dice.below(120);
    const Fixed mask = (Fixed{1} << low) - 1;
    x = dice.chance(0.3) ? (x | mask) : (x & ~mask);
    if (dice.chance(0.3)) x += static_cast<Fixed>(dice.between(0, 2)) - 1;
  }
  return dice.chance(0.5) ? x : -x;
}

TEST(ExactSum, ConversionsAreThoseOfTheCompiler) {
  Dice dice{1};
  for (int i = 0; i < 1'000'000; ++i) {
    const Fixed x = number_of(dice);
    ASSERT_EQ(to_double(x), static_cast<double>(x)) << "case " << i;
    const double d = std::ldexp(dice.uniform(-1, 1), static_cast<int>(dice.below(140)) - 14);
    if (std::abs(d) < 0x1p126) {
      ASSERT_EQ(to_fixed(d), static_cast<Fixed>(d)) << d;
    }
  }
  for (const double d :
       std::vector<double>{0.0, -0.0, 0.5, 1.0, -1.0, 0x1p52, 0x1p53, 0x1p125, std::numeric_limits<double>::denorm_min()})
    EXPECT_EQ(to_fixed(d), static_cast<Fixed>(d)) << d;
  for (const Fixed x : std::vector<Fixed>{0, 1, -1, Fixed{1} << 62, Fixed{1} << 63, -(Fixed{1} << 63), (Fixed{1} << 64) - 1,
                                          Fixed{1} << 126, -(Fixed{1} << 126)})
    EXPECT_EQ(to_double(x), static_cast<double>(x));
}

}  // namespace
}  // namespace traingraph::sim::tests
