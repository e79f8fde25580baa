// The DualPipe schedule (DeepSeek-V3 technical report 2024, section 3.2.1); schedule.h says what it is.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/schedule.h"

namespace traingraph::workloads {

/// P and M even, M >= 2P. Chunk 0 runs micro-batches 0 .. M/2-1, chunk 1 the others.
[[nodiscard]] std::vector<Pass> dualpipe_passes(std::uint32_t stages, std::uint32_t microbatches, std::uint32_t stage);

}  // namespace traingraph::workloads
