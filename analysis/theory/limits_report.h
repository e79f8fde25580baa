// LimitsReport: the limits of one or several GPUs or assumption sets, as rows that every printer shares (text, JSON, CSV,
// HDF5, SVG), so that they cannot disagree.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "analysis/theory/breakdown.h"
#include "analysis/theory/limits.h"
#include "analysis/theory/sensitivity.h"

namespace traingraph::analysis::theory {

struct LimitsEntry {
  std::string label;      ///< "H100", or the name of an assumption set
  std::string questions;  ///< GPU, assumptions and scan as YAML
  Limits limits;
  std::vector<InputSensitivity> sensitivity;  ///< empty: not asked for
};

enum class ReportKind : std::uint8_t {
  single,   ///< one GPU: its curve
  several,  ///< one row per GPU
  compare,  ///< two assumption sets side by side
};

struct LimitsReport {
  ReportKind kind = ReportKind::single;
  std::vector<LimitsEntry> entries;
};

/// A point of the curve as it is printed; of a point without a layout only `compute` and `log10_compute` count.
struct CurveRow {
  double log10_compute = 0;
  double compute = 0;  ///< FLOP
  bool feasible = false;
  double relative = 0;
  double mfu = 0;
  double gpus = 0;
  std::array<std::string, kDimensions> degrees;  ///< "8x2", inner to outer
  double microbatches = 0;
  double step_s = 0;
  double train_s = 0;
  double memory_bytes = 0;
  std::string binds;
  Breakdown breakdown;
};

[[nodiscard]] std::vector<CurveRow> curve_rows(const Limits& limits);

/// Short names of the dimensions, in their order: "dp", "pp", "ep", "tf", "tm".
[[nodiscard]] const std::array<std::string, kDimensions>& dimension_names();

/// "2.198e28", "unlimited", or "-" for nothing: a compute given by its logarithm.
[[nodiscard]] std::string flop_text(std::optional<double> log10_flop);

}  // namespace traingraph::analysis::theory
