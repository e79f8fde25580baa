#include "analysis/plan/search.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "analysis/share_out.h"

namespace traingraph::analysis::plan {
namespace {

using workloads::Recompute;
using workloads::ScheduleKind;

constexpr std::array kSchedules{ScheduleKind::one_f_one_b, ScheduleKind::gpipe, ScheduleKind::zb_h1, ScheduleKind::zb_v,
                                ScheduleKind::dualpipe};

template <class T>
bool wanted(const std::optional<T>& only, T value) {
  return !only || *only == value;
}

/// Combinations of degrees, and why there are not more.
class Degrees {
 public:
  Degrees(const StepBound& bound, std::uint32_t gpus, const SearchSpace& space)
      : base_{bound.problem().base}, space_{space}, gpus_{gpus} {
    for (const std::uint32_t tp : divisors(gpus)) {
      if (!wanted(space.tp, tp)) continue;
      for (const std::uint32_t cp : divisors(gpus / tp)) {
        if (!wanted(space.cp, cp)) continue;
        for (const std::uint32_t pp : divisors(gpus / tp / cp)) {
          if (wanted(space.pp, pp)) add(tp, cp, pp);
        }
      }
    }
  }
  std::vector<PlanLayout> layouts;
  std::array<std::uint64_t, kRejects> rejected{};

 private:
  bool reject(bool holds, Reject reason) {
    if (!holds) ++rejected[static_cast<std::size_t>(reason)];
    return !holds;
  }

  void add(std::uint32_t tp, std::uint32_t cp, std::uint32_t pp) {
    const workloads::ModelSpec& m = base_.model;
    const std::uint32_t dp = gpus_ / tp / cp / pp;
    const auto divided = [&](std::uint32_t n) { return n % tp == 0; };
    if (reject(divided(m.heads) && divided(m.kv_head_count()) && divided(m.hidden) && divided(m.ffn) && divided(m.moe.ffn) &&
                   divided(m.moe.shared_ffn),
               Reject::tensor)) {
      return;
    }
    if (reject(base_.global_batch % dp == 0, Reject::batch)) return;
    if (reject(m.layers % pp == 0, Reject::layers)) return;
    for (const std::uint32_t ep : divisors(dp)) {
      if (!wanted(space_.ep, ep) || (m.moe.experts == 0 && ep > 1)) continue;
      if (reject(m.moe.experts % ep == 0, Reject::experts)) continue;
      for (const bool sp : {false, true}) {
        if (!wanted(space_.sequence_parallel, sp) || (sp && tp == 1)) continue;
        if (reject(sp || tp == 1 || m.moe.experts == 0, Reject::experts)) continue;
        if (reject(!sp || m.sequence % tp == 0, Reject::sequence)) continue;
        if (reject(context_fits(tp, cp, sp), Reject::context)) continue;
        for (std::uint8_t order = 0; order < kOrders.size(); ++order) {
          if (!wanted(space_.order, order) || (order > 0 && (pp == 1 || dp == 1) && !space_.order)) continue;
          layouts.push_back({.tp = tp, .cp = cp, .pp = pp, .dp = dp, .ep = ep, .order = order, .sequence_parallel = sp});
        }
      }
    }
  }

  [[nodiscard]] bool context_fits(std::uint32_t tp, std::uint32_t cp, bool sp) const {
    const workloads::ModelSpec& m = base_.model;
    if (cp == 1) return true;
    if (base_.attention == workloads::Attention::unfused) return false;
    const bool ulysses = base_.parallel.cp_attention == workloads::ContextParallelKind::ulysses;
    const std::uint64_t parts = std::uint64_t{cp} * (sp ? tp : 1) * (m.causal && !ulysses ? 2 : 1);
    const std::uint64_t heads = std::uint64_t{cp} * tp;
    return m.sequence % parts == 0 && (!ulysses || (m.heads % heads == 0 && m.kv_head_count() % heads == 0));
  }

  const workloads::TransformerSpec& base_;
  const SearchSpace& space_;
  std::uint32_t gpus_;
};

/// One thread's part of the search.
class Filter {
 public:
  Filter(const StepBound& bound, const SearchSpace& space) : bound_{bound}, base_{bound.problem().base}, space_{space} {}

  void take(PlanLayout layout) {
    const StepBound::Degrees degrees = bound_.degrees(layout);
    const std::uint32_t replica = base_.global_batch / layout.dp;
    for (const std::uint32_t micro_batch : divisors(replica)) {
      if (!wanted(space_.micro_batch, micro_batch)) continue;
      layout.micro_batch = micro_batch;
      for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
        if (!wanted(space_.recompute, recompute)) continue;
        const bool same_as_none = recompute == Recompute::selective && base_.attention != workloads::Attention::unfused;
        if (same_as_none && !space_.recompute) continue;
        layout.recompute = recompute;
        take_schedules(layout, degrees, bound_.batch(degrees, layout), replica / micro_batch);
      }
    }
  }

  SearchResult result;

 private:
  void take_schedules(PlanLayout layout, const StepBound::Degrees& degrees, const StepBound::Batch& batch,
                      std::uint32_t microbatches) {
    const std::uint32_t layers = base_.model.layers / layout.pp;
    for (const ScheduleKind schedule : kSchedules) {
      if (!wanted(space_.schedule, schedule)) continue;
      // Without a pipeline there is one schedule.
      if (layout.pp == 1 && schedule == ScheduleKind::gpipe && !space_.schedule) continue;
      const bool looped = schedule == ScheduleKind::one_f_one_b || schedule == ScheduleKind::gpipe;
      layout.schedule = schedule;
      for (std::uint32_t v = 1; v <= (looped && layout.pp > 1 ? layers : 1); ++v) {
        if (layers % v != 0 || !wanted(space_.virtual_stages, v)) continue;
        layout.virtual_stages = v;
        const PipelineShares* const shares = shares_of(schedule, {layout.pp, microbatches, v});
        if (shares == nullptr) {
          ++result.rejected[static_cast<std::size_t>(Reject::schedule)];
          continue;
        }
        take_zero_stages(layout, degrees, batch, *shares, microbatches);
      }
    }
  }

  void take_zero_stages(PlanLayout layout, const StepBound::Degrees& degrees, const StepBound::Batch& batch,
                        const PipelineShares& shares, std::uint32_t microbatches) {
    const bool alone = layout.dp * layout.cp * shares.copies == 1;
    const StepBound::Passes passes = bound_.passes(batch, layout, shares, microbatches);
    for (std::uint8_t zero = 0; zero <= 3; ++zero) {
      if (!wanted(space_.zero_stage, std::uint32_t{zero}) || (alone && zero > 0 && !space_.zero_stage)) continue;
      layout.zero_stage = zero;
      if (!sharding_exists(zero, shares.copies)) {
        ++result.rejected[static_cast<std::size_t>(Reject::sharding)];
        continue;
      }
      ++result.layouts;
      const double bound = bound_.seconds(degrees, passes, layout, shares);
      const double memory = bound_.memory(degrees, batch, layout, shares);
      if (memory > bound_.problem().hardware.memory_size.count() && base_.check_memory) {
        ++result.rejected[static_cast<std::size_t>(Reject::memory)];
        continue;
      }
      result.candidates.push_back({bound, memory, layout});
      if (result.candidates.size() > 2 * kMostCandidates) keep_best();
    }
  }

  void keep_best() {
    auto& all = result.candidates;
    std::nth_element(all.begin(), all.begin() + kMostCandidates, all.end());
    leave_out(all[kMostCandidates].bound);
    all.resize(kMostCandidates);
  }

 public:
  void leave_out(double bound) {
    double& least = result.least_bound_left_out;
    least = least == 0 ? bound : std::min(least, bound);
  }

 private:
  /// What workloads/parallel_rules.cc says of ZeRO stages.
  [[nodiscard]] bool sharding_exists(std::uint8_t zero, std::uint32_t copies) const {
    using workloads::GradientReduction;
    const GradientReduction reduction = base_.parallel.gradient_reduction;
    const bool each = reduction == GradientReduction::microbatch || (reduction == GradientReduction::automatic && zero >= 2);
    if (zero == 2 && each && !base_.parallel.bucket_size) return false;
    if (zero == 3 && base_.model.moe.experts > 0) return false;
    return copies == 1 || (zero <= 1 && !each);
  }

  /// Null: no such schedule.
  const PipelineShares* shares_of(ScheduleKind schedule, const workloads::PipelineShape& shape) {
    const std::uint32_t positions = schedule == ScheduleKind::zb_v ? 2 * shape.stages : shape.stages * shape.chunks;
    if (base_.model.layers % positions != 0 || !schedule_exists(schedule, shape)) return nullptr;
    const std::uint32_t enough = enough_microbatches(schedule, shape);
    std::unique_ptr<const PipelineShares>& made = shares_[{schedule, shape.stages, shape.chunks, enough}];
    if (!made) {
      made = std::make_unique<const PipelineShares>(base_.model, schedule,
                                                    workloads::PipelineShape{shape.stages, enough, shape.chunks});
    }
    return made.get();
  }

  const StepBound& bound_;
  const workloads::TransformerSpec& base_;
  const SearchSpace& space_;
  std::map<std::tuple<ScheduleKind, std::uint32_t, std::uint32_t, std::uint32_t>, std::unique_ptr<const PipelineShares>>
      shares_;
};

/// What the bound must know of parts before threads may use it.
std::vector<PlanLayout> parts_needed(const std::vector<PlanLayout>& layouts, std::uint32_t batch, const SearchSpace& space) {
  std::set<PlanLayout> needed;
  for (const PlanLayout& l : layouts) {
    for (const std::uint32_t micro_batch : divisors(batch / l.dp)) {
      if (!wanted(space.micro_batch, micro_batch)) continue;
      needed.insert(
          {.tp = l.tp, .cp = l.cp, .ep = l.ep, .micro_batch = micro_batch, .sequence_parallel = l.sequence_parallel});
    }
  }
  return {needed.begin(), needed.end()};
}

}  // namespace

std::string_view to_string(Reject reason) {
  constexpr std::array<std::string_view, kRejects> kNames{
      "TP does not divide heads, hidden or FFN size",
      "TP does not divide the sequence (sequence parallelism)",
      "CP does not divide the sequence or heads, or needs fused attention",
      "PP does not divide the layers",
      "EP does not divide the experts, or experts need sequence parallelism",
      "DP does not divide the batch",
      "the schedule does not exist for these stages and micro-batches",
      "the ZeRO stage does not go with this schedule or model",
      "more memory than the GPU has"};
  return kNames[static_cast<std::size_t>(reason)];
}

std::vector<std::uint32_t> divisors(std::uint32_t n) {
  std::vector<std::uint32_t> small, large;
  for (std::uint32_t d = 1; std::uint64_t{d} * d <= n; ++d) {
    if (n % d != 0) continue;
    small.push_back(d);
    if (d != n / d) large.push_back(n / d);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

SearchResult search(StepBound& bound, std::uint32_t gpus, const SearchSpace& space, std::uint32_t threads,
                    const std::atomic<bool>* cancel) {
  const Degrees degrees{bound, gpus, space};
  bound.prepare(parts_needed(degrees.layouts, bound.problem().base.global_batch, space), threads);
  std::vector<Filter> filters;
  for (std::uint32_t t = 0; t < std::max(1U, threads); ++t) filters.emplace_back(bound, space);
  share_out(degrees.layouts.size(), threads, cancel,
            [&](std::size_t thread, std::size_t i) { filters[thread].take(degrees.layouts[i]); });
  Filter all{bound, space};
  SearchResult& result = all.result;
  result.rejected = degrees.rejected;
  for (Filter& f : filters) {
    result.layouts += f.result.layouts;
    for (std::size_t r = 0; r < kRejects; ++r) result.rejected[r] += f.result.rejected[r];
    if (f.result.least_bound_left_out > 0) all.leave_out(f.result.least_bound_left_out);
    result.candidates.insert(result.candidates.end(), f.result.candidates.begin(), f.result.candidates.end());
    f.result.candidates = {};
  }
  std::sort(result.candidates.begin(), result.candidates.end());
  if (result.candidates.size() > kMostCandidates) {
    all.leave_out(result.candidates[kMostCandidates].bound);
    result.candidates.resize(kMostCandidates);
  }
  return std::move(result);
}

}  // namespace traingraph::analysis::plan
