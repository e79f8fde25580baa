#include "workloads/parallel_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/error.h"
#include "workloads/schedule.h"
#include "workloads/sharding.h"
#include "workloads/stage_shape.h"

namespace traingraph::workloads {
namespace {

class Rules {
 public:
  template <class... Arguments>
  void expect(bool holds, const char* field, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    if (!holds) problems_.push_back({field, fmt::format(format, std::forward<Arguments>(arguments)...)});
  }
  [[nodiscard]] std::vector<ParallelProblem> take() { return std::move(problems_); }

 private:
  std::vector<ParallelProblem> problems_;
};

void check_pipeline(const TransformerSpec& spec, Rules& rules) {
  const ParallelSpec& p = spec.parallel;
  const std::string schedule = name_of(p.schedule);
  rules.expect(p.virtual_stages == 1 || p.pp > 1, "virtual_stages", "needs pp above 1");
  const bool halves_only = p.schedule == ScheduleKind::zb_h1 || p.schedule == ScheduleKind::zb_v;
  rules.expect(!halves_only || !p.overlap_tp_backward, "overlap_tp_backward",
               "has no effect with schedule {}, whose weight gradients are passes of their own", schedule);
  const bool bidirectional = p.schedule == ScheduleKind::dualpipe;
  rules.expect(!bidirectional || !p.overlap_grad_reduce, "overlap_grad_reduce", "is not built for schedule dualpipe");
  rules.expect(!bidirectional || !p.overlap_param_gather, "overlap_param_gather", "is not built for schedule dualpipe");
  try {
    check_schedule(p.schedule, {p.pp, microbatches_of_replica(spec), p.virtual_stages});
  } catch (const sim::InputError& e) {
    rules.expect(false, "schedule", "{}", e.what());
  }
}

void check_sharding(const TransformerSpec& spec, Rules& rules) {
  const ParallelSpec& p = spec.parallel;
  const Sharding s{p};
  rules.expect(p.zero_stage <= 3, "zero_stage", "is {}; allowed: 0 to 3", p.zero_stage);
  rules.expect(!p.distributed_optimizer || p.zero_stage == 0, "zero_stage",
               "and distributed_optimizer (ZeRO stage 1) are both set; leave one out");
  if (p.shard_group != 0) {
    rules.expect(s.stage > 0, "shard_group", "needs zero_stage 1, 2 or 3: otherwise nothing is sharded");
    rules.expect(p.shard_group > 1 && p.dp % p.shard_group == 0, "shard_group",
                 "is {}; allowed: a divisor of dp {}, more than 1", p.shard_group, p.dp);
  }
  rules.expect(p.reshard_after_forward || s.stage == 3, "reshard_after_forward",
               "needs zero_stage 3: otherwise parameters are never sharded");
  rules.expect(p.prefetch_layers == 1 || s.stage == 3, "prefetch_layers",
               "needs zero_stage 3: otherwise parameters are not gathered layer by layer");
  rules.expect(!p.overlap_param_gather || s.stage != 3, "overlap_param_gather",
               "has no effect with zero_stage 3, which gathers each layer; prefetch_layers says how early");
  rules.expect(!p.bucket_size || s.stage != 3, "bucket_size",
               "has no effect with zero_stage 3, which reduces layer by layer; leave it out");
  rules.expect(p.bucket_size || s.stage != 2 || !s.every_microbatch, "zero_stage",
               "2 needs bucket_size: with one bucket for all, gradients would not be sharded");
  const bool bidirectional = p.schedule == ScheduleKind::dualpipe;
  rules.expect(!bidirectional || (s.stage <= 1 && !s.every_microbatch && p.shard_group == 0), "schedule",
               "dualpipe is built for zero_stage 0 and 1, without shard_group, gradients reduced once a step");
}

void check_experts(const TransformerSpec& spec, Rules& rules) {
  const ParallelSpec& p = spec.parallel;
  const MoeSpec& moe = spec.model.moe;
  if (moe.experts == 0) {
    rules.expect(p.ep == 1, "ep", "needs a model with experts");
    return;
  }
  rules.expect(p.dp % p.ep == 0, "ep", "{} does not divide dp {}: expert-parallel groups are parts of data-parallel ones",
               p.ep, p.dp);
  rules.expect(moe.experts % p.ep == 0, "ep", "{} does not divide the model's {} experts", p.ep, moe.experts);
  rules.expect(moe.ffn % p.tp == 0 && moe.shared_ffn % p.tp == 0, "tp", "{} does not divide the experts' ffn of {} and {}",
               p.tp, moe.ffn, moe.shared_ffn);
  rules.expect(p.tp == 1 || p.sequence_parallel, "sequence_parallel",
               "is needed by experts with tp above 1: otherwise every TP rank would send the same tokens");
  rules.expect(Sharding{p}.stage <= 2 && p.shard_group == 0, "zero_stage",
               "3 and shard_group are not built for models with experts");
}

void check_context(const TransformerSpec& spec, Rules& rules) {
  const ParallelSpec& p = spec.parallel;
  const ModelSpec& m = spec.model;
  const ContextParallelKind kind = p.cp_attention;
  rules.expect(p.cp > 1 || kind == ContextParallelKind::ring, "cp_attention", "needs cp above 1");
  if (p.cp == 1) return;
  rules.expect(spec.attention != Attention::unfused, "cp", "needs fused attention: flash or cudnn");
  const std::uint64_t parts = std::uint64_t{p.cp} * (p.sequence_parallel ? p.tp : 1);
  const bool zigzag = m.causal && kind != ContextParallelKind::ulysses;
  const std::uint64_t divisor = parts * (zigzag ? 2 : 1);
  rules.expect(m.sequence % divisor == 0, "cp", "{}{}{} does not divide the sequence of {}", p.cp,
               p.sequence_parallel ? fmt::format(" x tp {}", p.tp) : "", zigzag ? " x 2 (zig-zag)" : "", m.sequence);
  const std::uint64_t heads = std::uint64_t{p.cp} * p.tp;
  rules.expect(kind != ContextParallelKind::ulysses || (m.heads % heads == 0 && m.kv_head_count() % heads == 0),
               "cp_attention", "ulysses needs heads ({}) and key/value heads ({}) that tp x cp = {} divides", m.heads,
               m.kv_head_count(), heads);
  rules.expect(p.shard_group == 0, "shard_group", "is not built with cp above 1");
}

}  // namespace

std::vector<ParallelProblem> parallel_problems(const TransformerSpec& spec) {
  Rules rules;
  check_pipeline(spec, rules);
  check_sharding(spec, rules);
  check_experts(spec, rules);
  check_context(spec, rules);
  return rules.take();
}

std::vector<ParallelProblem> recompute_problems(const TransformerSpec& spec) {
  Rules rules;
  rules.expect(!spec.recompute_layers || spec.recompute != Recompute::none, "recompute_layers",
               "needs recompute selective or full");
  if (spec.recompute_layers) {
    const std::vector<std::uint32_t> layers = layers_of_positions(spec);
    const std::uint32_t most = *std::max_element(layers.begin(), layers.end());
    rules.expect(*spec.recompute_layers < most, "recompute_layers", "is {}; allowed: less than the {} layers of a chunk",
                 *spec.recompute_layers, most);
  }
  return rules.take();
}

std::vector<ParallelProblem> routing_problems(const TransformerSpec& spec) {
  const RoutingSpec& r = spec.routing;
  const MoeSpec& moe = spec.model.moe;
  Rules rules;
  const bool uneven = r.distribution != RoutingDistribution::uniform;
  rules.expect(moe.experts > 0 || (!uneven && !r.capacity_factor && !r.node_limit && !r.overlap_shared_experts),
               "distribution", "and the other keys of routing need a model with experts");
  if (moe.experts == 0) return rules.take();
  rules.expect(!r.overlap_shared_experts || (moe.shared_ffn > 0 && spec.parallel.ep > 1), "overlap_shared_experts",
               "needs shared experts and ep above 1");
  rules.expect(!uneven || !r.capacity_factor, "capacity_factor",
               "makes all experts equal: distribution {} would have no effect", name_of(r.distribution));
  rules.expect(!r.node_limit || !uneven, "node_limit", "is not built for uneven routing");
  rules.expect(!r.node_limit || (*r.node_limit >= 1 && *r.node_limit <= moe.experts_per_token && spec.parallel.ep > 1),
               "node_limit", "needs ep above 1 and is at most experts_per_token, {}", moe.experts_per_token);
  const bool measured = r.distribution == RoutingDistribution::measured;
  rules.expect(!measured || r.histogram.size() == moe.experts, "histogram", "lists {} experts, but the model has {}",
               r.histogram.size(), moe.experts);
  double sum = 0;
  bool good = true;
  for (const double tokens : r.histogram) {
    good = good && tokens >= 0;
    sum += tokens;
  }
  rules.expect(!measured || (good && sum > 0), "histogram", "needs numbers of 0 or more, not all 0");
  return rules.take();
}

}  // namespace traingraph::workloads
