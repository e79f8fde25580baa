#include "analysis/theory/limits_csv.h"

#include <fmt/format.h>

#include "analysis/csv.h"

namespace traingraph::analysis::theory {
namespace {

std::string cell(std::optional<double> value) { return value ? fmt::format("{}", *value) : std::string{}; }

std::string curve_csv(const Limits& limits) {
  const std::size_t levels = limits.question.gpu.levels.size();
  std::string text = "compute_flop,utilization,mfu,gpus";
  for (const std::string& name : dimension_names()) text += "," + name;
  text += ",microbatches,step_time_s,training_time_s,memory_bytes,binds,share_arithmetic,share_kernels";
  for (std::size_t l = 0; l < levels; ++l) text += fmt::format(",share_network_{}", l);
  text += ",share_latency,share_bubble,share_tail\n";
  for (const CurveRow& row : curve_rows(limits)) {
    if (!row.feasible) {  // utilization 0, and nothing else is known
      constexpr std::size_t kUnknown = 16;
      text += fmt::format("{},0,0{}\n", row.compute, std::string(kUnknown + levels, ','));
      continue;
    }
    text += fmt::format("{},{},{},{}", row.compute, row.relative, row.mfu, row.gpus);
    for (const std::string& degrees : row.degrees) text += "," + degrees;
    const Breakdown& b = row.breakdown;
    text += fmt::format(",{},{},{},{},{},{},{}", row.microbatches, row.step_s, row.train_s, row.memory_bytes,
                        csv_value(row.binds), b.arithmetic, b.kernels);
    for (std::size_t l = 0; l < levels; ++l) text += fmt::format(",{}", b.network[l]);
    text += fmt::format(",{},{},{}\n", b.latency, b.bubble, b.tail);
  }
  return text;
}

std::string summary_csv(const LimitsReport& report) {
  std::string text =
      "name,linear_limit_first_log10_flop,linear_limit_last_log10_flop,latency_wall_log10_flop,"
      "closed_bandwidth_limit_log10_flop,closed_latency_limit_log10_flop,closed_latency_wall_log10_flop,block_latency_s\n";
  for (const LimitsEntry& entry : report.entries) {
    const Limits& limits = entry.limits;
    text +=
        fmt::format("{},{},{},{},{},{},{},{}\n", csv_value(entry.label), cell(limits.linear.first), cell(limits.linear.last),
                    cell(limits.wall_log10), cell(limits.closed.bandwidth_log10), cell(limits.closed.latency_limit_log10),
                    cell(limits.closed.wall_log10), limits.closed.block_latency_s);
  }
  return text;
}

}  // namespace

std::string to_csv(const LimitsReport& report) {
  return report.kind == ReportKind::single ? curve_csv(report.entries.front().limits) : summary_csv(report);
}

}  // namespace traingraph::analysis::theory
