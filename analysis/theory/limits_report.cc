#include "analysis/theory/limits_report.h"

#include <fmt/format.h>

#include <cmath>

#include "analysis/theory/power_of_two.h"

namespace traingraph::analysis::theory {
namespace {

CurveRow row_of(const CurvePoint& point, const StepModel& model) {
  CurveRow row;
  row.log10_compute = point.log10_compute;
  row.compute = point.compute();
  row.feasible = point.found.has_value();
  if (!row.feasible) return row;
  const auto& [layout, times] = *point.found;
  row.relative = times.relative;
  row.mfu = times.mfu;
  row.gpus = power_of_two(layout.gpus_exponent());
  for (int d = 0; d < kDimensions; ++d) {
    row.degrees[static_cast<std::size_t>(d)] =
        degrees_text(layout, static_cast<Dimension>(d), static_cast<int>(model.levels()));
  }
  row.microbatches = layout.microbatch_count();
  row.step_s = times.step_s;
  row.train_s = times.train_s;
  row.memory_bytes = times.memory_bytes;
  row.binds = to_string(binds(times, model));
  row.breakdown = breakdown(times, model);
  return row;
}

}  // namespace

std::vector<CurveRow> curve_rows(const Limits& limits) {
  const StepModel model{limits.question.gpu, limits.question.assumptions};
  std::vector<CurveRow> rows;
  for (const CurvePoint& point : limits.curve) rows.push_back(row_of(point, model));
  return rows;
}

const std::array<std::string, kDimensions>& dimension_names() {
  static const std::array<std::string, kDimensions> kNames{"dp", "pp", "ep", "tf", "tm"};
  return kNames;
}

std::string flop_text(std::optional<double> log10_flop) {
  constexpr double kBase = 10;
  if (!log10_flop) return "-";
  if (std::isinf(*log10_flop)) return *log10_flop > 0 ? "unlimited" : "none";
  const double exponent = std::floor(*log10_flop);
  return fmt::format("{:.3f}e{:.0f}", std::pow(kBase, *log10_flop - exponent), exponent);
}

}  // namespace traingraph::analysis::theory
