#include "workloads/stage_end.h"

namespace traingraph::workloads {
namespace {

constexpr sim::Bytes kScalar{4};  // a norm, a loss: one fp32 number

}  // namespace

KernelTotals StageEnd::write(const DataParallelWriter& data) {
  write_reductions(data);
  write_optimizer(data);
  return totals_;
}

void StageEnd::write_reductions(const DataParallelWriter& data) {
  const auto sum = [&](Algorithm algorithm, sim::Bytes bytes) {
    return writer_.collective({.kind = CollectiveKind::all_reduce, .algorithm = algorithm, .bytes = bytes, .options = {}});
  };
  const double g = data.gradient_bytes();
  const double whole = 1 / data.sharding().gradient_shards();  // share of a gradient that a rank still has
  const TimeCategory late = spec_.parallel.pp > 1 ? TimeCategory::bubble : TimeCategory::exposed_dp;
  if (spec_.parallel.sequence_parallel && spec_.parallel.tp > 1) {
    // What every rank of a TP group keeps whole but sees a share of the tokens of (Megatron-LM marks it
    // `sequence_parallel`): norms, biases behind row-parallel products (attention's, and the MLP's, which experts have not).
    const double biases = spec_.model.bias ? (2.0 * shape_.layers() - shape_.moe_layers()) * spec_.model.hidden : 0;
    const bool embedding_norm = shape_.has_embedding() && spec_.model.embedding_norm;
    const double norms =
        shape_.layers() * kernels_.layer_norm_parameters() + biases + (shape_.has_head() ? kernels_.norm_parameters() : 0) +
        (embedding_norm ? kernels_.norm_parameters() : 0) + shape_.moe_layers() * kernels_.router_parameters();
    streams_.collective(Stream::blocking, writer_.label("norm_gradient_all_reduce", TimeCategory::exposed_tp),
                        slots_[SlotUse::tp], sum(spec_.algorithms.tp_all_reduce, sim::Bytes{norms * g * whole}),
                        {Stream::data});
  }
  if (slots_.has(SlotUse::embedding)) {
    streams_.collective(Stream::blocking, writer_.label("embedding_gradient_all_reduce", TimeCategory::exposed_dp, late),
                        slots_[SlotUse::embedding],
                        sum(spec_.algorithms.embedding_all_reduce, sim::Bytes{kernels_.table_parameters() * g * whole}),
                        {Stream::data});
  }
  if (data.sharding().replicas > 1 && shape_.has_head()) {  // for the log: no kernel waits for it
    streams_.collective(Stream::data, writer_.label("loss_all_reduce", TimeCategory::exposed_dp), slots_[SlotUse::dp],
                        sum(spec_.algorithms.scalar_all_reduce, kScalar));
  }
}

void StageEnd::optimizer_kernel(const Kernel& kernel) {
  streams_.compute(writer_.label(kernel.name, TimeCategory::optimizer), writer_.duration(kernel.duration));
  totals_.add(kernel);
}

void StageEnd::write_optimizer(const DataParallelWriter& data) {
  const ParallelSpec& p = spec_.parallel;
  const double g = data.gradient_bytes();
  const StageParameters local = stage_parameters(kernels_, shape_);
  const Sharding& sharding = data.sharding();
  const double shard = local.dense / sharding.optimizer_shards() + local.experts / sharding.expert_optimizer_shards();
  const double accumulated = local.dense / sharding.gradient_shards() + local.experts / sharding.expert_gradient_shards();
  const double w = model_.word();
  const double unscale = spec_.precision == Precision::fp16 ? 2 * g : 0;
  const double states = 24;  // fp32 weight and two moments, read and written
  const double weight = w < 4 ? w : 0;
  optimizer_kernel(model_.memory("gradient_norm", g * shard));
  if (slots_.has(SlotUse::norm)) {
    const TimeCategory late = p.pp > 1 ? TimeCategory::bubble : TimeCategory::exposed_dp;
    streams_.collective(Stream::blocking, writer_.label("gradient_norm_all_reduce", TimeCategory::exposed_dp, late),
                        slots_[SlotUse::norm],
                        writer_.collective({.kind = CollectiveKind::all_reduce,
                                            .algorithm = spec_.algorithms.scalar_all_reduce,
                                            .bytes = kScalar,
                                            .options = {}}));
  }
  optimizer_kernel(model_.memory("adam", (unscale + g + states + weight) * shard));
  optimizer_kernel(model_.memory("zero_gradients", g * accumulated));
}

}  // namespace traingraph::workloads
