#include "analysis/theory/limits_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <utility>

#include "analysis/format.h"

namespace traingraph::analysis::theory {
namespace {

constexpr double kBase = 10;

std::string days_text(double seconds) {
  constexpr double kDay = 86400;
  return fmt::format("{:.6g} days", seconds / kDay);
}

std::string microseconds(double seconds) { return fmt::format("{:.4g} us", 1e6 * seconds); }

/// The loss that costs most, with its share of the step.
std::string largest_loss(const CurveRow& row) {
  const Breakdown& b = row.breakdown;
  std::pair<double, std::string> largest{b.kernels, "kernels"};
  const auto offer = [&](double share, const std::string& name) {
    if (share > largest.first) largest = {share, name};
  };
  for (std::size_t l = 0; l < b.network.size(); ++l) offer(b.network[l], fmt::format("network {}", l));
  offer(b.latency, "latency");
  offer(b.bubble, "bubble");
  offer(b.tail, "tail");
  return fmt::format("{} {}", largest.second, percent(largest.first));
}

std::string head(const LimitsEntry& entry) {
  const LimitsQuestion& q = entry.limits.question;
  const Gpu& gpu = q.gpu;
  std::string text =
      fmt::format("{}: {}FLOP/s peak, {} sustained, {} network level{}; training in at most {}\n", entry.label,
                  human_count(gpu.peak_flop_per_s()), percent(gpu.matmul.sustained_clock_fraction), gpu.levels.size(),
                  gpu.levels.size() == 1 ? "" : "s", days_text(q.assumptions.duration_s));
  const Limits& limits = entry.limits;
  text += fmt::format("\n{:<34}{:>14}   {}\n", "limits", "FLOP", "closed form");
  text += fmt::format("  {:<32}{:>14}   {:<12} bandwidth, with {} stages; {} for latency alone\n",
                      "utilization falls below 80 %", limits.linear.first ? flop_text(limits.linear.first) : "at the start",
                      flop_text(limits.closed.bandwidth_log10), limits.closed.pipeline_stages,
                      flop_text(limits.closed.latency_limit_log10));
  text += fmt::format("  {:<32}{:>14}\n", "... for the last time", flop_text(limits.linear.last));
  text += fmt::format("  {:<32}{:>14}   {:<12} {} a block\n", "latency wall", flop_text(limits.wall_log10),
                      flop_text(limits.closed.wall_log10), microseconds(limits.closed.block_latency_s));
  return text;
}

/// Degrees of one row, or the names above them, in columns as wide as the widest.
std::string degree_columns(const std::array<std::string, kDimensions>& cells, const std::vector<CurveRow>& rows) {
  constexpr std::size_t kLeast = 6;
  std::string text;
  for (std::size_t d = 0; d < cells.size(); ++d) {
    std::size_t width = kLeast;
    for (const CurveRow& row : rows) width = std::max(width, row.degrees[d].size());
    text += fmt::format("  {:>{}}", cells[d], width);
  }
  return text;
}

std::string curve_table(const Limits& limits) {
  const std::vector<CurveRow> rows = curve_rows(limits);
  std::string text = fmt::format("\n{:>8}  {:>6}{:>11}{}{:>6}  {:<15}{}\n", "FLOP", "util.", "GPUs",
                                 degree_columns({"DP", "PP", "EP", "TF", "TM"}, rows), "m", "binds", "largest loss");
  for (const CurveRow& row : rows) {
    if (!row.feasible) {
      text += fmt::format("{:>8.1e}  no layout finishes in time\n", row.compute);
      continue;
    }
    text += fmt::format("{:>8.1e}  {:>6.3f}{:>11}{}{:>6.0f}  {:<15}{}\n", row.compute, row.relative, human_count(row.gpus),
                        degree_columns(row.degrees, rows), row.microbatches, row.binds, largest_loss(row));
  }
  return text +
         "util.: of the sustained rate; degrees per network level, innermost first; TF, TM: tensor parallelism\n"
         "over the hidden and the residual width; m: microbatches\n";
}

std::string slope_text(const std::optional<Elasticity>& e) {
  return e ? fmt::format("{:>8.2f}  {:>11} to {:<11}", e->slope, flop_text(e->below_log10), flop_text(e->above_log10))
           : fmt::format("{:>8}  {:<26}", "-", "");
}

std::string sensitivity_table(const std::vector<InputSensitivity>& sensitivity) {
  if (sensitivity.empty()) return {};
  std::string text = fmt::format("\n{:<38}{:>6}  {:<36}  {}\n", "d log(limit) / d log(input)", "factor",
                                 "linear-scaling limit", "latency wall");
  for (const InputSensitivity& s : sensitivity) {
    text += fmt::format("  {:<36}{:>6.3g}  {}  {}\n", s.input, s.factor, slope_text(s.linear), slope_text(s.wall));
  }
  return text +
         "each input divided and multiplied by its factor, everything else as it is: slope, and the limits at both;\n"
         "-: at one of them utilization is below 80 % from the start, or nothing is limited\n";
}

/// How much further than the first entry, "13.2x".
std::string gain(std::optional<double> log10_flop, std::optional<double> base) {
  if (!log10_flop || !base || !std::isfinite(*log10_flop) || !std::isfinite(*base)) return "-";
  return fmt::format("{:.3g}x", std::pow(kBase, *log10_flop - *base));
}

const LimitsEntry& base_of(const LimitsReport& report) {
  const auto h100 = std::find_if(report.entries.begin(), report.entries.end(),
                                 [](const LimitsEntry& entry) { return entry.label == "H100"; });
  return h100 == report.entries.end() ? report.entries.front() : *h100;
}

std::string several(const LimitsReport& report) {
  const LimitsEntry& base = base_of(report);
  const std::string against = "/ " + base.label;
  std::string text = fmt::format("{:<24}{:>12}{:>12}{:>10}{:>13}{:>12}{:>10}{:>13}\n", "", "below 80 %", "last time",
                                 against, "closed form", "wall", against, "closed form");
  for (const LimitsEntry& entry : report.entries) {
    const Limits& limits = entry.limits;
    text += fmt::format("{:<24}{:>12}{:>12}{:>10}{:>13}{:>12}{:>10}{:>13}\n", entry.label, flop_text(limits.linear.first),
                        flop_text(limits.linear.last), gain(limits.linear.first, base.limits.linear.first),
                        flop_text(limits.closed.bandwidth_log10), flop_text(limits.wall_log10),
                        gain(limits.wall_log10, base.limits.wall_log10), flop_text(limits.closed.wall_log10));
  }
  return text +
         "training compute in FLOP: utilization falls below 80 % of the sustained rate (first and last time),\n"
         "latency wall; beside them the closed forms of the bandwidth limit and of the wall\n";
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);) lines.push_back(line.substr(0, line.find("  #")));
  return lines;
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

/// What the sets assume differently, line by line where both have a line, else as a whole.
std::string differences(const LimitsEntry& a, const LimitsEntry& b) {
  const std::vector<std::string> left = lines_of(a.questions);
  const std::vector<std::string> right = lines_of(b.questions);
  if (left.size() != right.size()) return "  (other GPU or network: see --format json)\n";
  std::string text;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const bool name_of_set = left[i].starts_with("name:");
    if (left[i] == right[i] || name_of_set) continue;
    text += fmt::format("  {:<40}{}\n", trimmed(left[i]), trimmed(right[i]));
  }
  return text.empty() ? "  (none)\n" : text;
}

std::string compare(const LimitsReport& report) {
  const LimitsEntry& a = report.entries.front();
  const LimitsEntry& b = report.entries.back();
  std::string text = "assumptions that differ\n" + differences(a, b);
  text += fmt::format("\n{:<42}{:>14}{:>14}{:>10}\n", "limits, FLOP", a.label, b.label, "ratio");
  const auto row = [&](const char* name, std::optional<double> x, std::optional<double> y) {
    text += fmt::format("  {:<40}{:>14}{:>14}{:>10}\n", name, flop_text(x), flop_text(y), gain(y, x));
  };
  row("utilization falls below 80 %", a.limits.linear.first, b.limits.linear.first);
  row("... for the last time", a.limits.linear.last, b.limits.linear.last);
  row("... closed form (bandwidth)", a.limits.closed.bandwidth_log10, b.limits.closed.bandwidth_log10);
  row("latency wall", a.limits.wall_log10, b.limits.wall_log10);
  row("... closed form", a.limits.closed.wall_log10, b.limits.closed.wall_log10);
  text += fmt::format("\n{:>8}  {:>10}{:>10}{:>14}{:>14}\n", "FLOP", "util. 1", "util. 2", "GPUs 1", "GPUs 2");
  const std::vector<CurveRow> first = curve_rows(a.limits);
  const std::vector<CurveRow> second = curve_rows(b.limits);
  for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
    if (first[i].compute != second[i].compute) break;
    text += fmt::format("{:>8.1e}  {:>10.3f}{:>10.3f}{:>14}{:>14}\n", first[i].compute, first[i].relative,
                        second[i].relative, human_count(first[i].gpus), human_count(second[i].gpus));
  }
  return text;
}

}  // namespace

std::string to_text(const LimitsReport& report) {
  if (report.kind == ReportKind::several) return several(report);
  if (report.kind == ReportKind::compare) return compare(report);
  const LimitsEntry& entry = report.entries.front();
  return head(entry) + curve_table(entry.limits) + sensitivity_table(entry.sensitivity);
}

}  // namespace traingraph::analysis::theory
