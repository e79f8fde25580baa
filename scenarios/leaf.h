// Leaf: one typed value of the schema, with its type's name, how it is read and how it is printed. The C++ type decides the
// notation: sim::Bandwidth is read with a unit, bool as `true` or `false`, an enum as one of its words, std::optional<T> as
// T (unset when the key is absent).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "scenarios/document.h"
#include "scenarios/quantity.h"
#include "sim/units.h"

namespace traingraph::scenarios {

/// Bounds of a number (of a quantity: in SI base units, and only whether 0 is allowed is ever stated).
struct Range {
  double low = 0.0;
  double high = std::numeric_limits<double>::max();
  bool open_low = false;  ///< low itself is not allowed
};
inline constexpr Range kPositive{.open_low = true};
inline constexpr Range kFraction{.high = 1.0};
inline constexpr Range kPositiveFraction{.high = 1.0, .open_low = true};
inline constexpr Range kAtLeastOne{.low = 1.0};

struct Leaf {
  std::string type;                                   ///< "whole number", "bandwidth", "one of flow, chunk, ideal"
  std::function<std::string(const Value&)> read;      ///< sets the variable; returns what is wrong, or ""
  std::function<std::optional<std::string>()> print;  ///< as YAML text; nothing for an unset optional
};

/// A double read as a fraction (`0.85` or `85 %`), as a time in seconds, as a frequency in hertz.
struct AsFraction {
  double& value;
};
struct AsSeconds {
  double& value;
};
struct AsHertz {
  double& value;
};

namespace detail {

[[nodiscard]] std::string quoted_text(std::string_view text);  ///< a string as a YAML scalar, in quotes where it needs them

[[nodiscard]] std::string read_bool(const Value& v, bool& out);
[[nodiscard]] std::string read_string(const Value& v, std::string& out);
[[nodiscard]] std::string read_integer(const Value& v, Range range, double type_high, std::int64_t& out);
[[nodiscard]] std::string read_number(const Value& v, Range range, bool fraction, double& out);
[[nodiscard]] std::string read_quantity(const Value& v, Range range, sim::Duration& out);
[[nodiscard]] std::string read_quantity(const Value& v, Range range, sim::Bytes& out);
[[nodiscard]] std::string read_quantity(const Value& v, Range range, sim::Bandwidth& out);
[[nodiscard]] std::string read_quantity(const Value& v, Range range, sim::FlopRate& out);
[[nodiscard]] std::string read_hertz(const Value& v, Range range, double& out);
[[nodiscard]] std::string read_seconds(const Value& v, Range range, double& out);
[[nodiscard]] std::string read_word(const Value& v, const std::vector<std::string>& words, std::size_t& out);
[[nodiscard]] std::string integer_type(Range range);
[[nodiscard]] std::string number_type(Range range);

template <class T>
[[nodiscard]] std::string quantity_type() {
  if constexpr (std::is_same_v<T, sim::Duration>) return "time";
  if constexpr (std::is_same_v<T, sim::Bytes>) return "size";
  if constexpr (std::is_same_v<T, sim::Bandwidth>) return "bandwidth";
  if constexpr (std::is_same_v<T, sim::FlopRate>) return "arithmetic rate";
}

}  // namespace detail

[[nodiscard]] Leaf leaf(bool& v);
[[nodiscard]] Leaf leaf(std::string& v);
[[nodiscard]] Leaf leaf(double& v, Range range = {});
[[nodiscard]] Leaf leaf(AsFraction v, Range range = kFraction);
[[nodiscard]] Leaf leaf(AsSeconds v, Range range = {});
[[nodiscard]] Leaf leaf(AsHertz v, Range range = {});

/// Whole numbers of any width.
template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
[[nodiscard]] Leaf leaf(T& v, Range range = {}) {
  const auto type_high = std::min(static_cast<double>(std::numeric_limits<T>::max()), 9.0e15);
  return {detail::integer_type(range),
          [&v, range, type_high](const Value& value) {
            std::int64_t wide = 0;
            std::string error = detail::read_integer(value, range, type_high, wide);
            if (error.empty()) v = static_cast<T>(wide);
            return error;
          },
          [&v] { return std::optional<std::string>{std::to_string(v)}; }};
}

template <class T>
  requires(std::is_same_v<T, sim::Duration> || std::is_same_v<T, sim::Bytes> || std::is_same_v<T, sim::Bandwidth> ||
           std::is_same_v<T, sim::FlopRate>)
[[nodiscard]] Leaf leaf(T& v, Range range = {}) {
  return {detail::quantity_type<T>(), [&v, range](const Value& value) { return detail::read_quantity(value, range, v); },
          [&v] { return std::optional<std::string>{format(v)}; }};
}

/// The words of an enum, in the order to be listed.
template <class E>
using Words = std::vector<std::pair<std::string, E>>;

template <class E>
[[nodiscard]] Leaf leaf(E& v, const Words<E>& words) {
  std::vector<std::string> names;
  std::string type = "one of ";
  for (const auto& [name, value] : words) {
    type += (names.empty() ? "" : ", ") + name;
    names.push_back(name);
  }
  return {std::move(type),
          [&v, words, names](const Value& value) {
            std::size_t i = 0;
            std::string error = detail::read_word(value, names, i);
            if (error.empty()) v = words[i].second;
            return error;
          },
          [&v, words] {
            for (const auto& [name, value] : words) {
              if (value == v) return std::optional<std::string>{name};
            }
            return std::optional<std::string>{};
          }};
}

/// An enum whose names stand beside it (`enum_names(E)`, a range of {value, name}).
template <class E>
  requires requires(E e) { enum_names(e).begin()->name; }
[[nodiscard]] Words<E> words_of() {
  Words<E> words;
  for (const auto& entry : enum_names(E{})) words.emplace_back(std::string{entry.name}, entry.value);
  return words;
}
template <class E>
  requires requires(E e) { enum_names(e).begin()->name; }
[[nodiscard]] Leaf leaf(E& v) {
  return leaf(v, words_of<E>());
}

/// An optional value; `further` are the arguments that leaf(T&) takes.
template <class T, class... Further>
[[nodiscard]] Leaf leaf(std::optional<T>& v, const Further&... further) {
  T sample{};
  return {leaf(sample, further...).type,
          [&v, further...](const Value& value) {
            T read{};
            std::string error = leaf(read, further...).read(value);
            if (error.empty()) v = std::move(read);
            return error;
          },
          [&v, further...]() -> std::optional<std::string> {
            if (!v) return std::nullopt;
            T copy = *v;
            return leaf(copy, further...).print();
          }};
}

}  // namespace traingraph::scenarios
