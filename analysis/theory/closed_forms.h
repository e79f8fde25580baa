// The limits on one line each, to set beside the search (a construction in the terms of arXiv 2411.01137).
//
// Latency wall. One block, forward and backward, in series: four products (the two of weight gradients hide behind the
// communication if they can) and the all-reduces of both directions, A seconds each direction at the fastest level:
//   tau0 = 4 t_mm + A + max(A, 2 t_mm)
//   C_wall = C0 [T B0 / (L0 tau0 sqrt(kappa C0/6))]^(1/(1/2 + lambda - beta));  none if beta >= 1/2 + lambda
// With these latencies exposed, rel <= 1 - (C/C_wall)^(1/2 + lambda - beta): 80 % needs C <= 0.2^(1/(..)) C_wall.
//
// Bandwidth limit. At the outermost level, W bytes/s per GPU and P0 GPUs in each group below it, an all-reduced word takes
// as long as ell = a w F/(6 W) multiply-add triples; the outer traffic of a block over its arithmetic is
//   rho = ell [(p_tpm - 1)/d + (p_tpf - 1)/ff + (p_dp - 1)/B]
// and hides while rho <= 1. The smallest cuboid of work per inner group and block is a cube of edge 3 ell, so that
//   G_max = PP P0 prod(1 + x_i/(3 ell)),  x = (d, ff, B);   the limit solves G_max = C/(0.8 T F).
// For dense models; with experts the formula of the bandwidth limit does not hold and there is none.
#pragma once

#include <optional>

#include "analysis/theory/assumptions.h"
#include "analysis/theory/gpu.h"

namespace traingraph::analysis::theory {

struct ClosedForms {
  double block_latency_s = 0;             ///< tau0
  double wall_log10 = 0;                  ///< log10 FLOP; infinite: no wall
  double latency_limit_log10 = 0;         ///< log10 FLOP at which latency alone leaves 80 %
  double words_per_cube_edge = 0;         ///< ell
  double pipeline_stages = 0;             ///< PP of the bandwidth limit
  std::optional<double> bandwidth_log10;  ///< log10 FLOP; infinite: traffic costs nothing
};

[[nodiscard]] ClosedForms closed_forms(const Gpu& gpu, const Assumptions& assumptions, double pipeline_stages);

}  // namespace traingraph::analysis::theory
