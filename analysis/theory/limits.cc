#include "analysis/theory/limits.h"

#include <cmath>

#include "analysis/theory/latency_wall.h"

namespace traingraph::analysis::theory {

Limits limits(const LimitsQuestion& question, const Limits* neighbour) {
  const LayoutSearch search{question.gpu, question.assumptions};
  const LimitsScan& scan = question.scan;
  const double from = std::log10(scan.from);
  const double intervals = scan.points > 1 ? static_cast<double>(scan.points - 1) : 1;
  const std::vector<double> computes = grid(from, (std::log10(scan.to) - from) / intervals, scan.points);
  Limits limits;
  limits.question = question;
  limits.curve = utilization_curve(search, computes, neighbour == nullptr ? Curve{} : neighbour->curve);
  limits.linear =
      linear_scaling_limit(search, std::log10(scan.limit_from), neighbour == nullptr ? Curve{} : neighbour->linear.scanned);
  limits.wall_log10 = latency_wall(search);
  limits.closed = closed_forms(question.gpu, question.assumptions, scan.closed_form_stages);
  return limits;
}

}  // namespace traingraph::analysis::theory
