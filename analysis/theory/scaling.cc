#include "analysis/theory/scaling.h"

#include <cmath>

namespace traingraph::analysis::theory {

ScaledRun scaled_run(double compute, const Assumptions& a) {
  constexpr double kFlopPerParameterAndToken = 6;
  const double growth = compute / a.reference_compute;
  ScaledRun run;
  run.compute = compute;
  run.params = std::sqrt(compute / (kFlopPerParameterAndToken * a.tokens_per_param));
  run.tokens = a.tokens_per_param * run.params;
  run.batch = a.reference_batch * std::pow(growth, a.batch_exponent) *
              std::pow(a.experts / a.active_experts, a.batch_sparsity_exponent);
  run.layers = a.reference_layers * std::pow(growth, a.depth_exponent);
  run.residual = std::sqrt(run.params / (a.active_experts * 2 * a.hidden_ratio * run.layers));
  run.hidden = a.hidden_ratio * run.residual;
  run.experts = a.experts;
  run.active = a.active_experts;
  return run;
}

}  // namespace traingraph::analysis::theory
