#include "analysis/theory/limits_hdf5.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace traingraph::analysis::theory {
namespace {

using enum ColumnType;

double number(std::optional<double> value) { return value.value_or(std::nan("")); }

template <class Range, class ToText>
std::size_t width_of(const Range& range, ToText to_text) {
  std::size_t width = 1;
  for (const auto& item : range) width = std::max(width, to_text(item).size());
  return width;
}

void write_limits(H5File& file, const LimitsReport& report) {
  const std::size_t width = width_of(report.entries, [](const LimitsEntry& e) -> const std::string& { return e.label; });
  H5Table table = file.table("/limits",
                             {{"name", text, width},
                              {"linear_limit_first", float64},
                              {"linear_limit_last", float64},
                              {"latency_wall", float64},
                              {"closed_bandwidth_limit", float64},
                              {"closed_latency_limit", float64},
                              {"closed_latency_wall", float64},
                              {"block_latency_s", float64}},
                             report.entries.size());
  for (const LimitsEntry& entry : report.entries) {
    const Limits& limits = entry.limits;
    table.put(std::string_view{entry.label});
    table.put(number(limits.linear.first));
    table.put(number(limits.linear.last));
    table.put(limits.wall_log10);
    table.put(number(limits.closed.bandwidth_log10));
    table.put(limits.closed.latency_limit_log10);
    table.put(limits.closed.wall_log10);
    table.put(limits.closed.block_latency_s);
    table.end_row();
  }
  table.finish();
  file.attribute("/limits", "units", std::string{"log10 FLOP; block_latency_s: s"});
}

std::vector<Column> curve_columns(const std::vector<CurveRow>& rows, std::size_t levels) {
  std::vector<Column> columns{{"compute_flop", float64}, {"utilization", float64}, {"mfu", float64}, {"gpus", float64}};
  for (std::size_t d = 0; d < dimension_names().size(); ++d) {
    columns.push_back({dimension_names()[d], text, width_of(rows, [d](const CurveRow& r) { return r.degrees[d]; })});
  }
  for (const char* name : {"microbatches", "step_time_s", "training_time_s", "memory_bytes"}) {
    columns.push_back({name, float64});
  }
  columns.push_back({"binds", text, width_of(rows, [](const CurveRow& r) { return r.binds; })});
  for (const char* name : {"share_arithmetic", "share_kernels"}) columns.push_back({name, float64});
  for (std::size_t l = 0; l < levels; ++l) columns.push_back({fmt::format("share_network_{}", l), float64});
  for (const char* name : {"share_latency", "share_bubble", "share_tail"}) columns.push_back({name, float64});
  return columns;
}

void write_curve(H5File& file, const std::string& group, const Limits& limits) {
  const std::vector<CurveRow> rows = curve_rows(limits);
  const std::size_t levels = limits.question.gpu.levels.size();
  H5Table table = file.table(group + "/curve", curve_columns(rows, levels), rows.size());
  for (const CurveRow& row : rows) {
    for (const double v : {row.compute, row.relative, row.mfu, row.gpus}) table.put(v);
    for (const std::string& degrees : row.degrees) table.put(std::string_view{degrees});
    for (const double v : {row.microbatches, row.step_s, row.train_s, row.memory_bytes}) table.put(v);
    table.put(std::string_view{row.binds});
    const Breakdown& b = row.breakdown;
    for (const double v : {b.arithmetic, b.kernels}) table.put(v);
    for (std::size_t l = 0; l < levels; ++l) table.put(b.network[l]);
    for (const double v : {b.latency, b.bubble, b.tail}) table.put(v);
    table.end_row();
  }
  table.finish();
}

void write_sensitivity(H5File& file, const std::string& group, const std::vector<InputSensitivity>& sensitivity) {
  if (sensitivity.empty()) return;
  const std::size_t width = width_of(sensitivity, [](const InputSensitivity& s) { return s.input; });
  H5Table table = file.table(group + "/sensitivity",
                             {{"input", text, width},
                              {"factor", float64},
                              {"linear_slope", float64},
                              {"linear_below", float64},
                              {"linear_above", float64},
                              {"wall_slope", float64},
                              {"wall_below", float64},
                              {"wall_above", float64}},
                             sensitivity.size());
  const Elasticity none{std::nan(""), std::nan(""), std::nan("")};
  for (const InputSensitivity& s : sensitivity) {
    table.put(std::string_view{s.input});
    table.put(s.factor);
    for (const Elasticity& e : {s.linear.value_or(none), s.wall.value_or(none)}) {
      table.put(e.slope);
      table.put(e.below_log10);
      table.put(e.above_log10);
    }
    table.end_row();
  }
  table.finish();
}

}  // namespace

void write_hdf5(H5File& file, const LimitsReport& report, const std::string& version) {
  file.attribute("/", "schema", std::string{"traingraph/limits/1"});
  file.attribute("/", "traingraph_version", version);
  write_limits(file, report);
  for (std::size_t i = 0; i < report.entries.size(); ++i) {
    const LimitsEntry& entry = report.entries[i];
    const std::string group = fmt::format("/{}", i);
    file.group(group);
    file.attribute(group, "name", entry.label);
    file.attribute(group, "question", entry.questions);
    write_curve(file, group, entry.limits);
    write_sensitivity(file, group, entry.sensitivity);
  }
}

}  // namespace traingraph::analysis::theory
