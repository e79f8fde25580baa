// SweepRow: what a point came to, as text that travels between processes and into the journal; SweepTable: all of them, and
// the files made of it. Nothing here differs from run to run.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/sweep/sweep.h"

namespace traingraph::scenarios {

struct SweepCell {
  std::string name;  ///< a scalar of the result: "step_time_s", "time_split.busiest.compute_s"
  bool is_number = true;
  std::string text;  ///< shortest form that reads back the same; a time's is the exact decimal number of seconds
  bool operator==(const SweepCell&) const = default;
};

struct SweepRow {
  std::size_t point = 0;
  std::string error;  ///< why the point cannot be run; then there are no cells
  std::vector<SweepCell> cells;
  bool operator==(const SweepRow&) const = default;
};

/// Runs a point. What is wrong with it is an answer; sim::Cancelled and defects are thrown.
[[nodiscard]] SweepRow run_point(const Sweep& sweep, std::size_t point, const std::atomic<bool>* cancel);

/// One line, without its end.
[[nodiscard]] std::string to_line(const SweepRow& row);
/// Nothing when it is no whole row of a sweep of so many points.
[[nodiscard]] std::optional<SweepRow> row_of(const std::string& line, std::size_t points);

/// Rows in the order of their points, every point once. Columns: the point, its keys, `error`, and every cell that some row
/// has, in order of first appearance.
[[nodiscard]] std::string to_csv(const Sweep& sweep, const std::vector<SweepRow>& rows);
/// Table /points with the same columns (missing numbers NaN), attributes traingraph_version and scenario.
void write_hdf5(const std::filesystem::path& file, const Sweep& sweep, const std::vector<SweepRow>& rows,
                const std::string& version);

}  // namespace traingraph::scenarios
