// Values of options: words and numbers, or a UsageError that says what was found and what is allowed.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/cli/exit_code.h"

namespace traingraph::scenarios::cli {

/// One of a few words, or an error that lists them.
template <class T>
T choose(std::string_view option, const std::string& word, const std::vector<std::pair<std::string, T>>& choices) {
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) {
    if (name == word) return value;
    names.push_back(name);
  }
  throw UsageError{fmt::format("{}: found '{}', allowed: {}", option, word, fmt::join(names, ", "))};
}

template <class Integer>
Integer whole_number(std::string_view option, const std::string& word, Integer least, Integer most) {
  Integer value{};
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc{} || stop != end || value < least || value > most) {
    throw UsageError{fmt::format("{}: found '{}', allowed: a whole number from {} to {}", option, word, least, most)};
  }
  return value;
}

}  // namespace traingraph::scenarios::cli
