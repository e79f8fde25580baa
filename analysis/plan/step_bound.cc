#include "analysis/plan/step_bound.h"

#include <algorithm>

#include "workloads/kernel_time.h"

namespace traingraph::analysis::plan {
namespace {

using workloads::ScheduleKind;
using workloads::Sharding;

constexpr std::size_t kGather = 0, kScatter = 1, kReduce = 2;
/// The engine's clock counts picoseconds and rounds every event; a bound in doubles stays below by more than that.
constexpr double kRoundingMargin = 1 - 1e-7;

double parameters(const StepBound::Degrees& d, const Share& held, double head) {
  return held.layers * d.layer + held.moe_layers * d.moe_layer + held.embedding * d.embedding + held.head * head;
}

/// Of two passes whose launches are waited for together.
double together(const PartTimes& a, const PartTimes& b, const Share& share) {
  const PassTime x = a.sum(share), y = b.sum(share);
  return PassTime{x.gpu + y.gpu, x.host + y.host}.least();
}

}  // namespace

PassTime PartTimes::sum(const Share& s) const {
  return {s.layers * layer.gpu + s.moe_layers * moe_layer.gpu + s.embedding * embedding.gpu + s.head * head.gpu,
          s.layers * layer.host + s.moe_layers * moe_layer.host + s.embedding * embedding.host + s.head * head.host};
}

StepBound::Passes StepBound::passes(const Batch& b, const PlanLayout& l, const PipelineShares& shares,
                                    std::uint32_t microbatches, const Without& without) const {
  // A bidirectional pipeline leaves most backwards whole, which may hide more than halves do.
  const bool split = splits_backward(l.schedule) && shares.copies == 1;
  const bool looped = !splits_backward(l.schedule);
  const double m = microbatches;
  Passes p;
  p.stages = shares.at.size();
  p.microbatches = m;
  const PartTimes& back = split ? b.input_gradient : b.backward;
  const Share& first = shares.at.front().worked;
  const double first_weight = split ? together(b.input_gradient, b.weight_gradient, first) - back.of(first) : 0;
  for (std::size_t i = 0; i < p.stages; ++i) {
    const StageShare& s = shares.at[i];
    const double forward = b.forward.of(s.worked);
    const double early = b.before_input * shares.chunks / shares.copies;
    const double backward = back.of(s.worked) - early;
    const double steps = without.bubble ? 0 : s.stage * b.hand_off;
    const double fill = without.bubble ? 0 : b.forward.of(s.before) + steps;
    const double drain = without.bubble ? 0 : back.of(s.before) - s.stage * b.before_input + steps;
    double inside = m * (forward + backward);
    // Some backwards of zb_h1 and zb_v are whole; passes of a bidirectional pipeline run in pairs.
    if (split) inside = m * (forward + together(b.input_gradient, b.weight_gradient, s.worked) - early);
    if (shares.copies == 2) inside = m * (together(b.forward, b.backward, s.worked) - early);
    if (looped && shares.chunks == 1) {
      const double warm = l.schedule == ScheduleKind::gpipe ? m : std::min<double>(m, shares.stages - s.stage);
      double first_back = forward;  // after the stage's first forward, when its first gradient can be there
      if (i == 0 && !without.bubble) {
        first_back +=
            b.forward.of(shares.after_first) + b.backward.of(shares.after_first) + 2 * (shares.stages - 1) * b.hand_off;
      }
      inside = std::max(warm * forward, first_back) + m * backward + (m - warm) * forward;
    }
    p.own[i] = fill + inside;
    p.through_first[i] = p.own[i];
    if (l.schedule == ScheduleKind::zb_h1) {
      p.through_first[i] = s.stage == 0 ? p.own[i] : fill + m * (forward + backward) + drain + first_weight;
    } else if (looped) {
      p.through_first[i] = p.own[i] + drain;
    } else if (s.stage != 0) {
      p.through_first[i] = 0;
    }
  }
  return p;
}

double StepBound::memory_kernel(double bytes) const {
  const workloads::HardwareSpec& h = problem_.hardware;
  return problem_.fastest_gpu *
         (bytes / (h.memory_bandwidth.bytes_per_s() * h.memory_efficiency) + h.kernel_overhead.in_seconds());
}

double StepBound::head_parameters(const Degrees& d, bool ends_meet) const {
  return d.norm + (problem_.base.model.tied_embeddings && ends_meet ? 0 : d.table);
}

StepBound::StageEndTimes StepBound::stage_end(const Degrees& d, const Sharding& sharding, const StageShare& stage,
                                              const PipelineShares& shares, double microbatches) const {
  const workloads::ParallelSpec& base = problem_.base.parallel;
  const bool two = shares.copies == 2;
  const auto& dp = two ? d.dp_two : d.dp;
  const auto& edp = two ? d.edp_two : d.edp;
  const double head = head_parameters(d, shares.ends_meet);
  const double dense = parameters(d, stage.held, head);
  const double experts = stage.held.moe_layers * d.experts;
  const bool alone = sharding.replicas == 1;
  const bool experts_alone = sharding.expert_replicas == 1;
  const std::size_t reduction = sharding.stage == 0 ? kReduce : kScatter;
  const auto call = [](const LeastTime& t, double bytes) { return bytes > 0 ? t.seconds(bytes) : 0; };

  StageEndTimes t;
  double reduce = 0, gather = 0;
  if (!alone) {
    reduce += call(dp[reduction], gradient_ * dense);
    gather += call(dp[kGather], word_ * dense);
  }
  if (!experts_alone) {
    reduce += call(edp[reduction], gradient_ * experts);
    gather += call(edp[kGather], word_ * experts);
  }
  const bool each = sharding.every_microbatch;
  const bool overlap = base.overlap_grad_reduce && !two;
  t.reductions = each ? microbatches * reduce : reduce;
  // The host launches the next pass while kernels wait for a reduction: where it may be late, the wait is not counted.
  const bool hosted =
      problem_.base.software.launch_forward > sim::Duration{} || problem_.base.software.launch_backward > sim::Duration{};
  if (!overlap && !each) t.before_norm += reduce;
  if (!overlap && each && !hosted) t.per_microbatch += reduce;
  if (sharding.stage == 3 && !alone) t.gathers = microbatches * gather * (base.reshard_after_forward ? 2 : 1);

  const double whole = 1 / sharding.gradient_shards();
  const bool tied = problem_.base.model.tied_embeddings && !shares.ends_meet;
  if (tied && shares.stages > 1 && (stage.held.embedding > 0 || stage.held.head > 0)) {
    t.before_norm += d.ends.seconds(d.table * gradient_ * whole);
  }
  const double shard = dense / sharding.optimizer_shards() + experts / sharding.expert_optimizer_shards();
  const double accumulated = dense / sharding.gradient_shards() + experts / sharding.expert_gradient_shards();
  constexpr double kStates = 24;  // fp32 weight and two moments, read and written
  const double unscale = problem_.base.precision == workloads::Precision::fp16 ? 2 * gradient_ : 0;
  const double weight = word_ < 4 ? word_ : 0;
  t.before_norm += memory_kernel(gradient_ * shard);
  t.after_norm = memory_kernel((unscale + gradient_ + kStates + weight) * shard) + memory_kernel(gradient_ * accumulated);
  const bool gathers_after = sharding.stage == 1 || sharding.stage == 2;
  if (gathers_after && !(base.overlap_param_gather && !two)) t.after_norm += gather;
  return t;
}

double StepBound::seconds(const Degrees& d, const Passes& passes, const PlanLayout& l, const PipelineShares& shares) const {
  const Sharding sharding = sharding_of(problem_.base.parallel, l);
  std::array<StageEndTimes, 3> ends;
  double latest = 0, after = 0, streams = 0;
  for (std::size_t i = 0; i < passes.stages; ++i) {
    ends[i] = stage_end(d, sharding, shares.at[i], shares, passes.microbatches);
    const double waited = passes.microbatches * ends[i].per_microbatch;
    latest = std::max(latest, passes.own[i] + waited + ends[i].before_norm);
    if (passes.through_first[i] > 0) {
      // Before the stage's last input gradient: weight gradients of zb_h1 lag as many micro-batches behind as its number.
      const double lag = l.schedule == ScheduleKind::zb_h1 ? shares.at[i].stage + 1 : 1;
      const double until_last = std::max(0.0, passes.microbatches - lag) * ends[i].per_microbatch;
      latest = std::max(latest, passes.through_first[i] + until_last + ends[0].before_norm);
    }
    after = std::max(after, ends[i].after_norm);
    streams = std::max({streams, ends[i].reductions, ends[i].gathers});
  }
  return kRoundingMargin * std::max(latest + after, streams);
}

double StepBound::seconds(const PlanLayout& l, const Without& without) const {
  const std::uint32_t microbatches = problem_.base.global_batch / (l.dp * l.micro_batch);
  const PipelineShares shares{problem_.base.model, l.schedule, {l.pp, microbatches, l.virtual_stages}};
  const Degrees d = degrees(l, without);
  return seconds(d, passes(batch(d, l, without), l, shares, microbatches, without), l, shares);
}

}  // namespace traingraph::analysis::plan
