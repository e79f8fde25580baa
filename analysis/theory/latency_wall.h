// The latency wall: the largest training compute that can be finished in time at all, on any number of GPUs, because the
// latencies of one step after the other fill the duration (arXiv 2411.01137). Pipelining never helps here, so layouts have
// PP = m = 1.
#pragma once

#include "analysis/theory/search.h"

namespace traingraph::analysis::theory {

/// log10 FLOP, by bisection on [24, 40] to 1e-7 (the lower end is returned); infinite if 10^40 FLOP can be finished, minus
/// infinity if 10^24 cannot.
[[nodiscard]] double latency_wall(const LayoutSearch& search);

}  // namespace traingraph::analysis::theory
