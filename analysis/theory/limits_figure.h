// A LimitsReport as a figure: utilization against training compute, log-log, and for one GPU the layout below it.
#pragma once

#include "analysis/plot/plot.h"
#include "analysis/theory/limits_report.h"

namespace traingraph::analysis::theory {

[[nodiscard]] plot::Figure figure_of(const LimitsReport& report);

}  // namespace traingraph::analysis::theory
