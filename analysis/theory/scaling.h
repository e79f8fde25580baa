// Scaling laws: the shape of the model and the batch that a training compute C implies (arXiv 2411.01137, scaling laws of
// the authors' published code).
//
//   N = sqrt(C/(6 kappa)),  D = kappa N,  B = B0 (C/C0)^beta (E/k)^s,  L = L0 (C/C0)^lambda,  d = sqrt(N/(2 k h L)),  ff = h
// d
//
// C counts active arithmetic, 6 N D; N active parameters. All dimensions are real-valued.
#pragma once

#include "analysis/theory/assumptions.h"

namespace traingraph::analysis::theory {

struct ScaledRun {
  double compute = 0;   ///< C, FLOP
  double params = 0;    ///< N, active
  double tokens = 0;    ///< D
  double batch = 0;     ///< B, tokens per optimizer step
  double layers = 0;    ///< L, blocks of two linear layers
  double residual = 0;  ///< d
  double hidden = 0;    ///< ff
  double experts = 1;   ///< E
  double active = 1;    ///< k

  /// Optimizer steps of the run.
  [[nodiscard]] double steps() const { return tokens / batch; }
};

[[nodiscard]] ScaledRun scaled_run(double compute, const Assumptions& assumptions);

}  // namespace traingraph::analysis::theory
