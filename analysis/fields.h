// The scalars of a Result as one flat list of named fields: "time_split.busiest.compute_s" = 1.25 s. JSON nests them by the
// dots, HDF5's /summary makes groups of them, CSV prints a line each: three printers, one list.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "analysis/result.h"
#include "sim/units.h"

namespace traingraph::analysis {

using FieldValue = std::variant<sim::Duration, double, std::uint64_t, std::string>;

struct Field {
  std::string path;  ///< names joined by dots
  std::string unit;  ///< "s", "bytes", "1" for a ratio or a count, "" for text; a Duration's is "s"
  FieldValue value;
};

/// Every scalar of the result, always in the same order; what is empty in the result is left out. The effort (wall time,
/// memory of the process) comes only when asked for: files that must not change from run to run leave it out.
[[nodiscard]] std::vector<Field> fields(const Result& result, bool with_effort);

/// The double nearest to the exact number of seconds (prints without noise below 9,007 s).
[[nodiscard]] double seconds(sim::Duration d);

/// The exact decimal number of seconds: "0.000000000001" is a picosecond; no trailing zeros.
[[nodiscard]] std::string exact_seconds(sim::Duration d);

}  // namespace traingraph::analysis
