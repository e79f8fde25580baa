#include "workloads/transformer.h"

#include <fmt/format.h>

#include <algorithm>
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
#include "workloads/parallel_rules.h"
#include "workloads/pipeline_map.h"
#include "workloads/program_writer.h"
#include "workloads/sharding.h"
#include "workloads/stage_shape.h"
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
        routing_{spec, model_.word()},
        map_{spec.parallel},
        sharding_{spec.parallel},
        layout_{{spec.parallel.tp, spec.parallel.cp, 1, spec.parallel.dp, spec.parallel.pp, 1}, spec.parallel.order},
        writer_{place_job(common.placement, layout_.ranks(), spec.parallel.gpus,
                          spec.parallel.cp > 1 ? "tp x cp x pp x dp" : "tp x pp x dp", cluster),
                cluster} {}

  Workload build() {
    write_stages();
    write_ranks();
    count();
    workload_.program = writer_.finish(common_.steps, slow_factors(common_, cluster_));
    return std::move(workload_);
  }

 private:
  void write_stages() {
    const ParallelSpec& p = spec_.parallel;
    const LayerKernels kernels{spec_, model_};
    for (StageShape& shape : stage_shapes(spec_)) {
      shape.norm_members = p.tp * p.pp * norm_replicas();
      const std::vector<MemoryTerm> memory = memory_terms(spec_, kernels, shape);
      if (spec_.check_memory) check_fits(memory, hardware_.memory_size, fmt::format("a GPU of stage {}", shape.stage));
      for (std::uint32_t e = 0; e < roles_per_stage(); ++e) {
        StageResult stage = StageWriter{spec_, model_, shape, routing_, e, writer_}.write();
        stage.facts.memory = memory;
        workload_.roles.push_back(stage.facts);
        if (e == 0) slots_.push_back(stage.slots);
        if (roles_per_stage() > 1) stage.role.name += fmt::format(", experts {}", e);
        templates_.push_back(writer_.add_template(std::move(stage.role)));
        add_times(stage, e == 0);
      }
    }
  }

  /// Ranks that differ in their experts' load have templates of their own.
  [[nodiscard]] std::uint32_t roles_per_stage() const {
    return spec_.model.moe.experts > 0 && routing_.is_uneven() ? spec_.parallel.ep : 1;
  }
  /// Of several roles of a stage, the one that does least: for a lower bound.
  void add_times(const StageResult& stage, bool first_of_stage) {
    PipelineFacts& p = workload_.pipeline;
    const auto add = [&](std::vector<sim::Duration>& times, sim::Duration time) {
      if (first_of_stage) {
        times.push_back(time);
      } else {
        times.back() = std::min(times.back(), time);
      }
    };
    add(p.forward, stage.forward);
    add(p.backward, stage.backward);
    add(p.after_hand_off, stage.after_hand_off);
    add(p.first_chunk, stage.first_chunk);
  }

  void write_ranks() {
    const ParallelSpec& p = spec_.parallel;
    using D = Dimension;
    tp_ = write_groups(writer_, "tp", layout_, {D::tp});
    cp_ = write_groups(writer_, "cp", layout_, {D::cp});
    dp_ = map_.copies() == 1
              ? write_groups(writer_, "dp", layout_, {D::cp, D::dp})
              : write_groups(writer_, "dp",
                             group_by(layout_.ranks(), [&](std::uint32_t r) { return with_dp(first_of_cp(nearer(r)), 0); }));
    norm_ = norm_replicas() == 1 ? write_groups(writer_, "norm", layout_, {D::tp, D::pp})
            : !sharding_.hybrid
                ? write_groups(writer_, "norm", layout_, {D::tp, D::cp, D::dp, D::pp})
                : write_groups(writer_, "norm",
                               group_by(layout_.ranks(), [&](std::uint32_t r) { return dp_of(r) / p.shard_group; }));
    const auto same_copy = [&](std::uint32_t r) { return with_dp(r, dp_of(r) / p.shard_group * p.shard_group); };
    const auto same_shard = [&](std::uint32_t r) { return with_dp(r, dp_of(r) % p.shard_group); };
    if (p.ep > 1) {
      ep_ = write_groups(writer_, "ep",
                         group_by(layout_.ranks(), [&](std::uint32_t r) { return with_dp(r, dp_of(r) / p.ep * p.ep); }));
    }
    if (spec_.routing.node_limit) write_node_groups();
    if (spec_.model.moe.experts > 0 && sharding_.expert_replicas > 1) {
      edp_ = write_groups(writer_, "edp", group_by(layout_.ranks(), [&](std::uint32_t r) {
                            return with_dp(first_of_cp(nearer(r)), dp_of(r) % p.ep);
                          }));
    }
    if (sharding_.hybrid) {
      shard_ = write_groups(writer_, "shard", group_by(layout_.ranks(), same_copy));
      replicas_ = write_groups(writer_, "replicas", group_by(layout_.ranks(), same_shard));
    }
    if (sharding_.stage == 3 && sharding_.replicas > 1) {
      gather_ = sharding_.hybrid ? write_groups(writer_, "gather", group_by(layout_.ranks(), same_copy))
                                 : write_groups(writer_, "gather", layout_, {D::cp, D::dp});
    }
    if (!map_.ends_meet() && spec_.model.tied_embeddings) embedding_ = make_embedding_groups(writer_, layout_);
    write_channels();
    std::vector<sim::Slot> slots;
    for (std::uint32_t r = 0; r < layout_.ranks(); ++r) {
      Coordinates at = layout_.coordinates(sim::RankId{r});
      at.ep = at.dp % p.ep;
      slots.clear();
      for (const SlotUse use : slots_[at.pp]) slots.push_back(slot(use, r, at));
      const std::uint32_t role = at.pp * roles_per_stage() + (roles_per_stage() > 1 ? at.ep : 0);
      writer_.add_rank(templates_[role], slots);
      workload_.coordinates.push_back(at);
    }
  }

  [[nodiscard]] std::uint32_t dp_of(std::uint32_t rank) const {
    return layout_.coordinate(sim::RankId{rank}, Dimension::dp);
  }
  [[nodiscard]] std::uint32_t with_dp(std::uint32_t rank, std::uint32_t dp) const {
    return index(layout_.moved(sim::RankId{rank}, Dimension::dp, dp));
  }
  [[nodiscard]] std::uint32_t first_of_cp(std::uint32_t rank) const {
    return index(layout_.moved(sim::RankId{rank}, Dimension::cp, 0));
  }
  /// The rank itself, or of a bidirectional pipeline its mirror image if that is on a lower stage.
  [[nodiscard]] std::uint32_t nearer(std::uint32_t rank) const {
    const std::uint32_t stage = layout_.coordinate(sim::RankId{rank}, Dimension::pp);
    if (map_.copies() == 1 || stage < spec_.parallel.pp - stage) return rank;
    return index(layout_.moved(sim::RankId{rank}, Dimension::pp, spec_.parallel.pp - 1 - stage));
  }
  /// Data-parallel ranks that hold different parts of the gradients when the norm is taken.
  [[nodiscard]] std::uint32_t norm_replicas() const {
    if (sharding_.stage == 0 && spec_.parallel.ep == 1) return 1;
    return sharding_.hybrid ? spec_.parallel.shard_group : spec_.parallel.dp * spec_.parallel.cp;
  }
  /// Expert-parallel groups cut into scale-up domains, each with as many consecutive members.
  void write_node_groups() {
    const std::uint32_t ep = spec_.parallel.ep;
    const auto domain = [&](std::uint32_t r) { return cluster_.domain[index(writer_.gpu_of()[r])]; };
    std::uint32_t size = 1;  // members of a domain, as the first group has them
    const auto member = [&](std::uint32_t base, std::uint32_t e) { return with_dp(base, dp_of(base) / ep * ep + e); };
    while (size < ep && domain(member(0, size)) == domain(0)) ++size;
    const std::uint32_t domains = ep / size;
    bool regular = ep % size == 0;
    for (std::uint32_t r = 0; regular && r < layout_.ranks(); ++r) {
      const std::uint32_t e = dp_of(r) % ep;
      regular = domain(r) == domain(member(r, e / size * size)) && (e < size || domain(r) != domain(member(r, e - size)));
    }
    if (!regular || domains < 2) {
      throw sim::InputError{
          "routing: node_limit needs expert-parallel groups that span scale-up domains, with equally many "
          "consecutive members in each"};
    }
    if (*spec_.routing.node_limit >= domains) {
      throw sim::InputError{fmt::format("routing: node_limit {} is no limit: an expert-parallel group spans {} domains",
                                        *spec_.routing.node_limit, domains)};
    }
    const auto same_place = [&](std::uint32_t r) { return member(r, dp_of(r) % ep % size); };
    const auto same_domain = [&](std::uint32_t r) { return member(r, dp_of(r) % ep / size * size); };
    ep_rail_ = write_groups(writer_, "ep_rail", group_by(layout_.ranks(), same_place));
    ep_node_ = write_groups(writer_, "ep_node", group_by(layout_.ranks(), same_domain));
  }
  /// The same rank of another stage.
  [[nodiscard]] std::uint32_t neighbour(std::uint32_t rank, std::uint32_t stage, std::uint32_t distance) const {
    return index(layout_.moved(sim::RankId{rank}, Dimension::pp, (stage + distance) % spec_.parallel.pp));
  }
  [[nodiscard]] std::uint32_t next(std::uint32_t rank, std::uint32_t stage) const { return neighbour(rank, stage, 1); }
  [[nodiscard]] std::uint32_t previous(std::uint32_t rank, std::uint32_t stage) const {
    return neighbour(rank, stage, spec_.parallel.pp - 1);
  }

  void write_channels() {
    for (auto* channels : {&forward_, &backward_, &forward_up_, &backward_up_}) channels->resize(layout_.ranks());
    for (std::uint32_t r = 0; r < layout_.ranks(); ++r) {
      const std::uint32_t stage = layout_.coordinate(sim::RankId{r}, Dimension::pp);
      bool down = false, up = false;
      for (std::uint32_t c = 0; c < map_.chunks(); ++c) {
        down |= map_.output(stage, c) == Peer::next;
        up |= map_.output(stage, c) == Peer::previous;
      }
      const auto connect = [&](std::uint32_t peer, sim::ChannelId& forward, sim::ChannelId& backward) {
        forward = writer_.channel(sim::RankId{r}, sim::RankId{peer});
        backward = writer_.channel(sim::RankId{peer}, sim::RankId{r});
      };
      if (down) connect(next(r, stage), forward_[r], backward_[r]);
      if (up) connect(previous(r, stage), forward_up_[r], backward_up_[r]);
    }
  }

  [[nodiscard]] sim::Slot slot(SlotUse use, std::uint32_t rank, const Coordinates& at) const {
    switch (use) {
      case SlotUse::tp:
        return tp_.slot(rank);
      case SlotUse::cp:
        return cp_.slot(rank);
      case SlotUse::dp:
        return dp_.slot(rank);
      case SlotUse::shard:
        return shard_.slot(rank);
      case SlotUse::replicas:
        return replicas_.slot(rank);
      case SlotUse::ep:
        return ep_.slot(rank);
      case SlotUse::ep_rail:
        return ep_rail_.slot(rank);
      case SlotUse::ep_node:
        return ep_node_.slot(rank);
      case SlotUse::edp:
        return edp_.slot(rank);
      case SlotUse::gather:
        return gather_.slot(rank);
      case SlotUse::norm:
        return norm_.slot(rank);
      case SlotUse::embedding:
        return embedding_.slot(rank);
      case SlotUse::forward_send:
        return {index(forward_[rank]), 0};
      case SlotUse::backward_receive:
        return {index(backward_[rank]), 0};
      case SlotUse::forward_receive:
        return {index(forward_[previous(rank, at.pp)]), 0};
      case SlotUse::backward_send:
        return {index(backward_[previous(rank, at.pp)]), 0};
      case SlotUse::forward_send_up:
        return {index(forward_up_[rank]), 0};
      case SlotUse::backward_receive_up:
        return {index(backward_up_[rank]), 0};
      case SlotUse::forward_receive_up:
        return {index(forward_up_[next(rank, at.pp)]), 0};
      case SlotUse::backward_send_up:
        return {index(backward_up_[next(rank, at.pp)]), 0};
    }
    throw sim::InternalError{"a slot use outside the enumeration"};
  }

  void count() {
    const ParallelSpec& p = spec_.parallel;
    const ModelSpec& m = spec_.model;
    workload_.pipeline.stages = p.pp;
    workload_.pipeline.microbatches = microbatches_of_replica(spec_);
    workload_.pipeline.chunks = map_.chunks();
    workload_.pipeline.schedule = name_of(p.schedule);
    workload_.tokens_per_step = static_cast<double>(spec_.global_batch) * m.sequence;
    const StepFlop flop = step_flop(spec_, spec_.mfu);
    workload_.model_flop_per_step = flop.model;
    workload_.hardware_flop_per_step = flop.hardware;
    workload_.flop_convention = name_of(spec_.mfu);
    workload_.peak_per_gpu = model_.peak();
    workload_.parameters = parameter_count(m);
    workload_.padded_vocabulary = padded_vocabulary(spec_);
    workload_.memory_capacity = hardware_.memory_size;
    const std::string experts = p.ep > 1 ? fmt::format(" EP {}", p.ep) : "";
    const std::string context = p.cp > 1 ? fmt::format(" CP {}", p.cp) : "";
    const std::string chunks = p.virtual_stages > 1 ? fmt::format(" x {}", p.virtual_stages) : "";
    workload_.description =
        fmt::format("{}: TP {}{} PP {} DP {}{}, {}{}{}, micro-batch {}, global batch {}, {}, recompute {}",
                    m.name.empty() ? "transformer" : m.name, p.tp, context, p.pp, p.dp, experts, name_of(p.schedule), chunks,
                    p.sequence_parallel ? ", SP" : "", spec_.micro_batch, spec_.global_batch, name_of(spec_.precision),
                    name_of(spec_.recompute));
  }

  const TransformerSpec& spec_;
  const WorkloadSpec& common_;
  const HardwareSpec& hardware_;
  const Cluster& cluster_;
  KernelModel model_;
  ExpertRouting routing_;
  PipelineMap map_;
  Sharding sharding_;
  Layout layout_;
  ProgramWriter writer_;
  Workload workload_;
  std::vector<std::vector<SlotUse>> slots_;  // by stage
  std::vector<sim::TemplateId> templates_;   // by stage, then role of the stage
  Groups tp_, cp_, dp_, ep_, ep_rail_, ep_node_, edp_, shard_, replicas_, gather_, norm_, embedding_;
  // By rank: to the next stage and back from it; to the previous stage and back from it.
  std::vector<sim::ChannelId> forward_, backward_, forward_up_, backward_up_;
};

}  // namespace

void check_transformer(const TransformerSpec& spec) {
  check_model(spec.model);
  const ModelSpec& m = spec.model;
  const ParallelSpec& p = spec.parallel;
  must_be_positive(p.tp, "tp");
  must_be_positive(p.pp, "pp");
  must_be_positive(p.dp, "dp");
  must_be_positive(p.virtual_stages, "virtual_stages");
  must_be_positive(p.ep, "ep");
  must_be_positive(p.cp, "cp");
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
  (void)layers_of_positions(spec);
  for (const ParallelProblem& problem : parallel_problems(spec)) {
    throw sim::InputError{fmt::format("{} {}", problem.field, problem.message)};
  }
  for (const ParallelProblem& problem : recompute_problems(spec)) {
    throw sim::InputError{fmt::format("{} {}", problem.field, problem.message)};
  }
  for (const ParallelProblem& problem : routing_problems(spec)) {
    throw sim::InputError{fmt::format("routing: {} {}", problem.field, problem.message)};
  }
  if (p.scatter_gather && p.sequence_parallel) {
    throw sim::InputError{"scatter_gather has no effect with sequence_parallel, which already sends 1/tp; leave one out"};
  }
  if (p.scatter_gather && (p.tp == 1 || p.pp == 1)) {
    throw sim::InputError{"scatter_gather needs tp and pp above 1"};
  }
  if (p.overlap_param_gather && Sharding{p}.stage == 0) {
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
