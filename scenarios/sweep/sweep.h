// Sweep: one scenario at many points; each point is a list of overrides.
//
//   scenario: base.yaml          a file, seen from the sweep's folder
//   set: {key: value, ...}       for all points
//   grid: {key: [values], ...}   all combinations, the last key fastest
//   list: [{key: value, ...}]    each of them with each combination of the grid; all with the same keys
//
// Keys are paths of a scenario as `--set` takes them. Points are numbered: rows of the list slowest, then the grid.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace traingraph::scenarios {

struct SweepPoint {
  std::vector<std::string> values;  ///< by key of the sweep, as YAML
};

struct Sweep {
  std::string scenario_text;  ///< as read
  std::string scenario_name;
  std::vector<std::string> common;  ///< overrides of all points
  std::vector<std::string> keys;    ///< that vary
  std::vector<SweepPoint> points;

  /// Overrides of a point, in the order in which they are applied.
  [[nodiscard]] std::vector<std::string> overrides(std::size_t point) const;
  /// Differs for sweeps of other scenarios, points, or programs (`salt`).
  [[nodiscard]] std::uint64_t digest(const std::string& salt) const;
};

/// Most points of a sweep.
inline constexpr std::size_t kMostPoints = 10'000'000;

/// `overrides` are applied after all others. Throws ScenarioError (all faults of the sweep's file), or sim::InputError when
/// a file cannot be read. Whether a point can be run is found when it is.
[[nodiscard]] Sweep load_sweep(const std::filesystem::path& file, const std::vector<std::string>& overrides);

}  // namespace traingraph::scenarios
