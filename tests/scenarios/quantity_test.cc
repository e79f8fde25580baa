#include "scenarios/quantity.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <string>

namespace traingraph::scenarios {
namespace {

using sim::Bandwidth;
using sim::Bytes;
using sim::Duration;
using sim::FlopRate;

// Bits are an eighth of bytes, SI prefixes powers of 1000, binary ones of 1024.
TEST(Quantity, ReadsBandwidthsInBitsAndBytes) {
  EXPECT_EQ(parse_bandwidth("400 Gb/s").value, Bandwidth::bytes_per_s(50e9));
  EXPECT_EQ(parse_bandwidth("400 Gbps").value, Bandwidth::bytes_per_s(50e9));
  EXPECT_EQ(parse_bandwidth("50 GB/s").value, Bandwidth::bytes_per_s(50e9));
  EXPECT_EQ(parse_bandwidth("50GB/s").value, Bandwidth::bytes_per_s(50e9));
  EXPECT_EQ(parse_bandwidth("1 GiB/s").value, Bandwidth::bytes_per_s(1073741824.0));
  EXPECT_EQ(parse_bandwidth("8 b/s").value, Bandwidth::bytes_per_s(1.0));
  EXPECT_EQ(parse_bandwidth("2.039 TB/s").value, Bandwidth::bytes_per_s(2.039e12));
  EXPECT_EQ(parse_bandwidth("1.2e3 Mb/s").value, Bandwidth::bytes_per_s(1.5e8));
}

TEST(Quantity, ReadsTimesToThePicosecond) {
  EXPECT_EQ(parse_duration("1.5 us").value, Duration::ps(1500000));
  EXPECT_EQ(parse_duration("1.5 \u00B5s").value, Duration::ps(1500000));
  EXPECT_EQ(parse_duration("1.5 \u03BCs").value, Duration::ps(1500000));
  EXPECT_EQ(parse_duration("25 ns").value, Duration::ps(25000));
  EXPECT_EQ(parse_duration("3 ps").value, Duration::ps(3));
  EXPECT_EQ(parse_duration("2 min").value, Duration::ps(120000000000000));
  EXPECT_EQ(parse_duration("0").value, Duration::ps(0));
  EXPECT_EQ(parse_duration("0 s").value, Duration::ps(0));
  // More digits than a double holds: 10,000 s and 1 ps.
  EXPECT_EQ(parse_duration("10000.000000000001 s").value, Duration::ps(10000000000000001));
}

TEST(Quantity, ReadsSizesRatesAndFrequencies) {
  EXPECT_EQ(parse_bytes("80 GB").value, Bytes{80e9});
  EXPECT_EQ(parse_bytes("80 GiB").value, Bytes{85899345920.0});
  EXPECT_EQ(parse_bytes("64 KiB").value, Bytes{65536.0});
  EXPECT_EQ(parse_flop_rate("989 TFLOP/s").value, FlopRate::flop_per_s(989e12));
  EXPECT_EQ(parse_flop_rate("989 TFLOPS").value, FlopRate::flop_per_s(989e12));
  EXPECT_EQ(parse_frequency("1.41 GHz").value, Frequency{1.41e9});
  EXPECT_EQ(parse_fraction("85 %").value, 0.85);
  EXPECT_EQ(parse_fraction("0.85").value, 0.85);
  EXPECT_EQ(parse_seconds("4.5 us").value, 4.5e-6);
}

TEST(Quantity, RefusesBareNumbersAndSaysWhichUnitsThereAre) {
  EXPECT_EQ(parse_duration("5").error, "a time needs a unit, found '5'; units: ps, ns, us, ms, s, min, h, d");
  EXPECT_EQ(parse_frequency("1410").error, "a frequency needs a unit, found '1410'; units: Hz, kHz, MHz, GHz");
}

TEST(Quantity, ForUnitsOfTheWrongCaseNamesThoseThatDifferInCaseOnly) {
  EXPECT_EQ(parse_bandwidth("400 gb/s").error, "'gb/s' is no unit of a bandwidth; did you mean 'Gb/s' or 'GB/s'?");
  EXPECT_EQ(parse_bytes("4 mib").error, "'mib' is no unit of a size; did you mean 'MiB'?");
}

TEST(Quantity, RefusesWhatIsNoQuantity) {
  EXPECT_EQ(parse_bandwidth("fast").error, "expected a bandwidth such as 400 Gb/s, found 'fast'");
  EXPECT_EQ(parse_bandwidth("").error, "expected a bandwidth such as 400 Gb/s, found ''");
  EXPECT_EQ(parse_duration("-1 us").error, "a time may not be negative, found '-1 us'");
  EXPECT_EQ(parse_duration("nan s").error, "expected a time such as 1.5 us, found 'nan s'");
  EXPECT_EQ(parse_duration("inf s").error, "expected a time such as 1.5 us, found 'inf s'");
  EXPECT_EQ(parse_bytes("0x10 B").error,
            "'x10 B' is no unit of a size; units: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB, PB, PiB");
  EXPECT_EQ(parse_bytes("010 B").error, "a number may not begin with a superfluous 0, found '010'");
  EXPECT_EQ(parse_bytes("1e5000 B").error, "the number '1e5000' is out of range");
  EXPECT_EQ(parse_duration("101 d").error, "time of at most 100 d is expected, found '101 d'");
  EXPECT_EQ(parse_bandwidth("1e10 TB/s").error, "bandwidth of at most 1000000 TB/s is expected, found '1e10 TB/s'");
  EXPECT_EQ(parse_duration("0.1 ps").error, "a time of at least 1 ps (or 0) is expected, found '0.1 ps'");
  EXPECT_EQ(parse_bytes("8 GB/s").error,
            "'GB/s' is no unit of a size; units: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB, PB, PiB");
}

TEST(Quantity, WholeNumbersAreDigitsOnly) {
  EXPECT_EQ(parse_integer("128").value, 128);
  EXPECT_EQ(parse_integer("-1").value, -1);
  EXPECT_EQ(parse_integer("0").value, 0);
  for (const char* const text : {"010", "1e3", "8.0", "0x10", "1_000", "1,000", "", "-", "9223372036854775808", "8 GPUs"}) {
    EXPECT_FALSE(parse_integer(text).value) << text;
    EXPECT_FALSE(parse_integer(text).error.empty()) << text;
  }
}

TEST(Quantity, PrintsTheCanonicalForm) {
  EXPECT_EQ(format(Bandwidth::gbit_per_s(400)), "50 GB/s");
  EXPECT_EQ(format(Bytes{65536.0}), "65.536 kB");
  EXPECT_EQ(format(FlopRate::flop_per_s(989e12)), "989 TFLOP/s");
  EXPECT_EQ(format(Frequency{1.41e9}), "1.41 GHz");
  EXPECT_EQ(format(Duration::ps(1500000)), "1.5 us");
  EXPECT_EQ(format(Duration::ps(1000001)), "1.000001 us");
  EXPECT_EQ(format(Duration::ps(0)), "0 s");
  EXPECT_EQ(format(Bandwidth{}), "0 B/s");
}

// What is printed reads back as the same value, bit for bit.
RC_GTEST_PROP(Quantity, PrintedTimesReadBack, ()) {
  const auto ps = *rc::gen::inRange<std::int64_t>(0, 8640000000000000000);
  const Duration d = Duration::ps(ps);
  RC_ASSERT(parse_duration(format(d)).value == d);
}

RC_GTEST_PROP(Quantity, PrintedDoublesReadBack, ()) {
  const auto mantissa = *rc::gen::inRange<std::int64_t>(1, std::int64_t{1} << 53);
  const auto exponent = *rc::gen::inRange(-60, 5);
  const double v = std::ldexp(static_cast<double>(mantissa), exponent);
  RC_ASSERT(parse_bandwidth(format(Bandwidth::bytes_per_s(v))).value == Bandwidth::bytes_per_s(v));
  RC_ASSERT(parse_bytes(format(Bytes{v})).value == Bytes{v});
  RC_ASSERT(parse_flop_rate(format(FlopRate::flop_per_s(v))).value == FlopRate::flop_per_s(v));
  RC_ASSERT(parse_number(format(v)).value == v);
  const double seconds = v * 1e-12;
  RC_ASSERT(parse_seconds(format_seconds(seconds)).value == seconds);
}

// No text makes the parsers do anything but return a value or a reason.
RC_GTEST_PROP(Quantity, AnyTextGivesAValueOrAReason, (const std::string& text)) {
  for (const std::string& t : {text, "1" + text, "1 " + text}) {
    RC_ASSERT(parse_duration(t).value.has_value() != !parse_duration(t).error.empty());
    RC_ASSERT(parse_bandwidth(t).value.has_value() != !parse_bandwidth(t).error.empty());
    RC_ASSERT(parse_fraction(t).value.has_value() != !parse_fraction(t).error.empty());
    RC_ASSERT(parse_integer(t).value.has_value() != !parse_integer(t).error.empty());
  }
}

}  // namespace
}  // namespace traingraph::scenarios
