#include "scenarios/leaf.h"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/diagnostics.h"

namespace traingraph::scenarios {

namespace detail {

namespace {

std::string bound_error(const Value& v, Range range, double value, const std::string& low, const std::string& high) {
  if (value < range.low || (range.open_low && value <= range.low)) {
    return fmt::format("must be {} {}, found {}", range.open_low ? "more than" : "at least", low, describe(v));
  }
  if (value > range.high) return fmt::format("must be at most {}, found {}", high, describe(v));
  return {};
}

/// Refuses what is no unquoted scalar; `expected` says what is wanted.
std::string not_plain(const Value& v, std::string_view expected) {
  if (v.kind == ValueKind::null) return fmt::format("has no value; expected {}", expected);
  if (v.kind != ValueKind::scalar) return fmt::format("expected {}, found {}", expected, describe(v));
  if (v.quoted) return fmt::format("expected {}, found the quoted text {}; write it without quotes", expected, describe(v));
  return {};
}

template <class T, class Parse>
std::string read_with(const Value& v, Range range, std::string_view expected, T& out, Parse parse) {
  if (v.kind == ValueKind::null) return fmt::format("has no value; expected {}", expected);
  if (v.kind != ValueKind::scalar) return fmt::format("expected {}, found {}", expected, describe(v));
  const Parsed<T> parsed = parse(v.text);
  if (!parsed.value) return parsed.error;
  if (range.open_low && *parsed.value <= T{}) return fmt::format("must be more than 0, found {}", describe(v));
  out = *parsed.value;
  return {};
}

}  // namespace

std::string quoted_text(std::string_view text) {
  constexpr std::string_view kPlain = "_-./()+%";
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kPlain.find(c) != std::string_view::npos;
  });
  const bool word = plain && ((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z')) && text != "true" &&
                    text != "false" && text != "null" && text != "Null" && text != "NULL";
  if (word) return std::string{text};
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string read_bool(const Value& v, bool& out) {
  if (std::string error = not_plain(v, "true or false"); !error.empty()) return error;
  if (v.text != "true" && v.text != "false") return fmt::format("expected true or false, found {}", describe(v));
  out = v.text == "true";
  return {};
}

std::string read_string(const Value& v, std::string& out) {
  if (v.kind == ValueKind::null) return "has no value; expected text";
  if (v.kind != ValueKind::scalar) return fmt::format("expected text, found {}", describe(v));
  out = v.text;
  return {};
}

std::string read_integer(const Value& v, Range range, double type_high, std::int64_t& out) {
  if (std::string error = not_plain(v, "a whole number"); !error.empty()) return error;
  const auto parsed = parse_integer(v.text);
  if (!parsed.value) return parsed.error;
  const Range bounds{range.low, std::min(range.high, type_high), range.open_low};
  const auto value = static_cast<double>(*parsed.value);
  std::string error = bound_error(v, bounds, value, fmt::format("{:.0f}", bounds.low), fmt::format("{:.0f}", bounds.high));
  if (error.empty()) out = *parsed.value;
  return error;
}

std::string read_number(const Value& v, Range range, bool fraction, double& out) {
  if (std::string error = not_plain(v, fraction ? "a fraction such as 0.85 or 85 %" : "a number"); !error.empty())
    return error;
  const auto parsed = fraction ? parse_fraction(v.text) : parse_number(v.text);
  if (!parsed.value) return parsed.error;
  std::string error = bound_error(v, range, *parsed.value, format(range.low), format(range.high));
  if (error.empty()) out = *parsed.value;
  return error;
}

std::string read_quantity(const Value& v, Range range, sim::Duration& out) {
  return read_with(v, range, "a time such as 1.5 us", out, parse_duration);
}
std::string read_quantity(const Value& v, Range range, sim::Bytes& out) {
  return read_with(v, range, "a size such as 80 GiB", out, parse_bytes);
}
std::string read_quantity(const Value& v, Range range, sim::Bandwidth& out) {
  return read_with(v, range, "a bandwidth such as 400 Gb/s", out, parse_bandwidth);
}
std::string read_quantity(const Value& v, Range range, sim::FlopRate& out) {
  return read_with(v, range, "an arithmetic rate such as 989 TFLOP/s", out, parse_flop_rate);
}
std::string read_hertz(const Value& v, Range range, double& out) {
  Frequency read;
  std::string error = read_with(v, range, "a frequency such as 1.41 GHz", read, parse_frequency);
  if (error.empty()) out = read.hz;
  return error;
}
std::string read_seconds(const Value& v, Range range, double& out) {
  return read_with(v, range, "a time such as 1.5 us", out, parse_seconds);
}

std::string read_word(const Value& v, const std::vector<std::string>& words, std::size_t& out) {
  std::string list;
  for (const std::string& w : words) list += (list.empty() ? "" : ", ") + w;
  if (v.kind == ValueKind::null) return fmt::format("has no value; expected one of {}", list);
  if (v.kind != ValueKind::scalar) return fmt::format("expected one of {}, found {}", list, describe(v));
  const auto it = std::find(words.begin(), words.end(), v.text);
  if (it == words.end()) {
    const std::string_view near = nearest(v.text, words);
    return fmt::format("expected one of {}, found {}{}", list, describe(v),
                       near.empty() ? "" : fmt::format("; did you mean '{}'?", near));
  }
  out = static_cast<std::size_t>(it - words.begin());
  return {};
}

std::string integer_type(Range range) {
  std::string type = "whole number";
  if (range.low > 0.0) type += fmt::format(", at least {:.0f}", range.low);
  if (range.high < 1e15) type += fmt::format(", at most {:.0f}", range.high);
  return type;
}

std::string number_type(Range range) {
  std::string type = "number";
  if (range.open_low || range.low > 0.0)
    type += fmt::format(", {} {}", range.open_low ? "more than" : "at least", range.low);
  if (range.high < std::numeric_limits<double>::max()) type += fmt::format(", at most {}", range.high);
  return type;
}

}  // namespace detail

Leaf leaf(bool& v) {
  return {"true or false", [&v](const Value& value) { return detail::read_bool(value, v); },
          [&v] { return std::optional<std::string>{v ? "true" : "false"}; }};
}

Leaf leaf(std::string& v) {
  return {"text", [&v](const Value& value) { return detail::read_string(value, v); },
          [&v] { return std::optional<std::string>{detail::quoted_text(v)}; }};
}

Leaf leaf(double& v, Range range) {
  return {detail::number_type(range),
          [&v, range](const Value& value) { return detail::read_number(value, range, false, v); },
          [&v] { return std::optional<std::string>{format(v)}; }};
}

Leaf leaf(AsFraction f, Range range) {
  double& v = f.value;
  return {range.open_low ? "fraction, more than 0" : "fraction",
          [&v, range](const Value& value) { return detail::read_number(value, range, true, v); },
          [&v] { return std::optional<std::string>{format(v)}; }};
}

Leaf leaf(AsSeconds s, Range range) {
  double& v = s.value;
  return {"time", [&v, range](const Value& value) { return detail::read_seconds(value, range, v); },
          [&v] { return std::optional<std::string>{format_seconds(v)}; }};
}

Leaf leaf(AsHertz f, Range range) {
  double& v = f.value;
  return {"frequency", [&v, range](const Value& value) { return detail::read_hertz(value, range, v); },
          [&v] { return std::optional<std::string>{format(Frequency{v})}; }};
}

}  // namespace traingraph::scenarios
