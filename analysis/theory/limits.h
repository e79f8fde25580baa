// Limits: everything that the closed-form model says about one GPU under one set of assumptions.
#pragma once

#include <vector>

#include "analysis/theory/closed_forms.h"
#include "analysis/theory/curve.h"

namespace traingraph::analysis::theory {

/// Which training computes are looked at.
struct LimitsScan {
  double from = 1e24;              ///< FLOP, first point of the curve
  double to = 1e32;                ///< last point
  std::size_t points = 41;         ///< equally spaced in log C
  double limit_from = 1e25;        ///< where the scan for the linear-scaling limit starts
  double closed_form_stages = 16;  ///< pipeline stages in the closed form of the bandwidth limit
};

struct LimitsQuestion {
  Gpu gpu;
  Assumptions assumptions;
  LimitsScan scan;
};

/// log10 FLOP throughout; infinite: no limit.
struct Limits {
  LimitsQuestion question;
  Curve curve;
  LinearLimit linear;
  double wall_log10 = 0;
  ClosedForms closed;
};

/// `neighbour`, the limits under similar assumptions with the same scan, makes it faster and changes nothing.
[[nodiscard]] Limits limits(const LimitsQuestion& question, const Limits* neighbour = nullptr);

}  // namespace traingraph::analysis::theory
