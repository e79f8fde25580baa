// The largest program that is built, counted from the description before anything is allocated.
//
// The operations of all templates (one per pipeline stage, one per distinct rank of a custom program) take 28 bytes and 20
// more while the engine plays them: kMostOperations are some 13 GB. GPT-3 in 8 stages of 96 micro-batches has 1e6.
#pragma once

#include <cstdint>

#include "workloads/workload_spec.h"

namespace traingraph::workloads {

inline constexpr std::uint64_t kMostOperations = std::uint64_t{1} << 28U;
/// Every step keeps its end and its window: 1e6 are training runs of weeks.
inline constexpr std::uint32_t kMostSteps = 1'000'000;
/// Experts of all layers, whose loads are kept.
inline constexpr std::uint64_t kMostExperts = std::uint64_t{1} << 26U;

/// A lower bound of the operations in all templates of the job: what it certainly has for each micro-batch and layer (16
/// kernels of a transformer's layer forward and backward, 4 matrix products and collectives of a block), or iteration. 0 for
/// a custom program, which is as long as its description.
[[nodiscard]] double least_operations(const WorkloadSpec& spec);

}  // namespace traingraph::workloads
