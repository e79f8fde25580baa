// Quantities as people write them: a number, then a unit. `400 Gb/s`, `50 GB/s`, `1.5 us`, `80 GiB`, `989 TFLOP/s`, `1.41
// GHz`.
//
// b is bits, B bytes; SI prefixes are powers of 1000, binary ones (KiB, MiB, ...) of 1024. A bare number is refused, and so
// are negative, infinite and absurdly large values, and a duration that is not zero but below the clock's picosecond. The
// one bare number allowed is 0 ("no latency" needs no unit). Numbers are decimal: no leading zeros, no hexadecimal, no
// separators.
//
// format(x) prints the canonical form: the largest unit in which the value is at least 1, with the fewest digits such that
// parsing it gives x back bit for bit.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/units.h"

namespace traingraph::scenarios {

/// A value, or the reason why there is none (in the form "expected ..., found ...").
template <class T>
struct Parsed {
  std::optional<T> value;
  std::string error;

  [[nodiscard]] static Parsed ok(T v) { return {std::move(v), {}}; }
  [[nodiscard]] static Parsed failed(std::string why) { return {std::nullopt, std::move(why)}; }
};

/// Cycles per second; clocks appear in hardware descriptions only.
struct Frequency {
  double hz = 0.0;
  auto operator<=>(const Frequency&) const = default;
};

enum class Dimension { duration, bytes, bandwidth, flop_rate, frequency };

/// The units of a dimension in ascending size, aliases left out: what a message lists.
[[nodiscard]] std::vector<std::string> units_of(Dimension dimension);

[[nodiscard]] Parsed<sim::Duration> parse_duration(std::string_view text);
/// The same notation for a time that is not one of the clock: seconds, not rounded to picoseconds.
[[nodiscard]] Parsed<double> parse_seconds(std::string_view text);
[[nodiscard]] Parsed<sim::Bytes> parse_bytes(std::string_view text);
[[nodiscard]] Parsed<sim::Bandwidth> parse_bandwidth(std::string_view text);
[[nodiscard]] Parsed<sim::FlopRate> parse_flop_rate(std::string_view text);
[[nodiscard]] Parsed<Frequency> parse_frequency(std::string_view text);
/// A finite real number without a unit.
[[nodiscard]] Parsed<double> parse_number(std::string_view text);
/// A real number, or a percentage: `0.85` and `85 %` are the same.
[[nodiscard]] Parsed<double> parse_fraction(std::string_view text);
/// A whole number: digits, an optional minus sign; `1e3` and `1.0` are not whole numbers here.
[[nodiscard]] Parsed<std::int64_t> parse_integer(std::string_view text);

[[nodiscard]] std::string format(sim::Duration value);
[[nodiscard]] std::string format_seconds(double seconds);
[[nodiscard]] std::string format(sim::Bytes value);
[[nodiscard]] std::string format(sim::Bandwidth value);
[[nodiscard]] std::string format(sim::FlopRate value);
[[nodiscard]] std::string format(Frequency value);
/// The shortest decimal form that reads back as the same double.
[[nodiscard]] std::string format(double value);

}  // namespace traingraph::scenarios
