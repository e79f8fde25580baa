#include "analysis/analyze.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/bounds.h"
#include "analysis/critical_path.h"
#include "analysis/format.h"
#include "analysis/link_use.h"
#include "sim/error.h"

namespace traingraph::analysis {
namespace {

using sim::Duration;
using workloads::TimeCategory;

constexpr std::size_t kTopLinks = 10;

Duration of(const sim::TimeSplit& split, TimeCategory category) {
  return split.by_category[static_cast<std::size_t>(category)];
}

Duration kernel_time(const sim::TimeSplit& split) {
  return of(split, TimeCategory::compute) + of(split, TimeCategory::memory_bound) + of(split, TimeCategory::optimizer);
}

TimeSplit named_split(const AnalyzeInputs& in, sim::RankId rank) {
  const sim::TimeSplit& split = in.record.splits[rank];
  const sim::Program& program = in.workload.program;
  TimeSplit named;
  named.rank = rank;
  named.gpu = in.fabric.devices[in.fabric.endpoints[program.ranks[rank].endpoint]].name;
  Duration sum;
  for (std::size_t c = 0; c < program.categories.size(); ++c) {
    named.parts.push_back({program.categories[c], split.by_category[c]});
    sum += split.by_category[c];
  }
  SIM_ASSERT(sum == in.record.step_time(), "a GPU's time split adds up to the step time");
  named.busy = kernel_time(split);
  named.exposed_pp = of(split, TimeCategory::bubble) + of(split, TimeCategory::wait);
  return named;
}

void fill_splits(const AnalyzeInputs& in, Result& result) {
  struct Busy {
    Duration time;
    sim::RankId rank{};
    std::uint64_t members = 1;
  };
  std::vector<Busy> ranks;
  for (std::uint32_t r = 0; r < in.record.splits.size(); ++r) {
    const sim::RankId id{r};
    ranks.push_back({kernel_time(in.record.splits[id]), id, in.workload.program.ranks[id].multiplicity});
  }
  SIM_ASSERT(!ranks.empty(), "a run has ranks");
  std::stable_sort(ranks.begin(), ranks.end(), [](const Busy& a, const Busy& b) { return a.time < b.time; });

  std::uint64_t up_to = 0;
  const auto median = std::find_if(ranks.begin(), ranks.end(), [&](const Busy& b) {
    up_to += b.members;
    return 2 * up_to >= result.gpus;
  });
  const auto lowest_rank_with = [&](Duration time) {
    return std::find_if(ranks.begin(), ranks.end(), [&](const Busy& b) { return b.time == time; })->rank;
  };
  result.busiest = named_split(in, lowest_rank_with(ranks.back().time));
  result.median = named_split(in, lowest_rank_with(median->time));
  result.least_busy = named_split(in, ranks.front().rank);
}

/// Every rank's split must add up, not only those that are shown.
void check_splits(const AnalyzeInputs& in) {
  SIM_ASSERT(in.workload.program.categories == workloads::category_names(),
             "programs use the categories of the result schema");
  SIM_ASSERT(in.record.splits.size() == in.workload.program.ranks.size(), "every rank has a time split");
  for (const sim::TimeSplit& split : in.record.splits) {
    Duration sum;
    for (const Duration part : split.by_category) {
      SIM_ASSERT(part >= Duration{}, "no part of a time split is negative");
      sum += part;
    }
    SIM_ASSERT(sum == in.record.step_time(), "a GPU's time split adds up to the step time");
  }
}

void fill_rates(const workloads::Workload& workload, Result& result) {
  const double seconds = result.step_time.in_seconds();
  const double gpus = static_cast<double>(result.gpus);
  if (seconds <= 0) return;
  if (workload.tokens_per_step > 0) {
    result.tokens_per_s = workload.tokens_per_step / seconds;
    result.tokens_per_s_per_gpu = *result.tokens_per_s / gpus;
  }
  if (workload.collective_bytes.count() > 0 && workload.bus_bandwidth_factor > 0) {
    result.algorithm_bandwidth = workload.collective_bytes.count() / seconds;
    result.bus_bandwidth = *result.algorithm_bandwidth * workload.bus_bandwidth_factor;
  }
  const double flop = workload.model_flop_per_step.count();
  if (flop <= 0) return;
  result.model_flop_per_step = flop;
  result.tflops_per_gpu = flop / (seconds * gpus) / 1e12;
  const double peak = workload.peak_per_gpu.flop_per_s();
  if (peak <= 0) return;
  result.mfu = flop / (seconds * gpus * peak);
  result.hfu = workload.hardware_flop_per_step.count() / (seconds * gpus * peak);
}

MemoryUse largest_memory(const workloads::Workload& workload) {
  MemoryUse largest;
  for (std::uint32_t t = 0; t < workload.roles.size(); ++t) {
    const sim::TemplateId id{t};
    MemoryUse use;
    use.role = workload.program.templates[id].name;
    use.capacity_bytes = workload.memory_capacity.count();
    for (const workloads::MemoryTerm& term : workload.roles[id].memory) {
      use.terms.push_back({term.name, term.bytes.count()});
      use.peak_memory_bytes += term.bytes.count();
    }
    if (t == 0 || use.peak_memory_bytes > largest.peak_memory_bytes) largest = std::move(use);
  }
  return largest;
}

/// Why collectives were played in each of the ways in which they were.
std::vector<std::string> reasons(const sim::RunOptions& options, const sim::CollectiveModes& m, double inexact_transfers) {
  if (options.collectives != sim::CollectiveMode::automatic) return {"asked for"};
  std::vector<std::string> why;
  if (m.step > 0) why.emplace_back("step: bulk would not be exact");
  if (m.bulk_exact > 0) why.emplace_back("bulk: exact by construction");
  if (m.bulk_forced == 0) return why;
  const std::string limit = human_words(options.step_limit);
  why.push_back(inexact_transfers > options.step_limit
                    ? fmt::format("bulk: {} transfers could not be in exact bulk, the limit is {}",
                                  human_words(inexact_transfers), limit)
                    : fmt::format("bulk: members entered apart when steps had reached the limit of {} transfers", limit));
  return why;
}

std::vector<CollectiveUse> collective_use(const AnalyzeInputs& in) {
  std::vector<CollectiveUse> uses;
  for (const sim::CollectiveModes& m : in.record.modes) {
    const sim::CollectiveSpec& spec = in.workload.program.collectives[m.collective];
    const std::uint64_t bulk = m.bulk_exact + m.bulk_forced;
    uses.push_back({.name = spec.name,
                    .algorithm = spec.algorithm,
                    .bytes = spec.bytes.count(),
                    .calls = m.step + bulk,
                    .step = m.step,
                    .bulk_exact = m.bulk_exact,
                    .bulk_forced = m.bulk_forced,
                    .mode = bulk == 0 ? "step" : (m.step == 0 ? "bulk" : "mixed"),
                    .reasons = reasons(in.options, m, in.record.inexact_transfers)});
  }
  return uses;
}

void fill_bounds(const AnalyzeInputs& in, Result& result) {
  result.bounds = lower_bounds({.fabric = in.fabric,
                                .router = in.router,
                                .workload = in.workload,
                                .step_ends = in.record.step_ends,
                                .ideal = in.ideal});
  const Bound* best = binding(result.bounds);
  if (best == nullptr) return;
  result.lower_bound = best->value;
  result.binding_bound = best->name + ": " + best->subject;
  result.gap = result.step_time / result.lower_bound;
}

EngineCounters counters(const sim::Record& record, std::uint64_t gpus) {
  const sim::Counters& c = record.counters;
  return {.events = c.events,
          .operations = c.operations,
          .transfers = c.transfers,
          .collectives = c.collectives,
          .rate_solves = c.solves,
          .transfers_touched = c.transfers_touched,
          .transfers_changed = c.transfers_changed,
          .classes = record.splits.size(),
          .members = gpus};
}

}  // namespace

std::string to_string(sim::NetworkModel network) {
  switch (network) {
    case sim::NetworkModel::flow:
      return "flow";
    case sim::NetworkModel::chunk:
      return "chunk";
    case sim::NetworkModel::ideal:
      return "ideal";
  }
  SIM_ASSERT(false, "every network model has a name");
}

Result analyze(const AnalyzeInputs& in) {
  SIM_ASSERT(in.record.step_ends.size() == in.workload.program.steps, "the record has an end for every step");
  check_splits(in);

  Result result;
  result.description = in.workload.description;
  result.fabric = in.fabric.name;
  result.network = to_string(in.options.network);
  for (const sim::Rank& rank : in.workload.program.ranks) result.gpus += rank.multiplicity;
  result.steps = in.workload.program.steps;
  result.step_time = in.record.step_time();
  result.flop_convention = in.workload.flop_convention;
  result.parameters = in.workload.parameters;
  result.padded_vocabulary = in.workload.padded_vocabulary;
  fill_rates(in.workload, result);
  fill_splits(in, result);
  fill_bounds(in, result);
  result.memory = largest_memory(in.workload);

  std::vector<LinkUse> links = link_use(in.fabric, in.workload.program, in.record);
  result.tiers = tier_use(in.fabric, links);
  result.top_links = most_loaded(std::move(links), kTopLinks);

  result.critical_path = critical_path(in.workload.program, in.record);
  result.step_ends = in.record.step_ends;
  result.collectives = collective_use(in);
  result.program_transfers = in.record.program_transfers;
  result.engine = counters(in.record, result.gpus);
  return result;
}

}  // namespace traingraph::analysis
