#include <algorithm>

#include "analysis/plan/step_bound.h"

namespace traingraph::analysis::plan {
namespace {

/// What the stage holds between passes, in layers of one kind: the least that the model's layers are.
double activations(const StepBound::Batch& b, const StageShare& stage, const PipelineShares& shares) {
  const Share& held = stage.held;
  const bool both = held.layers > 0 && held.moe_layers > 0;
  double stored = held.layers > 0 ? b.stored_layer : b.stored_moe;
  double pending = held.layers > 0 ? b.pending_layer : b.pending_moe;
  if (both && shares.chunks == 1) {
    const double all = held.layers + held.moe_layers;
    stored = (held.layers * b.stored_layer + held.moe_layers * b.stored_moe) / all;
    pending = (held.layers * b.pending_layer + held.moe_layers * b.pending_moe) / all;
  } else if (both) {
    stored = std::min(b.stored_layer, b.stored_moe);
    pending = std::min(b.pending_layer, b.pending_moe);
  }
  double most = 0;
  for (const Held& h : stage.in_flight) most = std::max(most, h.forward * stored + h.weight_gradient * pending);
  return most * shares.layers_per_chunk;
}

}  // namespace

double StepBound::memory(const Degrees& d, const Batch& b, const PlanLayout& l, const PipelineShares& shares) const {
  const workloads::TransformerSpec& base = problem_.base;
  const workloads::Sharding sharding = sharding_of(base.parallel, l);
  const double head = head_parameters(d, shares.ends_meet);
  const double optimizer = word_ < 4 ? 12.0 : 8.0;
  const double unit = std::max(d.layer, std::max(d.embedding, d.norm + d.table));  // of ZeRO-3, a model without experts
  double most = 0;
  for (const StageShare& stage : shares.at) {
    const Share& held = stage.held;
    const double dense =
        held.layers * d.layer + held.moe_layers * d.moe_layer + held.embedding * d.embedding + held.head * head;
    const double experts = held.moe_layers * d.experts;
    double bytes = word_ * (dense / sharding.parameter_shards() + experts) +
                   gradient_ * (dense / sharding.gradient_shards() + experts / sharding.expert_gradient_shards()) +
                   optimizer * (dense / sharding.optimizer_shards() + experts / sharding.expert_optimizer_shards());
    const double own_unit = held.embedding + held.head > 0 && held.embedding * held.head == 0
                                ? std::max(d.layer, held.embedding > 0 ? d.embedding : d.norm + d.table)
                                : (held.embedding > 0 ? unit : d.layer);
    if (sharding.parameter_shards() > 1) {
      const bool reshards = base.parallel.reshard_after_forward;
      const double run = std::min<double>(base.parallel.prefetch_layers + 1.0, held.layers) * d.layer;
      bytes += word_ * (reshards ? std::max(own_unit, run) : dense);
    }
    if (sharding.gradient_shards() > 1) {
      bytes +=
          sharding.stage == 3 ? gradient_ * own_unit : (base.parallel.bucket_size ? base.parallel.bucket_size->count() : 0);
    }
    bytes += activations(b, stage, shares) + b.again + (held.head > 0 ? b.logits : 0);
    most = std::max(most, bytes * (1 + base.memory_fragmentation));
  }
  return most;
}

double StepBound::memory(const PlanLayout& l) const {
  const std::uint32_t microbatches = problem_.base.global_batch / (l.dp * l.micro_batch);
  const PipelineShares shares{problem_.base.model, l.schedule, {l.pp, microbatches, l.virtual_stages}};
  const Degrees d = degrees(l);
  return memory(d, batch(d, l), l, shares);
}

}  // namespace traingraph::analysis::plan
