#include "scenarios/quantity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <span>

#include "scenarios/diagnostics.h"

namespace traingraph::scenarios {

namespace {

struct Unit {
  std::string_view name;
  long double factor;      // to the SI base unit (to picoseconds for durations)
  bool canonical = false;  // used by format()
  bool alias = false;      // accepted, not listed
};

constexpr Unit kDurations[] = {{"ps", 1.0L, true},
                               {"ns", 1e3L, true},
                               {"us", 1e6L, true},
                               {"\u00B5s", 1e6L, false, true},  // micro sign
                               {"\u03BCs", 1e6L, false, true},  // Greek mu
                               {"ms", 1e9L, true},
                               {"s", 1e12L, true},
                               {"min", 60e12L},
                               {"h", 3600e12L},
                               {"d", 86400e12L}};
constexpr Unit kBytes[] = {{"B", 1.0L, true},      {"kB", 1e3L, true},          {"KiB", 1024.0L},
                           {"MB", 1e6L, true},     {"MiB", 1048576.0L},         {"GB", 1e9L, true},
                           {"GiB", 1073741824.0L}, {"TB", 1e12L, true},         {"TiB", 1099511627776.0L},
                           {"PB", 1e15L, true},    {"PiB", 1125899906842624.0L}};
constexpr Unit kBandwidths[] = {{"b/s", 0.125L},
                                {"bps", 0.125L, false, true},
                                {"B/s", 1.0L, true},
                                {"kb/s", 125.0L},
                                {"kbps", 125.0L, false, true},
                                {"kB/s", 1e3L, true},
                                {"KiB/s", 1024.0L},
                                {"Mb/s", 1.25e5L},
                                {"Mbps", 1.25e5L, false, true},
                                {"MB/s", 1e6L, true},
                                {"MiB/s", 1048576.0L},
                                {"Gb/s", 1.25e8L},
                                {"Gbps", 1.25e8L, false, true},
                                {"GB/s", 1e9L, true},
                                {"GiB/s", 1073741824.0L},
                                {"Tb/s", 1.25e11L},
                                {"Tbps", 1.25e11L, false, true},
                                {"TB/s", 1e12L, true},
                                {"TiB/s", 1099511627776.0L}};
constexpr Unit kFlopRates[] = {{"FLOP/s", 1.0L, true},        {"MFLOP/s", 1e6L, true},        {"GFLOP/s", 1e9L, true},
                               {"GFLOPS", 1e9L, false, true}, {"TFLOP/s", 1e12L, true},       {"TFLOPS", 1e12L, false, true},
                               {"PFLOP/s", 1e15L, true},      {"PFLOPS", 1e15L, false, true}, {"EFLOP/s", 1e18L, true}};
constexpr Unit kFrequencies[] = {{"Hz", 1.0L, true}, {"kHz", 1e3L, true}, {"MHz", 1e6L, true}, {"GHz", 1e9L, true}};

struct DimensionInfo {
  std::string_view name;
  std::string_view example;
  std::span<const Unit> units;
  long double largest;  // in base units: beyond any machine that could be built, so a slip of the pen
  std::string_view largest_text;
};

const DimensionInfo& info(Dimension d) {
  static const DimensionInfo kInfo[] = {
      {"a time", "1.5 us", kDurations, 100.0L * 86400e12L, "100 d"},
      {"a size", "80 GiB", kBytes, 1e24L, "1000000000 PB"},
      {"a bandwidth", "400 Gb/s", kBandwidths, 1e18L, "1000000 TB/s"},
      {"an arithmetic rate", "989 TFLOP/s", kFlopRates, 1e24L, "1000000 EFLOP/s"},
      {"a frequency", "1.41 GHz", kFrequencies, 1e12L, "1000 GHz"},
  };
  return kInfo[static_cast<std::size_t>(d)];
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

std::string shown(std::string_view text) {
  Value v;
  v.kind = ValueKind::scalar;
  v.text = text;
  return describe(v);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The length of the number at the start of `s`, 0 if there is none: [-+]digits[.digits][e[-+]digits].
std::size_t number_length(std::string_view s) {
  std::size_t i = 0;
  const auto digits = [&] {
    const std::size_t from = i;
    while (i < s.size() && is_digit(s[i])) ++i;
    return i - from;
  };
  if (i < s.size() && (s[i] == '-' || s[i] == '+')) ++i;
  std::size_t count = digits();
  if (i < s.size() && s[i] == '.') {
    ++i;
    count += digits();
  }
  if (count == 0) return 0;
  const std::size_t mantissa = i;
  if (i < s.size() && (s[i] == 'e' || s[i] == 'E')) {
    ++i;
    if (i < s.size() && (s[i] == '-' || s[i] == '+')) ++i;
    if (digits() == 0) return mantissa;
  }
  return i;
}

bool has_leading_zero(std::string_view number) {
  if (!number.empty() && (number.front() == '-' || number.front() == '+')) number.remove_prefix(1);
  return number.size() > 1 && number[0] == '0' && is_digit(number[1]);
}

template <class Float>
Parsed<Float> to_float(std::string_view number) {
  if (has_leading_zero(number)) {
    return Parsed<Float>::failed(fmt::format("a number may not begin with a superfluous 0, found {}", shown(number)));
  }
  if (number.front() == '+') number.remove_prefix(1);
  Float v{};
  const auto [end, ec] = std::from_chars(number.data(), number.data() + number.size(), v, std::chars_format::general);
  if (ec != std::errc{} || end != number.data() + number.size() || !std::isfinite(v)) {
    return Parsed<Float>::failed(fmt::format("the number {} is out of range", shown(number)));
  }
  return Parsed<Float>::ok(v);
}

std::string unit_names(std::span<const Unit> units) {
  std::vector<std::string_view> names;
  for (const Unit& u : units) {
    if (!u.alias) names.push_back(u.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

bool same_but_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return (x | 0x20) == (y | 0x20); });
}

/// A quantity as written. `in_base` is in base units, as a long double: 64 bits of mantissa hold every picosecond of the
/// clock's range.
struct Amount {
  long double in_base = 0.0L;
  std::string_view number = "0";
  long double factor = 0.0L;  // of the unit; 0 when there is none
};

Parsed<Amount> parse_in(Dimension dimension, std::string_view text) {
  using Result = Parsed<Amount>;
  const DimensionInfo& d = info(dimension);
  const std::string_view whole = trimmed(text);
  const std::size_t length = number_length(whole);
  if (length == 0) {
    return Result::failed(fmt::format("expected {} such as {}, found {}", d.name, d.example, shown(text)));
  }
  const auto number = to_float<long double>(whole.substr(0, length));
  if (!number.value) return Result::failed(number.error);
  const std::string_view name = trimmed(whole.substr(length));
  if (name.empty()) {
    if (*number.value == 0.0L) return Result::ok({});
    return Result::failed(fmt::format("{} needs a unit, found {}; units: {}", d.name, shown(text), unit_names(d.units)));
  }
  const auto unit = std::find_if(d.units.begin(), d.units.end(), [&](const Unit& u) { return u.name == name; });
  if (unit == d.units.end()) {
    std::vector<std::string> alike;
    for (const Unit& u : d.units) {
      if (!u.alias && same_but_case(u.name, name)) alike.push_back(fmt::format("'{}'", u.name));
    }
    const std::string hint = alike.empty() ? fmt::format("; units: {}", unit_names(d.units))
                                           : fmt::format("; did you mean {}?", fmt::join(alike, " or "));
    return Result::failed(fmt::format("{} is no unit of {}{}", shown(name), d.name, hint));
  }
  const long double value = *number.value * unit->factor;
  if (value < 0.0L) return Result::failed(fmt::format("{} may not be negative, found {}", d.name, shown(text)));
  if (value > d.largest) {
    return Result::failed(fmt::format("{} of at most {} is expected, found {}", d.name.substr(d.name.find(' ') + 1),
                                      d.largest_text, shown(text)));
  }
  return Result::ok({value, whole.substr(0, length), unit->factor});
}

/// As a double, in units of `scale` base units. A number that already stands in that unit is converted in one rounding, so
/// that every double has a text that reads back as itself.
Parsed<double> parse_scaled(Dimension dimension, std::string_view text, long double scale) {
  const auto amount = parse_in(dimension, text);
  if (!amount.value) return Parsed<double>::failed(amount.error);
  if (amount.value->factor == scale) return to_float<double>(amount.value->number);
  return Parsed<double>::ok(static_cast<double>(amount.value->in_base / scale));
}

template <class T, class Make>
Parsed<T> parse_double(Dimension dimension, std::string_view text, Make make) {
  const auto v = parse_scaled(dimension, text, 1.0L);
  return v.value ? Parsed<T>::ok(make(*v.value)) : Parsed<T>::failed(v.error);
}

std::string format_double(Dimension dimension, double value) {
  const std::span<const Unit> units = info(dimension).units;
  const Unit* best = nullptr;
  for (const Unit& u : units) {
    if (u.canonical && (best == nullptr || static_cast<long double>(value) >= u.factor)) best = &u;
  }
  if (value == 0.0) return fmt::format("0 {}", best->name);
  std::string text = fmt::format("{} {}", static_cast<double>(static_cast<long double>(value) / best->factor), best->name);
  if (parse_scaled(dimension, text, 1.0L).value == value) return text;
  const auto base = std::find_if(units.begin(), units.end(), [](const Unit& u) { return u.canonical && u.factor == 1.0L; });
  return fmt::format("{} {}", value, base->name);
}

}  // namespace

std::vector<std::string> units_of(Dimension dimension) {
  std::vector<std::string> names;
  for (const Unit& u : info(dimension).units) {
    if (!u.alias) names.emplace_back(u.name);
  }
  return names;
}

Parsed<sim::Duration> parse_duration(std::string_view text) {
  const auto amount = parse_in(Dimension::duration, text);
  if (!amount.value) return Parsed<sim::Duration>::failed(amount.error);
  const long double exact = amount.value->in_base;
  const auto ps = static_cast<std::int64_t>(std::llround(exact));
  if (ps == 0 && exact != 0.0L) {
    return Parsed<sim::Duration>::failed(fmt::format("a time of at least 1 ps (or 0) is expected, found {}", shown(text)));
  }
  return Parsed<sim::Duration>::ok(sim::Duration::ps(ps));
}

Parsed<double> parse_seconds(std::string_view text) { return parse_scaled(Dimension::duration, text, 1e12L); }

Parsed<sim::Bytes> parse_bytes(std::string_view text) {
  return parse_double<sim::Bytes>(Dimension::bytes, text, [](double v) { return sim::Bytes{v}; });
}

Parsed<sim::Bandwidth> parse_bandwidth(std::string_view text) {
  return parse_double<sim::Bandwidth>(Dimension::bandwidth, text, [](double v) { return sim::Bandwidth::bytes_per_s(v); });
}

Parsed<sim::FlopRate> parse_flop_rate(std::string_view text) {
  return parse_double<sim::FlopRate>(Dimension::flop_rate, text, [](double v) { return sim::FlopRate::flop_per_s(v); });
}

Parsed<Frequency> parse_frequency(std::string_view text) {
  return parse_double<Frequency>(Dimension::frequency, text, [](double v) { return Frequency{v}; });
}

Parsed<double> parse_number(std::string_view text) {
  const std::string_view whole = trimmed(text);
  const std::size_t length = number_length(whole);
  if (length == 0 || length != whole.size()) {
    return Parsed<double>::failed(fmt::format("expected a number, found {}", shown(text)));
  }
  return to_float<double>(whole);
}

Parsed<double> parse_fraction(std::string_view text) {
  std::string_view whole = trimmed(text);
  if (whole.empty() || whole.back() != '%') {
    const auto plain = parse_number(text);
    return plain.value || number_length(whole) == whole.size()
               ? plain
               : Parsed<double>::failed(fmt::format("expected a fraction such as 0.85 or 85 %, found {}", shown(text)));
  }
  whole.remove_suffix(1);
  const auto percent = parse_number(whole);
  if (!percent.value)
    return Parsed<double>::failed(fmt::format("expected a fraction such as 0.85 or 85 %, found {}", shown(text)));
  return Parsed<double>::ok(*percent.value / 100.0);
}

Parsed<std::int64_t> parse_integer(std::string_view text) {
  using Result = Parsed<std::int64_t>;
  const std::string_view whole = trimmed(text);
  std::string_view digits = whole;
  if (!digits.empty() && digits.front() == '-') digits.remove_prefix(1);
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit)) {
    return Result::failed(fmt::format("expected a whole number, found {}", shown(text)));
  }
  if (has_leading_zero(whole)) {
    return Result::failed(fmt::format("a number may not begin with a superfluous 0, found {}", shown(text)));
  }
  std::int64_t v = 0;
  if (std::from_chars(whole.data(), whole.data() + whole.size(), v).ec != std::errc{}) {
    return Result::failed(fmt::format("the number {} is out of range", shown(text)));
  }
  return Result::ok(v);
}

std::string format(sim::Duration value) {
  const std::int64_t ps = value.count_ps();
  const Unit* best = &kDurations[0];
  for (const Unit& u : kDurations) {
    if (u.canonical && static_cast<long double>(ps) >= u.factor) best = &u;
  }
  if (ps == 0) return "0 s";
  const auto factor = static_cast<std::int64_t>(best->factor);
  std::string text = fmt::format("{}", ps / factor);
  if (const std::int64_t rest = ps % factor; rest != 0) {
    std::string decimals = fmt::format("{}", factor + rest);  // the leading 1 keeps the zeros behind it
    decimals.erase(0, 1);
    decimals.erase(decimals.find_last_not_of('0') + 1);
    text += "." + decimals;
  }
  return text + " " + std::string{best->name};
}

std::string format_seconds(double seconds) {
  std::string text = format_double(Dimension::duration, seconds * 1e12);
  return parse_seconds(text).value == seconds ? text : fmt::format("{} s", seconds);
}
std::string format(sim::Bytes value) { return format_double(Dimension::bytes, value.count()); }
std::string format(sim::Bandwidth value) { return format_double(Dimension::bandwidth, value.bytes_per_s()); }
std::string format(sim::FlopRate value) { return format_double(Dimension::flop_rate, value.flop_per_s()); }
std::string format(Frequency value) { return format_double(Dimension::frequency, value.hz); }
std::string format(double value) { return fmt::format("{}", value); }

}  // namespace traingraph::scenarios
