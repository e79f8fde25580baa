// Strong types: what converts, how it rounds, and what must not compile.
#include "sim/units.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <type_traits>

namespace traingraph::sim {
namespace {

template <class Op, class A, class B>
concept Works = std::is_invocable_v<Op, A, B>;

using Plus = std::plus<>;
using Minus = std::minus<>;
using Times = std::multiplies<>;
using Over = std::divides<>;
using Less = std::less<>;

// Points and spans of time differ.
static_assert(Works<Plus, Time, Duration> && Works<Plus, Duration, Time> && Works<Minus, Time, Duration>);
static_assert(std::is_same_v<decltype(Time{} - Time{}), Duration>);
static_assert(!Works<Plus, Time, Time>);
static_assert(!Works<Minus, Duration, Time>);
static_assert(!Works<Less, Time, Duration>);
static_assert(!Works<Times, Time, int>);
static_assert(!std::is_convertible_v<Duration, Time> && !std::is_convertible_v<Time, Duration>);

// No number comes in or goes out without its unit.
static_assert(!std::is_convertible_v<int, Duration> && !std::is_constructible_v<Duration, int>);
static_assert(!std::is_convertible_v<double, Duration> && !std::is_constructible_v<Duration, double>);
static_assert(!std::is_convertible_v<double, Bytes> && !std::is_convertible_v<Bytes, double>);
static_assert(!std::is_constructible_v<Bandwidth, double> && !std::is_constructible_v<FlopRate, double>);
static_assert(!Works<Plus, Duration, int> && !Works<Plus, Bytes, double> && !Works<Less, Bytes, double>);

// Quantities of different kinds don't mix.
static_assert(!Works<Plus, Bytes, Duration> && !Works<Plus, Bytes, Flop> && !Works<Plus, Bytes, Bandwidth>);
static_assert(!Works<Less, Bandwidth, FlopRate> && !Works<Less, Bytes, Flop>);
static_assert(!Works<Times, Bytes, Bytes> && !Works<Times, Bandwidth, Duration>);
static_assert(!Works<Over, Bytes, FlopRate> && !Works<Over, Flop, Bandwidth> && !Works<Over, Duration, Bytes>);
static_assert(std::is_same_v<decltype(Bytes{1} / Bandwidth{}), Duration>);
static_assert(std::is_same_v<decltype(Flop{1} / FlopRate{}), Duration>);
static_assert(std::is_same_v<decltype(Bytes{1} / Bytes{1}), double>);
static_assert(std::is_same_v<decltype(Duration{} / Duration{}), double>);

// Cheap to pass by value.
static_assert(sizeof(Time) == 8 && sizeof(Duration) == 8 && sizeof(Bytes) == 8);
static_assert(std::is_trivially_copyable_v<Time> && std::is_trivially_copyable_v<Bandwidth>);

TEST(Units, LiteralsAreExact) {
  EXPECT_EQ((1_ps).count_ps(), 1);
  EXPECT_EQ((1_ns).count_ps(), 1'000);
  EXPECT_EQ((1_us).count_ps(), 1'000'000);
  EXPECT_EQ((1_ms).count_ps(), 1'000'000'000);
  EXPECT_EQ((1_s).count_ps(), 1'000'000'000'000);
  EXPECT_EQ(2_us + 3_ns - 1_ps, 2'002'999_ps);
  EXPECT_EQ(3 * 2_us, 6_us);
}

TEST(Units, RealNumbersRoundToTheNearestPicosecond) {
  EXPECT_EQ(Duration::seconds(1e-12), 1_ps);
  EXPECT_EQ(Duration::seconds(1.4e-12), 1_ps);
  EXPECT_EQ(Duration::seconds(1.6e-12), 2_ps);
  EXPECT_EQ(Duration::seconds(-1.6e-12), Duration::ps(-2));
  EXPECT_EQ(Duration::ns(0.0004), 0_ps);
  EXPECT_EQ(Duration::us(1.5), 1'500_ns);
  EXPECT_EQ(Duration::ms(0.25), 250_us);
  EXPECT_EQ((10_ps).scaled(0.25), 3_ps);  // 2.5: halves away from zero
  EXPECT_EQ((10_us).scaled(1.1), 11_us);
}

TEST(Units, BeyondTheClockTimesSaturate) {
  EXPECT_EQ(Duration::seconds(1e30), Duration::max());
  EXPECT_EQ(Duration::seconds(std::numeric_limits<double>::infinity()), Duration::max());
  EXPECT_LT(Duration::seconds(-1e30), Duration::ps(-9'200'000'000'000'000'000));
  EXPECT_EQ(Time::never(), Time::at(Duration::max()));
}

TEST(Units, ADataRateTurnsBytesIntoTime) {
  // 400 Gb/s = 50 GB/s: 4096 bytes take 81.92 ns.
  EXPECT_EQ(Bandwidth::gbit_per_s(400).bytes_per_s(), 50e9);
  EXPECT_EQ(Bytes{4096} / Bandwidth::gbit_per_s(400), 81'920_ps);
  EXPECT_EQ(Flop{312e12} / FlopRate::flop_per_s(312e12), 1_s);
}

TEST(Units, PointsAndSpans) {
  const Time start = Time::at(5_us);
  EXPECT_EQ(start + 2_us, Time::at(7_us));
  EXPECT_EQ(start - 2_us, Time::at(3_us));
  EXPECT_EQ(Time::at(7_us) - start, 2_us);
  EXPECT_EQ(Time::zero().count_ps(), 0);
  EXPECT_LT(start, Time::never());
  EXPECT_DOUBLE_EQ(3_us / 2_us, 1.5);
}

TEST(Units, QuantitiesAddAndScale) {
  EXPECT_EQ(Bytes{3} + Bytes{4} - Bytes{1}, Bytes{6});
  EXPECT_EQ(2 * Bytes{3}, Bytes{6});
  EXPECT_EQ(Bytes{6} / 4, Bytes{1.5});
  EXPECT_EQ(Bytes{6} / Bytes{4}, 1.5);
  Bytes sum;
  sum += Bytes{7};
  EXPECT_EQ(sum.count(), 7);
}

}  // namespace
}  // namespace traingraph::sim
