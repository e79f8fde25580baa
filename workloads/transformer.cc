#include "workloads/transformer.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "sim/error.h"
#include "workloads/flops.h"
#include "workloads/groups.h"
#include "workloads/job.h"
#include "workloads/layout.h"
#include "workloads/memory.h"
#include "workloads/program_writer.h"
#include "workloads/stage_writer.h"

namespace traingraph::workloads {
namespace {

void must_divide(std::uint64_t whole, const char* whole_name, std::uint64_t part, const char* part_name) {
  if (whole % part == 0) return;
  throw sim::InputError{fmt::format("{} {} is not divisible by {} {}", whole_name, whole, part_name, part)};
}

void must_be_positive(std::uint64_t value, const char* name) {
  if (value == 0) throw sim::InputError{fmt::format("{} must be at least 1", name)};
}

/// First and last stage of each pipeline.
Groups make_embedding_groups(ProgramWriter& writer, const Layout& layout) {
  Grouping all = layout.group({Dimension::pp});
  for (auto& members : all.groups) members = {members.front(), members.back()};
  for (auto& member : all.member_of) member = member == 0 ? 0 : 1;
  return write_groups(writer, "embedding", std::move(all));
}

class TransformerBuilder {
 public:
  TransformerBuilder(const TransformerSpec& spec, const WorkloadSpec& common, const HardwareSpec& hardware,
                     const Cluster& cluster)
      : spec_{spec},
        common_{common},
        hardware_{hardware},
        cluster_{cluster},
        model_{hardware, spec.precision},
        layout_{{spec.parallel.tp, 1, 1, spec.parallel.dp, spec.parallel.pp, 1}, spec.parallel.order},
        writer_{place_job(common.placement, layout_.ranks(), spec.parallel.gpus, "tp x pp x dp", cluster), cluster} {}

  Workload build() {
    write_stages();
    write_ranks();
    count();
    workload_.program = writer_.finish(common_.steps, slow_factors(common_, cluster_));
    return std::move(workload_);
  }

 private:
  void write_stages() {
    const std::vector<std::uint32_t> layers = layers_of_stages(spec_);
    const ParallelSpec& p = spec_.parallel;
    const LayerKernels kernels{spec_, model_};
    StageShape shape;
    shape.norm_members = p.tp * p.pp * (p.distributed_optimizer ? p.dp : 1);
    for (std::uint32_t s = 0; s < p.pp; ++s) {
      shape.stage = s;
      shape.layers = layers[s];
      StageResult stage = StageWriter{spec_, model_, shape, writer_}.write();
      stage.facts.memory = memory_terms(spec_, s, shape.layers, stage_parameters(spec_, kernels, shape));
      if (spec_.check_memory) check_fits(stage.facts.memory, hardware_.memory_size, fmt::format("a GPU of stage {}", s));
      workload_.pipeline.forward.push_back(stage.forward);
      workload_.pipeline.backward.push_back(stage.backward);
      workload_.pipeline.after_hand_off.emplace_back();
      workload_.roles.push_back(stage.facts);
      slots_.push_back(std::move(stage.slots));
      templates_.push_back(writer_.add_template(std::move(stage.role)));
      shape.first_layer += shape.layers;
    }
  }

  void write_ranks() {
    const ParallelSpec& p = spec_.parallel;
    using D = Dimension;
    tp_ = write_groups(writer_, "tp", layout_, {D::tp});
    dp_ = write_groups(writer_, "dp", layout_, {D::dp});
    norm_ = p.distributed_optimizer ? write_groups(writer_, "norm", layout_, {D::tp, D::dp, D::pp})
                                    : write_groups(writer_, "norm", layout_, {D::tp, D::pp});
    if (p.pp > 1 && spec_.model.tied_embeddings) embedding_ = make_embedding_groups(writer_, layout_);
    write_channels();
    std::vector<sim::Slot> slots;
    for (std::uint32_t r = 0; r < layout_.ranks(); ++r) {
      const Coordinates at = layout_.coordinates(sim::RankId{r});
      slots.clear();
      for (const SlotUse use : slots_[at.pp]) slots.push_back(slot(use, r, at));
      writer_.add_rank(templates_[at.pp], slots);
      workload_.coordinates.push_back(at);
    }
  }

  void write_channels() {
    forward_.resize(layout_.ranks());
    backward_.resize(layout_.ranks());
    for (std::uint32_t r = 0; r < layout_.ranks(); ++r) {
      const sim::RankId rank{r};
      const std::uint32_t stage = layout_.coordinate(rank, Dimension::pp);
      if (stage + 1 == spec_.parallel.pp) continue;
      const sim::RankId next = layout_.moved(rank, Dimension::pp, stage + 1);
      forward_[r] = writer_.channel(rank, next);
      backward_[r] = writer_.channel(next, rank);
    }
  }

  [[nodiscard]] sim::Slot slot(SlotUse use, std::uint32_t rank, const Coordinates& at) const {
    const auto before = [&] { return index(layout_.moved(sim::RankId{rank}, Dimension::pp, at.pp - 1)); };
    switch (use) {
      case SlotUse::tp:
        return tp_.slot(rank);
      case SlotUse::dp:
        return dp_.slot(rank);
      case SlotUse::norm:
        return norm_.slot(rank);
      case SlotUse::embedding:
        return embedding_.slot(rank);
      case SlotUse::forward_send:
        return {index(forward_[rank]), 0};
      case SlotUse::backward_receive:
        return {index(backward_[rank]), 0};
      case SlotUse::forward_receive:
        return {index(forward_[before()]), 0};
      case SlotUse::backward_send:
        return {index(backward_[before()]), 0};
    }
    throw sim::InternalError{"a slot use outside the enumeration"};
  }

  void count() {
    const ParallelSpec& p = spec_.parallel;
    const ModelSpec& m = spec_.model;
    workload_.pipeline.stages = p.pp;
    workload_.pipeline.microbatches = spec_.global_batch / (p.dp * spec_.micro_batch);
    workload_.pipeline.schedule = name_of(p.schedule);
    workload_.tokens_per_step = static_cast<double>(spec_.global_batch) * m.sequence;
    const StepFlop flop = step_flop(spec_, spec_.mfu);
    workload_.model_flop_per_step = flop.model;
    workload_.hardware_flop_per_step = flop.hardware;
    workload_.flop_convention = name_of(spec_.mfu);
    workload_.peak_per_gpu = model_.peak();
    workload_.parameters = parameter_count(m);
    workload_.memory_capacity = hardware_.memory_size;
    workload_.description = fmt::format("{}: TP {} PP {} DP {}, {}{}, micro-batch {}, global batch {}, {}, recompute {}",
                                        m.name.empty() ? "transformer" : m.name, p.tp, p.pp, p.dp, name_of(p.schedule),
                                        p.sequence_parallel ? ", SP" : "", spec_.micro_batch, spec_.global_batch,
                                        name_of(spec_.precision), name_of(spec_.recompute));
  }

  const TransformerSpec& spec_;
  const WorkloadSpec& common_;
  const HardwareSpec& hardware_;
  const Cluster& cluster_;
  KernelModel model_;
  Layout layout_;
  ProgramWriter writer_;
  Workload workload_;
  std::vector<std::vector<SlotUse>> slots_;  // by stage
  std::vector<sim::TemplateId> templates_;   // by stage
  Groups tp_, dp_, norm_, embedding_;
  std::vector<sim::ChannelId> forward_, backward_;  // by rank: to the next stage, and back from it
};

}  // namespace

std::vector<std::uint32_t> layers_of_stages(const TransformerSpec& spec) {
  const ParallelSpec& p = spec.parallel;
  const std::uint32_t layers = spec.model.layers;
  if (p.layers_per_stage.empty()) {
    if (layers % p.pp != 0) {
      throw sim::InputError{
          fmt::format("{} layers are not divisible by {} pipeline stages; state layers_per_stage", layers, p.pp)};
    }
    return std::vector<std::uint32_t>(p.pp, layers / p.pp);
  }
  if (p.layers_per_stage.size() != p.pp) {
    throw sim::InputError{fmt::format("layers_per_stage lists {} stages, but pp is {}", p.layers_per_stage.size(), p.pp)};
  }
  std::uint64_t sum = 0;
  for (const std::uint32_t n : p.layers_per_stage) {
    must_be_positive(n, "layers_per_stage: every entry");
    sum += n;
  }
  if (sum != layers) {
    throw sim::InputError{fmt::format("layers_per_stage adds up to {} layers, but the model has {}", sum, layers)};
  }
  return p.layers_per_stage;
}

void check_transformer(const TransformerSpec& spec) {
  check_model(spec.model);
  const ModelSpec& m = spec.model;
  const ParallelSpec& p = spec.parallel;
  must_be_positive(p.tp, "tp");
  must_be_positive(p.pp, "pp");
  must_be_positive(p.dp, "dp");
  must_be_positive(spec.micro_batch, "micro_batch");
  must_be_positive(spec.global_batch, "global_batch");
  must_be_positive(spec.vocabulary_multiple, "vocabulary_multiple");
  must_be_positive(spec.software.fused_softmax_multiple, "fused_softmax_multiple");
  must_divide(m.heads, "heads", p.tp, "tp");
  must_divide(m.kv_head_count(), "kv_heads", p.tp, "tp");
  must_divide(m.hidden, "hidden", p.tp, "tp");
  must_divide(m.ffn, "ffn", p.tp, "tp");
  if (p.sequence_parallel) must_divide(m.sequence, "sequence", p.tp, "tp (sequence_parallel)");
  must_divide(spec.global_batch, "global_batch", std::uint64_t{p.dp} * spec.micro_batch, "dp x micro_batch");
  (void)layers_of_stages(spec);
  if (p.scatter_gather && p.sequence_parallel) {
    throw sim::InputError{"scatter_gather has no effect with sequence_parallel, which already sends 1/tp; leave one out"};
  }
  if (p.scatter_gather && (p.tp == 1 || p.pp == 1)) {
    throw sim::InputError{"scatter_gather needs tp and pp above 1"};
  }
  if (p.overlap_param_gather && !p.distributed_optimizer) {
    throw sim::InputError{"overlap_param_gather needs distributed_optimizer: otherwise no parameters are gathered"};
  }
  if (p.bucket_size && !(p.bucket_size->count() > 0)) throw sim::InputError{"bucket_size must be positive"};
  if (!(spec.memory_fragmentation >= 0) || !std::isfinite(spec.memory_fragmentation)) {
    throw sim::InputError{fmt::format("memory_fragmentation is {}; allowed: 0 or more", spec.memory_fragmentation)};
  }
  if (spec.software.launch_forward < sim::Duration{} || spec.software.launch_backward < sim::Duration{}) {
    throw sim::InputError{"launch costs must not be negative"};
  }
}

Workload build_transformer(const TransformerSpec& spec, const WorkloadSpec& common, const HardwareSpec& hardware,
                           const Cluster& cluster) {
  check_transformer(spec);
  return TransformerBuilder{spec, common, hardware, cluster}.build();
}

}  // namespace traingraph::workloads
