// What the options of a parallel layout say about each other: options without effect, combinations that do not exist or are
// not built.
#pragma once

#include <string>
#include <vector>

#include "workloads/workload_spec.h"

namespace traingraph::workloads {

/// `field` is the key of ParallelSpec at fault ("zero_stage"); the message reads on from it ("needs bucket_size").
struct ParallelProblem {
  std::string field;
  std::string message;
};

/// All of them; none for a layout that can be built. Degrees must be at least 1 and the global batch a multiple of DP x
/// micro-batch.
[[nodiscard]] std::vector<ParallelProblem> parallel_problems(const TransformerSpec& spec);

/// The same of keys of TransformerSpec itself.
[[nodiscard]] std::vector<ParallelProblem> recompute_problems(const TransformerSpec& spec);
/// The same of the routing; `field` is a key of RoutingSpec.
[[nodiscard]] std::vector<ParallelProblem> routing_problems(const TransformerSpec& spec);

}  // namespace traingraph::workloads
