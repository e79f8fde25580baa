// WorkloadSpec: what is to be run, as plain values with units: the structs that a scenario's `workload:` section becomes.
//
// One of four kinds of job, and what every job shares: where its ranks sit, which GPUs are slow, how many steps are played.
// What a field does is said beside it; build.h turns a spec into a Program. Defaults here are the defaults of the schema.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "sim/units.h"
#include "workloads/collectives/collectives.h"
#include "workloads/enum_names.h"
#include "workloads/hardware_spec.h"
#include "workloads/model_spec.h"
#include "workloads/precision.h"

namespace traingraph::workloads {

/// Pipeline schedules; schedule.h says what each one does.
enum class ScheduleKind : std::uint8_t { one_f_one_b, gpipe, zb_h1, zb_v, dualpipe };
inline constexpr std::array kScheduleKindNames{
    EnumName<ScheduleKind>{ScheduleKind::one_f_one_b, "1f1b"}, EnumName<ScheduleKind>{ScheduleKind::gpipe, "gpipe"},
    EnumName<ScheduleKind>{ScheduleKind::zb_h1, "zb_h1"}, EnumName<ScheduleKind>{ScheduleKind::zb_v, "zb_v"},
    EnumName<ScheduleKind>{ScheduleKind::dualpipe, "dualpipe"}};
[[nodiscard]] constexpr std::span<const EnumName<ScheduleKind>> enum_names(ScheduleKind) { return kScheduleKindNames; }

/// Context parallelism: how a query meets the keys of other ranks (layer_kernels.h).
enum class ContextParallelKind : std::uint8_t { ring, all_gather, ulysses };
inline constexpr std::array kContextParallelKindNames{
    EnumName<ContextParallelKind>{ContextParallelKind::ring, "ring"},
    EnumName<ContextParallelKind>{ContextParallelKind::all_gather, "all_gather"},
    EnumName<ContextParallelKind>{ContextParallelKind::ulysses, "ulysses"}};
[[nodiscard]] constexpr std::span<const EnumName<ContextParallelKind>> enum_names(ContextParallelKind) {
  return kContextParallelKindNames;
}

/// How often gradients are reduced over data-parallel ranks.
enum class GradientReduction : std::uint8_t { automatic, step, microbatch };
inline constexpr std::array kGradientReductionNames{
    EnumName<GradientReduction>{GradientReduction::automatic, "auto"},
    EnumName<GradientReduction>{GradientReduction::step, "step"},
    EnumName<GradientReduction>{GradientReduction::microbatch, "microbatch"}};
[[nodiscard]] constexpr std::span<const EnumName<GradientReduction>> enum_names(GradientReduction) {
  return kGradientReductionNames;
}

enum class Recompute : std::uint8_t { none, selective, full };
inline constexpr std::array kRecomputeNames{EnumName<Recompute>{Recompute::none, "none"},
                                            EnumName<Recompute>{Recompute::selective, "selective"},
                                            EnumName<Recompute>{Recompute::full, "full"}};
[[nodiscard]] constexpr std::span<const EnumName<Recompute>> enum_names(Recompute) { return kRecomputeNames; }

enum class Attention : std::uint8_t { unfused, flash, cudnn };
inline constexpr std::array kAttentionNames{EnumName<Attention>{Attention::unfused, "unfused"},
                                            EnumName<Attention>{Attention::flash, "flash"},
                                            EnumName<Attention>{Attention::cudnn, "cudnn"}};
[[nodiscard]] constexpr std::span<const EnumName<Attention>> enum_names(Attention) { return kAttentionNames; }

/// How model FLOP are counted for MFU; formulas in flops.h.
enum class FlopConvention : std::uint8_t { megatron, palm };
inline constexpr std::array kFlopConventionNames{EnumName<FlopConvention>{FlopConvention::megatron, "megatron"},
                                                 EnumName<FlopConvention>{FlopConvention::palm, "palm"}};
[[nodiscard]] constexpr std::span<const EnumName<FlopConvention>> enum_names(FlopConvention) { return kFlopConventionNames; }

enum class PlacementKind : std::uint8_t { in_order, list, random, scattered };
inline constexpr std::array kPlacementKindNames{EnumName<PlacementKind>{PlacementKind::in_order, "in_order"},
                                                EnumName<PlacementKind>{PlacementKind::list, "list"},
                                                EnumName<PlacementKind>{PlacementKind::random, "random"},
                                                EnumName<PlacementKind>{PlacementKind::scattered, "scattered"}};
[[nodiscard]] constexpr std::span<const EnumName<PlacementKind>> enum_names(PlacementKind) { return kPlacementKindNames; }

/// Which GPU each rank runs on (placement.h).
struct PlacementSpec {
  PlacementKind kind = PlacementKind::in_order;
  std::vector<std::uint32_t> gpus;  ///< list: the GPU of rank 0, 1, ...
  std::uint64_t seed = 1;           ///< random: order of the scale-up domains
};

/// A straggler: every kernel of that GPU takes `factor` times as long (host launch time included).
struct SlowGpu {
  std::uint32_t gpu = 0;  ///< number in the fabric
  double factor = 1;      ///< > 0
};

/// How a router spreads tokens over the experts of a layer (expert_routing.h).
enum class RoutingDistribution : std::uint8_t { uniform, zipf, measured };
inline constexpr std::array kRoutingDistributionNames{
    EnumName<RoutingDistribution>{RoutingDistribution::uniform, "uniform"},
    EnumName<RoutingDistribution>{RoutingDistribution::zipf, "zipf"},
    EnumName<RoutingDistribution>{RoutingDistribution::measured, "measured"}};
[[nodiscard]] constexpr std::span<const EnumName<RoutingDistribution>> enum_names(RoutingDistribution) {
  return kRoutingDistributionNames;
}

struct RoutingSpec {
  RoutingDistribution distribution = RoutingDistribution::uniform;
  double zipf_exponent = 1;                 ///< zipf: shares proportional to 1/k^exponent
  std::uint64_t seed = 1;                   ///< zipf: which expert has which share, drawn for each layer
  std::vector<double> histogram;            ///< measured: tokens (or shares) of each expert
  std::optional<double> capacity_factor;    ///< every expert's buffer is this times its balanced load, padded or cut
  std::optional<std::uint32_t> node_limit;  ///< a token's experts are on at most so many scale-up domains; none: anywhere
  bool overlap_shared_experts = false;      ///< shared experts run beside dispatch and combine
};

/// The algorithm of each kind of collective on each kind of communicator.
struct AlgorithmSpec {
  Algorithm tp_all_reduce = Algorithm::ring;
  Algorithm tp_all_gather = Algorithm::ring;
  Algorithm tp_reduce_scatter = Algorithm::ring;
  Algorithm dp_all_reduce = Algorithm::ring;
  Algorithm dp_all_gather = Algorithm::ring;
  Algorithm dp_reduce_scatter = Algorithm::ring;
  Algorithm cp_all_gather = Algorithm::ring;
  Algorithm cp_reduce_scatter = Algorithm::ring;
  Algorithm cp_all_to_all = Algorithm::direct;
  Algorithm ep_all_to_all = Algorithm::direct;       ///< dispatch and combine of balanced experts
  Algorithm embedding_all_reduce = Algorithm::ring;  ///< tied embedding, between first and last stage
  Algorithm scalar_all_reduce = Algorithm::tree;     ///< gradient norm, loss: a few bytes, so latency decides
};

/// Degrees of the parallel layout. TP·CP·PP·DP must equal the GPUs used.
struct ParallelSpec {
  std::optional<std::uint32_t> gpus;  ///< GPUs used; none: every GPU of the fabric, or as many as a placement list names
  std::uint32_t tp = 1;
  std::uint32_t pp = 1;
  std::uint32_t dp = 1;
  std::uint32_t cp = 1;  ///< context-parallel degree: each rank has 1/CP of every sequence
  ContextParallelKind cp_attention = ContextParallelKind::ring;
  std::uint32_t ep = 1;  ///< expert-parallel degree, a divisor of DP: EP consecutive DP ranks share one copy of the experts
  std::string order =
      "tp-cp-ep-dp-pp";            ///< fastest first; a permutation of tp, cp, dp, pp (ep may be named; it is inside dp)
  bool sequence_parallel = false;  ///< activations between TP regions are sharded over TP (Korthikanti et al. 2022)
  ScheduleKind schedule = ScheduleKind::one_f_one_b;
  std::uint32_t virtual_stages =
      1;  ///< v of 1f1b and gpipe: chunks of layers per stage, interleaved (Narayanan et al. 2021)
  /// Of each stage; with v chunks per stage of each of the PP·v virtual stages, in the model's order. Empty: equal shares.
  std::vector<std::uint32_t> layers_per_stage;
  bool scatter_gather = false;         ///< stage boundary: each TP rank sends 1/TP, the receivers all-gather over TP
  bool distributed_optimizer = false;  ///< ZeRO-1: reduce-scatter of gradients, sharded optimizer, all-gather of parameters
  std::uint32_t zero_stage = 0;        ///< 0 to 3, sharding.h; distributed_optimizer is another name of 1
  std::uint32_t shard_group = 0;       ///< hybrid sharding: ranks that share one copy; 0: all DP ranks
  bool reshard_after_forward = true;   ///< ZeRO-3: parameters are freed after forward and gathered again for backward
  std::uint32_t prefetch_layers = 1;   ///< ZeRO-3: how many units ahead of its use a unit is gathered
  /// auto: once a step for ZeRO stages 0 and 1, after each micro-batch for 2 and 3.
  GradientReduction gradient_reduction = GradientReduction::automatic;
  bool overlap_grad_reduce = false;       ///< gradient buckets are reduced during the last backward pass
  bool overlap_param_gather = false;      ///< parameter buckets are gathered during the next step's first forward pass
  std::optional<sim::Bytes> bucket_size;  ///< gradient bytes per bucket; none: one bucket for all
  bool overlap_tp_backward = false;       ///< weight-gradient products run beside the TP collective of their input gradient
};

/// One training step of a transformer.
struct TransformerSpec {
  ModelSpec model;
  ParallelSpec parallel;
  std::uint32_t micro_batch = 1;   ///< b, sequences
  std::uint32_t global_batch = 0;  ///< B, sequences; a multiple of DP·b
  Precision precision = Precision::bf16;
  GradientType gradient_type = GradientType::fp32;
  Attention attention{};  ///< no default in the schema: it decides memory and time
  Recompute recompute = Recompute::none;
  std::optional<std::uint32_t> recompute_layers;  ///< the first so many layers of each chunk are recomputed; none: all
  std::uint32_t vocabulary_multiple =
      128;              ///< the table is padded to a multiple of this times TP; 1: the least that TP divides
  RoutingSpec routing;  ///< of MoE layers
  AlgorithmSpec algorithms;
  FlopConvention mfu = FlopConvention::megatron;
  bool check_memory = true;         ///< an error when a GPU cannot hold its share
  double memory_fragmentation = 0;  ///< fraction of all other terms that the allocator loses
  SoftwareSpec software;
};

/// The paper's workload: blocks of two linear layers, hidden d and ff, no attention; see linear_blocks.h. Degrees are given
/// per network level, innermost first; all lists have the same length, but ep, which may be left empty.
struct LinearBlocksSpec {
  std::optional<std::uint32_t> gpus;        ///< GPUs used, the product of all degrees; none: as in ParallelSpec
  double hidden = 0;                        ///< d, real-valued
  double ff = 0;                            ///< inner width, real-valued
  std::uint32_t blocks = 0;                 ///< L; PP must divide it
  double batch_tokens = 0;                  ///< tokens per optimizer step, real-valued
  std::uint32_t microbatches = 1;           ///< m, per data-parallel rank
  std::vector<std::uint32_t> tp_ff{1};      ///< tensor-parallel degree over ff, per level
  std::vector<std::uint32_t> tp_hidden{1};  ///< tensor-parallel degree over d, per level
  std::vector<std::uint32_t> ep;            ///< expert-parallel degree; EP divides the experts. Empty: 1
  std::vector<std::uint32_t> pp{1};
  std::vector<std::uint32_t> dp{1};
  std::uint32_t experts = 1;                          ///< E of every block, each of ff x d; 1: a dense model
  std::uint32_t active_experts = 1;                   ///< k of them, for each token
  ScheduleKind schedule = ScheduleKind::one_f_one_b;  ///< 1f1b or gpipe
  std::uint32_t virtual_stages = 1;    ///< v: chunks of blocks per stage, interleaved; blocks/PP: maximal interleaving
  bool defer_weight_gradients = true;  ///< weight gradients run beside the collective of their input gradient
  bool keep_weights_resident = false;  ///< all of a GPU's matrices count in the residency test of mm
  Algorithm tp_all_reduce = Algorithm::ring;
  Algorithm dp_all_reduce = Algorithm::ring;
  Algorithm ep_all_to_all = Algorithm::direct;
};

/// One collective on a group of GPUs, again and again, as nccl-tests does.
struct CollectiveRunSpec {
  CollectiveKind collective = CollectiveKind::all_reduce;
  Algorithm algorithm = Algorithm::ring;
  sim::Bytes bytes;                       ///< full buffer, as nccl-tests counts it
  std::uint32_t ranks = 0;                ///< members; 0: every GPU of the fabric
  std::uint32_t iterations = 1;           ///< back to back in one step
  std::vector<sim::Duration> late_entry;  ///< per rank, before the first iteration; empty: nobody is late
  CollectiveOptions options;              ///< root, pieces, ... (domain_size 0: taken from the fabric)
};

enum class TaskKind : std::uint8_t { compute, send, receive, collective, marker };
inline constexpr std::array kTaskKindNames{
    EnumName<TaskKind>{TaskKind::compute, "compute"}, EnumName<TaskKind>{TaskKind::send, "send"},
    EnumName<TaskKind>{TaskKind::receive, "receive"}, EnumName<TaskKind>{TaskKind::collective, "collective"},
    EnumName<TaskKind>{TaskKind::marker, "marker"}};
[[nodiscard]] constexpr std::span<const EnumName<TaskKind>> enum_names(TaskKind) { return kTaskKindNames; }

/// One task of a user-written program. Tasks of one rank on one stream run in the order of the list; `after` names further
/// tasks of the same rank. Ranks meet by send/receive (messages of a pair arrive in order) and by collectives on a named
/// group (calls match by order). A collective is one task, played by every member of its group but those in `except`, who
/// still belong to the communicator: another task must make the same call for them, or the collective never completes.
struct CustomTask {
  std::string id;  ///< unique
  TaskKind kind = TaskKind::compute;
  std::uint32_t rank = 0;  ///< ignored by collective
  std::uint32_t stream = 0;
  sim::Duration duration;             ///< compute
  sim::Bytes bytes;                   ///< send (the receive takes what comes), collective
  std::uint32_t peer = 0;             ///< send: destination rank; receive: source rank
  std::string group;                  ///< collective: name in CustomProgramSpec::groups
  std::vector<std::uint32_t> except;  ///< collective: ranks of the group that do not make this call
  CollectiveKind collective = CollectiveKind::all_reduce;
  Algorithm algorithm = Algorithm::ring;
  std::shared_ptr<const BytesMatrix> matrix;  ///< all_to_all_v: by member of the group
  std::vector<std::string> after;
};

struct CustomGroup {
  std::string name;
  std::vector<std::uint32_t> ranks;  ///< in ring order
};

struct CustomProgramSpec {
  std::uint32_t ranks = 0;  ///< 0: one more than the largest rank named
  std::vector<CustomGroup> groups;
  std::vector<CustomTask> tasks;
};

struct WorkloadSpec {
  std::variant<TransformerSpec, LinearBlocksSpec, CollectiveRunSpec, CustomProgramSpec> job;
  PlacementSpec placement;
  std::vector<SlowGpu> slow_gpus;
  std::uint32_t steps = 3;  ///< consecutive steps played; the last one is reported
};

}  // namespace traingraph::workloads
