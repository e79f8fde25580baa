#include "workloads/sharding.h"

#include "workloads/pipeline_map.h"

namespace traingraph::workloads {

Sharding::Sharding(const ParallelSpec& spec)
    : stage{spec.distributed_optimizer ? 1 : spec.zero_stage}, replicas{spec.dp * spec.cp * PipelineMap{spec}.copies()} {
  hybrid = stage > 0 && spec.shard_group > 0 && spec.shard_group < spec.dp;
  expert_replicas = replicas / spec.ep;
  if (stage > 0) shards = hybrid ? spec.shard_group : replicas;
  every_microbatch = spec.gradient_reduction == GradientReduction::automatic
                         ? stage >= 2
                         : spec.gradient_reduction == GradientReduction::microbatch;
}

}  // namespace traingraph::workloads
