// The one rounding of a transfer's end to the clock.
#include "sim/end_time.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/sim/property.h"

namespace traingraph::sim::tests {
namespace {

const Time kStart = Time::at(10_us);

TEST(EndTime, RoundsUp) {
  // 1 byte at 3 bytes/ns takes 333.33 ps: 334.
  EXPECT_EQ(end_time(kStart, 1, 3e9), kStart + 334_ps);
}

TEST(EndTime, AnExactDivisionStaysExact) {
  // 4096 bytes at 50 GB/s: 81,920 ps; 1/3 of the bytes at 1/3 of the rate: the same, whatever the last bit says.
  EXPECT_EQ(end_time(kStart, 4096, 50e9), kStart + 81'920_ps);
  EXPECT_EQ(end_time(kStart, 4096.0 / 3, 50e9 / 3), kStart + 81'920_ps);
}

TEST(EndTime, NothingLeftEndsNow) {
  EXPECT_EQ(end_time(kStart, 0, 5), kStart);
  EXPECT_EQ(end_time(kStart, 1e9, std::numeric_limits<double>::infinity()), kStart);
}

TEST(EndTime, WithoutARateOrBeyondTheClockNever) {
  EXPECT_EQ(end_time(kStart, 1, 0), Time::never());
  EXPECT_EQ(end_time(kStart, 1e12, 1e-9), Time::never());
  EXPECT_EQ(end_time(kStart, std::numeric_limits<double>::infinity(), 1), Time::never());
}

TEST(EndTime, IsNeverEarlyNorAPicosecondLate) {
  check_property(1000, [] {
    Dice dice = draw_dice();
    const double bytes = std::exp(dice.uniform(0, 30)), rate = std::exp(dice.uniform(10, 28));
    const double exact = bytes / rate * 1e12;
    if (exact > 1e15) return;  // beyond, a double does not resolve a picosecond
    const auto ps = static_cast<double>((end_time(kStart, bytes, rate) - kStart).count_ps());
    RC_ASSERT(ps >= exact - 0.001);
    RC_ASSERT(ps < exact + 1);
  });
}

}  // namespace
}  // namespace traingraph::sim::tests
