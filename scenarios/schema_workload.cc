#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "scenarios/schema.h"
#include "scenarios/variant_fields.h"
#include "workloads/size_limits.h"

namespace traingraph::scenarios {

namespace {

using workloads::Algorithm;
using workloads::BytesMatrix;
using workloads::CollectiveKind;
using workloads::CollectiveRunSpec;
using workloads::CustomGroup;
using workloads::CustomProgramSpec;
using workloads::CustomTask;
using workloads::LinearBlocksSpec;
using workloads::ParallelSpec;
using workloads::SlowGpu;
using workloads::TransformerSpec;

template <class E>
Words<E> words_from(std::span<const E> values) {
  Words<E> words;
  for (const E value : values) words.emplace_back(to_string(value), value);
  return words;
}

/// The algorithms of a collective.
Words<Algorithm> algorithms(CollectiveKind kind) { return words_from(workloads::algorithms_of(kind)); }
Words<Algorithm> any_algorithm() { return words_from(workloads::all_algorithms()); }
Words<CollectiveKind> any_collective() { return words_from(workloads::all_collective_kinds()); }

/// `collective` and `algorithm`, whose words and default depend on the first.
void collective_and_algorithm(Fields& f, CollectiveKind& kind, Algorithm& algorithm) {
  f.leaf({.name = "collective", .doc = "what is computed", .need = kRequired}, leaf(kind, any_collective()));
  if (f.visit() == Visit::read) algorithm = workloads::default_algorithm(kind);
  f.leaf({.name = "algorithm", .doc = "how; default: the collective's first"},
         leaf(algorithm, f.visit() == Visit::describe ? any_algorithm() : algorithms(kind)));
}

void algorithm_fields(Fields& f, workloads::AlgorithmSpec& a) {
  const auto all_reduce = algorithms(CollectiveKind::all_reduce);
  const auto all_gather = algorithms(CollectiveKind::all_gather);
  const auto reduce_scatter = algorithms(CollectiveKind::reduce_scatter);
  f.leaf({.name = "tp_all_reduce", .doc = "tensor-parallel groups"}, leaf(a.tp_all_reduce, all_reduce));
  f.leaf({.name = "tp_all_gather", .doc = "tensor-parallel groups"}, leaf(a.tp_all_gather, all_gather));
  f.leaf({.name = "tp_reduce_scatter", .doc = "tensor-parallel groups"}, leaf(a.tp_reduce_scatter, reduce_scatter));
  f.leaf({.name = "dp_all_reduce", .doc = "data-parallel groups"}, leaf(a.dp_all_reduce, all_reduce));
  f.leaf({.name = "dp_all_gather", .doc = "data-parallel groups"}, leaf(a.dp_all_gather, all_gather));
  f.leaf({.name = "dp_reduce_scatter", .doc = "data-parallel groups"}, leaf(a.dp_reduce_scatter, reduce_scatter));
  f.leaf({.name = "cp_all_gather", .doc = "context-parallel groups"}, leaf(a.cp_all_gather, all_gather));
  f.leaf({.name = "cp_reduce_scatter", .doc = "context-parallel groups"}, leaf(a.cp_reduce_scatter, reduce_scatter));
  f.leaf({.name = "cp_all_to_all", .doc = "context-parallel groups (ulysses)"},
         leaf(a.cp_all_to_all, algorithms(CollectiveKind::all_to_all)));
  f.leaf({.name = "ep_all_to_all", .doc = "dispatch and combine of balanced experts"},
         leaf(a.ep_all_to_all, algorithms(CollectiveKind::all_to_all)));
  f.leaf({.name = "embedding_all_reduce", .doc = "tied embedding, between first and last stage"},
         leaf(a.embedding_all_reduce, all_reduce));
  f.leaf({.name = "scalar_all_reduce", .doc = "gradient norm and loss: a few bytes"}, leaf(a.scalar_all_reduce, all_reduce));
}

void parallel_fields(Fields& f, ParallelSpec& p) {
  f.leaf(
      {.name = "gpus", .doc = "GPUs used; the others stay idle", .if_absent = "all, or as many as a placement list names"},
      leaf(p.gpus, kAtLeastOne));
  f.leaf({.name = "tp", .doc = "tensor-parallel degree"}, leaf(p.tp, kAtLeastOne));
  f.leaf({.name = "pp", .doc = "pipeline stages"}, leaf(p.pp, kAtLeastOne));
  f.leaf({.name = "dp", .doc = "data-parallel degree"}, leaf(p.dp, kAtLeastOne));
  f.leaf({.name = "cp", .doc = "context-parallel degree"}, leaf(p.cp, kAtLeastOne));
  f.leaf({.name = "cp_attention", .doc = "how context-parallel ranks exchange keys and values"}, leaf(p.cp_attention));
  f.leaf({.name = "ep", .doc = "expert-parallel degree; divides DP"}, leaf(p.ep, kAtLeastOne));
  f.leaf({.name = "order", .doc = "rank order, fastest first"}, leaf(p.order));
  f.leaf({.name = "sequence_parallel", .doc = "activations between TP regions are sharded over TP"},
         leaf(p.sequence_parallel));
  f.leaf({.name = "schedule", .doc = "pipeline schedule"}, leaf(p.schedule));
  f.leaf({.name = "virtual_stages", .doc = "chunks of layers per stage, interleaved; 1f1b and gpipe"},
         leaf(p.virtual_stages, kAtLeastOne));
  f.list({.name = "layers_per_stage", .doc = "layers of each stage, or of each virtual stage; empty: equal shares"},
         p.layers_per_stage);
  f.leaf({.name = "scatter_gather", .doc = "stage boundary: each TP rank sends 1/TP"}, leaf(p.scatter_gather));
  f.leaf(
      {.name = "distributed_optimizer", .doc = "ZeRO-1: gradients reduce-scattered, optimizer sharded, parameters gathered"},
      leaf(p.distributed_optimizer));
  f.leaf({.name = "zero_stage", .doc = "ZeRO: 1 shards the optimizer, 2 gradients too, 3 parameters too (FSDP)"},
         leaf(p.zero_stage, Range{.high = 3}));
  f.leaf({.name = "shard_group", .doc = "hybrid sharding: ranks that share one copy; auto: all of DP"},
         or_auto(p.shard_group));
  f.leaf({.name = "reshard_after_forward", .doc = "ZeRO-3: parameters are gathered again for backward"},
         leaf(p.reshard_after_forward));
  f.leaf({.name = "prefetch_layers", .doc = "ZeRO-3: how many layers ahead of its use a layer is gathered"},
         leaf(p.prefetch_layers));
  f.leaf({.name = "gradient_reduction", .doc = "auto: once a step for ZeRO 0 and 1, after each micro-batch for 2 and 3"},
         leaf(p.gradient_reduction));
  f.leaf({.name = "overlap_grad_reduce", .doc = "gradients are reduced beside backward passes"},
         leaf(p.overlap_grad_reduce));
  f.leaf({.name = "overlap_param_gather", .doc = "parameter buckets are gathered during the next first forward pass"},
         leaf(p.overlap_param_gather));
  f.leaf({.name = "bucket_size", .doc = "gradient bytes of a bucket", .if_absent = "one bucket for all"},
         leaf(p.bucket_size, kPositive));
  f.leaf({.name = "overlap_tp_backward", .doc = "weight-gradient products run beside their TP collective"},
         leaf(p.overlap_tp_backward));
}

void routing_fields(Fields& f, workloads::RoutingSpec& r) {
  using workloads::RoutingDistribution;
  f.leaf({.name = "distribution", .doc = "how tokens are spread over the experts of a layer"}, leaf(r.distribution));
  f.when("distribution zipf", r.distribution == RoutingDistribution::zipf, [&] {
    f.leaf({.name = "zipf_exponent", .doc = "shares proportional to 1/k^exponent"}, leaf(r.zipf_exponent, kPositive));
    f.leaf({.name = "seed", .doc = "which expert has which share, drawn for each layer"}, leaf(r.seed));
  });
  f.when("distribution measured", r.distribution == RoutingDistribution::measured,
         [&] { f.list({.name = "histogram", .doc = "tokens or shares of each expert", .need = kRequired}, r.histogram); });
  f.leaf({.name = "capacity_factor",
          .doc = "buffers of so many times the balanced load, padded or cut",
          .if_absent = "as many tokens as are routed"},
         leaf(r.capacity_factor, kPositive));
  f.leaf({.name = "node_limit", .doc = "a token's experts are on at most so many scale-up domains", .if_absent = "anywhere"},
         leaf(r.node_limit, kAtLeastOne));
  f.leaf({.name = "overlap_shared_experts", .doc = "shared experts run beside dispatch and combine"},
         leaf(r.overlap_shared_experts));
}

void transformer_fields(Fields& f, TransformerSpec& t) {
  f.group({.name = "model", .doc = "the model's shape", .need = kRequired, .preset_folder = "models"},
          [&] { fields(f, t.model); });
  f.group({.name = "parallel", .doc = "parallel layout"}, [&] { parallel_fields(f, t.parallel); });
  f.leaf({.name = "micro_batch", .doc = "sequences of a micro-batch"}, leaf(t.micro_batch, kAtLeastOne));
  f.leaf({.name = "global_batch", .doc = "sequences of a step", .need = kRequired}, leaf(t.global_batch, kAtLeastOne));
  f.leaf({.name = "precision", .doc = "of matrix products, weights and activations"}, leaf(t.precision));
  f.leaf({.name = "gradient_type", .doc = "gradients as accumulated and reduced"}, leaf(t.gradient_type));
  f.leaf({.name = "attention", .doc = "attention kernels; no default, for it decides memory and time", .need = kRequired},
         leaf(t.attention));
  f.leaf({.name = "recompute", .doc = "activation recomputation"}, leaf(t.recompute));
  f.leaf({.name = "recompute_layers", .doc = "first layers of each chunk that are recomputed", .if_absent = "all"},
         leaf(t.recompute_layers, Range{}));
  f.leaf({.name = "vocabulary_multiple", .doc = "the table is padded to a multiple of this times TP"},
         leaf(t.vocabulary_multiple, kAtLeastOne));
  f.group({.name = "routing", .doc = "of tokens to experts"}, [&] { routing_fields(f, t.routing); });
  f.group({.name = "algorithms", .doc = "of the collectives"}, [&] { algorithm_fields(f, t.algorithms); });
  f.leaf({.name = "mfu", .doc = "convention by which model FLOP are counted"}, leaf(t.mfu));
  f.leaf({.name = "check_memory", .doc = "a GPU that cannot hold its share is an error"}, leaf(t.check_memory));
  f.leaf({.name = "memory_fragmentation", .doc = "fraction of memory that the allocator loses"},
         leaf(AsFraction{t.memory_fragmentation}));
  f.group({.name = "software", .doc = "training framework", .preset_folder = "software"}, [&] { fields(f, t.software); });
}

void linear_blocks_fields(Fields& f, LinearBlocksSpec& l) {
  f.leaf(
      {.name = "gpus", .doc = "GPUs used; the others stay idle", .if_absent = "all, or as many as a placement list names"},
      leaf(l.gpus, kAtLeastOne));
  f.leaf({.name = "hidden", .doc = "residual width d, real", .need = kRequired}, leaf(l.hidden, kPositive));
  f.leaf({.name = "ff", .doc = "inner width, real", .need = kRequired}, leaf(l.ff, kPositive));
  f.leaf({.name = "blocks", .doc = "blocks of two linear layers; PP divides it", .need = kRequired},
         leaf(l.blocks, kAtLeastOne));
  f.leaf({.name = "batch_tokens", .doc = "tokens of a step, real", .need = kRequired}, leaf(l.batch_tokens, kPositive));
  f.leaf({.name = "microbatches", .doc = "micro-batches of a data-parallel rank"}, leaf(l.microbatches, kAtLeastOne));
  f.list({.name = "tp_ff", .doc = "tensor-parallel degree over ff, by network level, inner first"}, l.tp_ff, kAtLeastOne);
  f.list({.name = "tp_hidden", .doc = "tensor-parallel degree over hidden, by level"}, l.tp_hidden, kAtLeastOne);
  f.list({.name = "ep", .doc = "expert-parallel degree, by level", .if_absent = "1"}, l.ep, kAtLeastOne);
  f.list({.name = "pp", .doc = "pipeline degree, by level"}, l.pp, kAtLeastOne);
  f.list({.name = "dp", .doc = "data-parallel degree, by level"}, l.dp, kAtLeastOne);
  f.leaf({.name = "experts", .doc = "experts of a block, each of ff x hidden; 1: dense"}, leaf(l.experts, kAtLeastOne));
  f.leaf({.name = "active_experts", .doc = "experts that a token passes"}, leaf(l.active_experts, kAtLeastOne));
  f.leaf({.name = "schedule", .doc = "pipeline schedule"}, leaf(l.schedule));
  f.leaf({.name = "virtual_stages", .doc = "chunks of blocks per stage, interleaved"}, leaf(l.virtual_stages, kAtLeastOne));
  f.leaf({.name = "defer_weight_gradients", .doc = "weight gradients run beside the collective of their input gradient"},
         leaf(l.defer_weight_gradients));
  f.leaf({.name = "keep_weights_resident", .doc = "all matrices of a GPU count in the residency test"},
         leaf(l.keep_weights_resident));
  f.leaf({.name = "tp_all_reduce", .doc = "algorithm"}, leaf(l.tp_all_reduce, algorithms(CollectiveKind::all_reduce)));
  f.leaf({.name = "dp_all_reduce", .doc = "algorithm"}, leaf(l.dp_all_reduce, algorithms(CollectiveKind::all_reduce)));
  f.leaf({.name = "ep_all_to_all", .doc = "algorithm"}, leaf(l.ep_all_to_all, algorithms(CollectiveKind::all_to_all)));
}

/// One pair of an all_to_all_v, as written.
struct PairBytes {
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  sim::Bytes bytes;
};

std::vector<PairBytes> pairs_of(const std::shared_ptr<const BytesMatrix>& matrix) {
  std::vector<PairBytes> pairs;
  if (matrix == nullptr) return pairs;
  for (std::uint32_t source = 0; source < matrix->size(); ++source) {
    for (const auto& to : (*matrix)[source]) pairs.push_back({source, to.destination, to.bytes});
  }
  return pairs;
}

constexpr double kMostMembers = 1e6;  // rows of the matrix are made up to the largest member named

std::shared_ptr<const BytesMatrix> matrix_of(const std::vector<PairBytes>& pairs) {
  if (pairs.empty()) return nullptr;
  std::uint32_t members = 0;
  for (const PairBytes& p : pairs) members = std::max({members, p.source + 1, p.destination + 1});
  BytesMatrix matrix(members);
  for (const PairBytes& p : pairs) matrix[p.source].push_back({p.destination, p.bytes});
  return std::make_shared<const BytesMatrix>(std::move(matrix));
}

void matrix_fields(Fields& f, std::shared_ptr<const BytesMatrix>& matrix) {
  std::vector<PairBytes> pairs = pairs_of(matrix);
  f.list_of<PairBytes>(
      {.name = "matrix", .doc = "all_to_all_v: who sends how much to whom"}, pairs, [](Fields& g, PairBytes& p) {
        g.leaf({.name = "source", .doc = "member index", .need = kRequired}, leaf(p.source, Range{.high = kMostMembers}));
        g.leaf({.name = "destination", .doc = "member index", .need = kRequired},
               leaf(p.destination, Range{.high = kMostMembers}));
        g.leaf({.name = "bytes", .doc = "of this pair", .need = kRequired}, leaf(p.bytes));
      });
  matrix = matrix_of(pairs);
}

void collective_fields(Fields& f, CollectiveRunSpec& c) {
  collective_and_algorithm(f, c.collective, c.algorithm);
  f.leaf({.name = "bytes", .doc = "full buffer, as nccl-tests counts it"}, leaf(c.bytes));
  f.leaf({.name = "ranks", .doc = "members; auto: every GPU"}, or_auto(c.ranks));
  f.leaf({.name = "iterations", .doc = "back to back in one step"}, leaf(c.iterations, kAtLeastOne));
  f.list({.name = "late_entry", .doc = "delay of each rank before the first iteration; empty: none"}, c.late_entry);
  f.leaf({.name = "root", .doc = "member index; broadcast, reduce, gather, scatter"}, leaf(c.options.root));
  f.leaf({.name = "pieces", .doc = "chain and tree: pieces of the buffer; auto: of piece_bytes each"},
         or_auto(c.options.pieces));
  f.leaf({.name = "piece_bytes", .doc = "chain and tree: size of a piece"}, leaf(c.options.piece_bytes, kPositive));
  f.leaf({.name = "domain_size", .doc = "hierarchical: members of a domain; auto: the fabric's"},
         or_auto(c.options.domain_size));
  f.leaf({.name = "inner", .doc = "hierarchical: algorithm inside a domain"},
         leaf(c.options.inner, Words<Algorithm>{{"ring", Algorithm::ring}, {"direct", Algorithm::direct}}));
  f.leaf({.name = "stop_and_wait", .doc = "a send waits until the previous one has arrived"}, leaf(c.options.stop_and_wait));
  matrix_fields(f, c.options.matrix);
}

void task_fields(Fields& f, CustomTask& t) {
  using workloads::TaskKind;
  f.leaf({.name = "id", .doc = "unique name", .need = kRequired}, leaf(t.id));
  f.leaf({.name = "kind", .doc = "what the task does", .need = kRequired}, leaf(t.kind));
  f.when("tasks of kind compute, send, receive, marker", t.kind != TaskKind::collective,
         [&] { f.leaf({.name = "rank", .doc = "who does it"}, leaf(t.rank)); });
  f.leaf({.name = "stream", .doc = "tasks of one rank and stream run in order"}, leaf(t.stream, Range{.high = 1023}));
  f.when("tasks of kind compute", t.kind == TaskKind::compute,
         [&] { f.leaf({.name = "duration", .doc = "how long", .need = kRequired}, leaf(t.duration)); });
  f.when("tasks of kind send, receive", t.kind == TaskKind::send || t.kind == TaskKind::receive,
         [&] { f.leaf({.name = "peer", .doc = "destination or source rank", .need = kRequired}, leaf(t.peer)); });
  f.when("tasks of kind collective", t.kind == TaskKind::collective, [&] {
    f.leaf({.name = "group", .doc = "name of a group", .need = kRequired}, leaf(t.group));
    f.list(
        {.name = "except", .doc = "ranks of the group that do not make this call; unless another task does, it never ends"},
        t.except);
    collective_and_algorithm(f, t.collective, t.algorithm);
  });
  const bool by_pair = t.kind == TaskKind::collective && t.collective == CollectiveKind::all_to_all_v;
  f.when("tasks of kind send, collective (but all_to_all_v)",
         t.kind == TaskKind::send || (t.kind == TaskKind::collective && !by_pair),
         [&] { f.leaf({.name = "bytes", .doc = "message or full buffer", .need = kRequired}, leaf(t.bytes)); });
  f.when("tasks of kind collective all_to_all_v", by_pair, [&] { matrix_fields(f, t.matrix); });
  f.list({.name = "after", .doc = "further tasks of the same rank that must have ended"}, t.after);
}

void custom_fields(Fields& f, CustomProgramSpec& c) {
  f.leaf({.name = "ranks", .doc = "ranks; auto: one more than the largest named"}, or_auto(c.ranks));
  f.list_of<CustomGroup>({.name = "groups", .doc = "named groups of ranks"}, c.groups, [](Fields& g, CustomGroup& group) {
    g.leaf({.name = "name", .doc = "unique name", .need = kRequired}, leaf(group.name));
    g.list({.name = "ranks", .doc = "members in ring order", .need = kRequired}, group.ranks);
  });
  f.list_of<CustomTask>({.name = "tasks", .doc = "the program, in order", .need = kRequired}, c.tasks, task_fields);
}

void placement_fields(Fields& f, workloads::PlacementSpec& p) {
  using workloads::PlacementKind;
  f.leaf({.name = "kind", .doc = "which GPU each rank runs on"}, leaf(p.kind));
  f.when("placement kind list", p.kind == PlacementKind::list,
         [&] { f.list({.name = "gpus", .doc = "the GPU of rank 0, 1, ...", .need = kRequired}, p.gpus); });
  f.when("placement kind random", p.kind == PlacementKind::random,
         [&] { f.leaf({.name = "seed", .doc = "order of the domains"}, leaf(p.seed)); });
}

}  // namespace

void fields(Fields& f, workloads::ModelSpec& m) {
  f.leaf({.name = "name", .doc = "for people"}, leaf(m.name));
  f.leaf({.name = "layers", .doc = "transformer layers", .need = kRequired}, leaf(m.layers, kAtLeastOne));
  f.leaf({.name = "hidden", .doc = "hidden size", .need = kRequired}, leaf(m.hidden, kAtLeastOne));
  f.leaf({.name = "heads", .doc = "attention heads", .need = kRequired}, leaf(m.heads, kAtLeastOne));
  f.leaf({.name = "kv_heads", .doc = "key/value heads; auto: heads"}, or_auto(m.kv_heads));
  f.leaf({.name = "head_size", .doc = "size of a head; auto: hidden / heads"}, or_auto(m.head_size));
  f.leaf({.name = "ffn", .doc = "inner size of the MLP", .need = kRequired}, leaf(m.ffn, kAtLeastOne));
  f.leaf({.name = "vocabulary", .doc = "tokens of the vocabulary, before padding", .need = kRequired},
         leaf(m.vocabulary, kAtLeastOne));
  f.leaf({.name = "sequence", .doc = "tokens of a sequence", .need = kRequired}, leaf(m.sequence, kAtLeastOne));
  f.leaf({.name = "gated", .doc = "three matrices in the MLP (SwiGLU)"}, leaf(m.gated));
  f.leaf({.name = "bias", .doc = "biases in the products"}, leaf(m.bias));
  f.leaf({.name = "dropout", .doc = "dropout after attention and MLP"}, leaf(m.dropout));
  f.leaf({.name = "causal", .doc = "fused attention skips the masked half"}, leaf(m.causal));
  f.leaf({.name = "tied_embeddings", .doc = "the LM head uses the embedding's table"}, leaf(m.tied_embeddings));
  f.leaf({.name = "norm", .doc = "normalization"}, leaf(m.norm));
  f.leaf({.name = "position", .doc = "position encoding"}, leaf(m.position));
  f.leaf({.name = "position_rows", .doc = "rows of the table of learned positions; auto: sequence"},
         or_auto(m.position_rows));
  f.leaf({.name = "embedding_norm", .doc = "a norm between embedding and first layer"}, leaf(m.embedding_norm));
  f.group({.name = "moe", .doc = "mixture of experts"}, [&] {
    f.leaf({.name = "experts", .doc = "experts of an MoE layer; 0: a dense model"}, leaf(m.moe.experts));
    f.leaf({.name = "experts_per_token", .doc = "experts that the router chooses"}, leaf(m.moe.experts_per_token));
    f.leaf({.name = "ffn", .doc = "inner size of an expert"}, leaf(m.moe.ffn));
    f.leaf({.name = "shared_ffn", .doc = "inner sizes of the experts that every token passes, summed"},
           leaf(m.moe.shared_ffn));
    f.leaf({.name = "dense_layers", .doc = "first layers without experts"}, leaf(m.moe.dense_layers));
    f.leaf({.name = "every", .doc = "of the others, every so-manieth has experts"}, leaf(m.moe.every, kAtLeastOne));
  });
}

void fields(Fields& f, workloads::WorkloadSpec& w) {
  f.leaf({.name = "kind", .doc = "what is run", .need = kRequired},
         kind_leaf(w.job, {"transformer", "linear_blocks", "collective", "custom"}));
  alternative<TransformerSpec>(f, "workload kind transformer", w.job, [&](TransformerSpec& t) { transformer_fields(f, t); });
  alternative<LinearBlocksSpec>(f, "workload kind linear_blocks", w.job,
                                [&](LinearBlocksSpec& l) { linear_blocks_fields(f, l); });
  alternative<CollectiveRunSpec>(f, "workload kind collective", w.job,
                                 [&](CollectiveRunSpec& c) { collective_fields(f, c); });
  alternative<CustomProgramSpec>(f, "workload kind custom", w.job, [&](CustomProgramSpec& c) { custom_fields(f, c); });
  f.group({.name = "placement", .doc = "which GPU each rank runs on"}, [&] { placement_fields(f, w.placement); });
  f.list_of<SlowGpu>({.name = "slow_gpus", .doc = "stragglers"}, w.slow_gpus, [](Fields& g, SlowGpu& s) {
    g.leaf({.name = "gpu", .doc = "GPU number", .need = kRequired}, leaf(s.gpu));
    g.leaf({.name = "factor", .doc = "its kernels take so many times as long", .need = kRequired},
           leaf(s.factor, kPositive));
  });
  f.leaf({.name = "steps", .doc = "consecutive steps; the last is reported"},
         leaf(w.steps, Range{.low = 1, .high = workloads::kMostSteps}));
}

}  // namespace traingraph::scenarios
