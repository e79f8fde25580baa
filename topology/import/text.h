// Reading text of a fixed form: lines, words that know their column, numbers; and the one form of a fault.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/import/import.h"

namespace traingraph::topology::imports {

/// "file:line:column: text".
[[noreturn]] void fail(const ImportFile& file, std::size_t line, std::size_t column, std::string_view text);

struct Word {
  std::string_view text;
  std::size_t column = 1;  ///< 1-based
};

struct Line {
  std::string_view text;
  std::size_t number = 1;  ///< 1-based

  /// Split at blanks (space, tab, carriage return).
  [[nodiscard]] std::vector<Word> words() const;
};

/// Lines without their ends; valid while `text` lives.
[[nodiscard]] std::vector<Line> lines_of(std::string_view text);
[[nodiscard]] std::string_view trimmed(std::string_view text);
[[nodiscard]] bool equal_ignoring_case(std::string_view a, std::string_view b);
/// `text` as 'text', cut to a line's length and without control characters.
[[nodiscard]] std::string shown(std::string_view text);

/// The whole of `text` as a number; nothing when it is none or is not finite.
[[nodiscard]] std::optional<double> number(std::string_view text);
[[nodiscard]] std::optional<std::uint32_t> whole_number(std::string_view text);

/// A fault unless `text` is a whole number from `least` to `most`.
[[nodiscard]] std::uint32_t expect_whole(const ImportFile& file, const Line& line, const Word& word, std::uint32_t least,
                                         std::uint32_t most);

/// Most devices and most links of an imported cluster.
inline constexpr std::uint32_t kMostDevices = 1'000'000;

}  // namespace traingraph::topology::imports
