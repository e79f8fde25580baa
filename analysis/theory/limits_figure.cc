#include "analysis/theory/limits_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace traingraph::analysis::theory {
namespace {

constexpr double kBase = 10;

plot::Axis compute_axis(const LimitsReport& report) {
  const LimitsScan& scan = report.entries.front().limits.question.scan;
  return {"training compute, FLOP", plot::Scale::logarithmic,
          plot::AxisRange{scan.from, std::max(scan.to, kBase * scan.from)}};
}

void add_guide(std::vector<plot::Guide>& guides, std::optional<double> log10_flop, const std::string& name) {
  if (!log10_flop || !std::isfinite(*log10_flop)) return;
  guides.push_back({std::pow(kBase, *log10_flop), fmt::format("{} {}", name, flop_text(log10_flop))});
}

plot::Panel utilization_panel(const LimitsReport& report) {
  constexpr plot::AxisRange kShown{0.01, 1.2};
  plot::Panel panel{"Utilization against training compute",
                    compute_axis(report),
                    {"utilization, of the sustained rate", plot::Scale::logarithmic, kShown},
                    {},
                    {},
                    {{kLinearUtilization, "80 %"}}};
  for (const LimitsEntry& entry : report.entries) {
    plot::Series series{entry.label, {}};
    for (const CurvePoint& point : entry.limits.curve) series.points.push_back({point.compute(), point.relative()});
    panel.series.push_back(std::move(series));
  }
  if (report.kind == ReportKind::single) {
    const Limits& limits = report.entries.front().limits;
    add_guide(panel.vertical, limits.linear.first, "linear-scaling limit");
    add_guide(panel.vertical, limits.wall_log10, "latency wall");
  }
  return panel;
}

plot::Panel layout_panel(const LimitsReport& report) {
  plot::Panel panel{"GPUs and degrees of parallelism of the best layout",
                    compute_axis(report),
                    {"GPUs, degree", plot::Scale::logarithmic, std::nullopt},
                    {},
                    {},
                    {}};
  plot::Series gpus{"GPUs", {}};
  plot::Series data{"data", {}}, pipeline{"pipeline", {}}, expert{"expert", {}}, tensor{"tensor, 2D", {}};
  for (const CurvePoint& point : report.entries.front().limits.curve) {
    const double none = std::nan("");
    const double x = point.compute();
    const Layout layout = point.found ? point.found->layout : Layout{};
    const auto degree = [&](double value) { return point.found ? value : none; };
    gpus.points.push_back({x, degree(std::ldexp(1.0, layout.gpus_exponent()))});
    data.points.push_back({x, degree(layout.degree(kData))});
    pipeline.points.push_back({x, degree(layout.degree(kPipeline))});
    expert.points.push_back({x, degree(layout.degree(kExpert))});
    tensor.points.push_back({x, degree(layout.degree(kTensorHidden) * layout.degree(kTensorModel))});
  }
  panel.series = {gpus, data, tensor, pipeline};
  if (report.entries.front().limits.question.assumptions.experts > 1) panel.series.push_back(expert);
  return panel;
}

plot::Panel shares_panel(const LimitsReport& report) {
  plot::Panel panel{"Where the time of a step goes",
                    compute_axis(report),
                    {"share of the step", plot::Scale::linear, plot::AxisRange{0, 1}},
                    {},
                    {},
                    {}};
  const Limits& limits = report.entries.front().limits;
  const std::size_t levels = limits.question.gpu.levels.size();
  panel.series = {{"arithmetic", {}}, {"kernels beyond it", {}}, {"latency", {}}, {"bubble", {}}, {"last gradients", {}}};
  for (std::size_t l = 0; l < levels; ++l) panel.series.push_back({fmt::format("network level {}", l), {}});
  for (const CurveRow& row : curve_rows(limits)) {
    if (!row.feasible) continue;
    const Breakdown& b = row.breakdown;
    std::vector<double> shares{b.arithmetic, b.kernels, b.latency, b.bubble, b.tail};
    shares.insert(shares.end(), b.network.begin(), b.network.begin() + static_cast<std::ptrdiff_t>(levels));
    for (std::size_t i = 0; i < shares.size(); ++i) panel.series[i].points.push_back({row.compute, shares[i]});
  }
  return panel;
}

}  // namespace

plot::Figure figure_of(const LimitsReport& report) {
  const LimitsEntry& first = report.entries.front();
  const Assumptions& a = first.limits.question.assumptions;
  constexpr double kDay = 86400;
  plot::Figure figure;
  figure.title = report.kind == ReportKind::single ? "Data movement limits to training on " + first.label
                                                   : "Data movement limits to training";
  figure.note = fmt::format(
      "at most {:.4g} days, {:.3g} tokens per parameter, batch ~ C^{:.3g}, depth ~ C^{:.3g} "
      "(model of arXiv 2411.01137)",
      a.duration_s / kDay, a.tokens_per_param, a.batch_exponent, a.depth_exponent);
  if (report.kind == ReportKind::compare) figure.note = "best layout at each compute; model of arXiv 2411.01137";
  figure.panels.push_back(utilization_panel(report));
  if (report.kind == ReportKind::single) {
    figure.panels.push_back(layout_panel(report));
    figure.panels.push_back(shares_panel(report));
  }
  return figure;
}

}  // namespace traingraph::analysis::theory
