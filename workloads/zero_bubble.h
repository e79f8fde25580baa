// The zero-bubble schedules (Qi et al. 2023); schedule.h says what they are.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/schedule.h"

namespace traingraph::workloads {

[[nodiscard]] std::vector<Pass> zb_h1_passes(std::uint32_t stages, std::uint32_t microbatches, std::uint32_t stage);

/// Made for at least 2P-1 micro-batches; with fewer, the passes of those that do not exist are left out.
[[nodiscard]] std::vector<Pass> zb_v_passes(std::uint32_t stages, std::uint32_t microbatches, std::uint32_t stage);

}  // namespace traingraph::workloads
