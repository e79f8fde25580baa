#include "workloads/size_limits.h"

#include <algorithm>

namespace traingraph::workloads {

double least_operations(const WorkloadSpec& spec) {
  constexpr double kPerLayer = 16;
  constexpr double kPerBlock = 4;
  if (const auto* t = std::get_if<TransformerSpec>(&spec.job)) {
    const double replica = static_cast<double>(std::max(1U, t->parallel.dp)) * std::max(1U, t->micro_batch);
    const double microbatches = t->global_batch / replica;
    return microbatches * std::max<double>(kPerLayer * t->model.layers, 2.0 * t->parallel.pp * t->parallel.virtual_stages);
  }
  if (const auto* l = std::get_if<LinearBlocksSpec>(&spec.job)) {
    return static_cast<double>(l->microbatches) * kPerBlock * l->blocks;
  }
  if (const auto* c = std::get_if<CollectiveRunSpec>(&spec.job)) return c->iterations;
  return 0;
}

}  // namespace traingraph::workloads
