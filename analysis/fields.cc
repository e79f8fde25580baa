#include "analysis/fields.h"

#include <fmt/format.h>

#include <algorithm>

namespace traingraph::analysis {
namespace {

std::string key(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ' ' || c == '-' || c == '.'; }, '_');
  return name;
}

class List {
 public:
  void time(const std::string& path, sim::Duration d) { fields_.push_back({path + "_s", "s", d}); }
  void number(const std::string& path, const std::string& unit, double v) { fields_.push_back({path, unit, v}); }
  void number(const std::string& path, const std::string& unit, const std::optional<double>& v) {
    if (v) number(path, unit, *v);
  }
  void count(const std::string& path, std::uint64_t v) { fields_.push_back({path, "1", v}); }
  void text(const std::string& path, const std::string& v) {
    if (!v.empty()) fields_.push_back({path, "", v});
  }
  [[nodiscard]] std::vector<Field> take() && { return std::move(fields_); }

 private:
  std::vector<Field> fields_;
};

void add_head(const Result& r, List& list) {
  list.text("description", r.description);
  list.text("fabric", r.fabric);
  list.text("network", r.network);
  list.count("gpus", r.gpus);
  list.count("steps", r.steps);
  list.time("step_time", r.step_time);
  list.number("tokens_per_s", "1/s", r.tokens_per_s);
  list.number("tokens_per_s_per_gpu", "1/s", r.tokens_per_s_per_gpu);
  list.number("algorithm_bandwidth_bytes_per_s", "bytes/s", r.algorithm_bandwidth);
  list.number("bus_bandwidth_bytes_per_s", "bytes/s", r.bus_bandwidth);
  list.number("model_flop_per_step", "FLOP", r.model_flop_per_step);
  list.text("flop_convention", r.flop_convention);
  list.number("mfu", "1", r.mfu);
  list.number("hfu", "1", r.hfu);
  list.number("tflops_per_gpu", "TFLOP/s", r.tflops_per_gpu);
  if (r.parameters > 0) list.count("parameters", r.parameters);
  if (r.padded_vocabulary > 0) list.count("padded_vocabulary", r.padded_vocabulary);
}

void add_split(const std::string& which, const TimeSplit& split, List& list) {
  const std::string path = "time_split." + which + ".";
  list.text(path + "gpu", split.gpu);
  list.count(path + "rank", index(split.rank));
  for (const TimePart& part : split.parts) list.time(path + part.name, part.time);
  list.time(path + "exposed_pp", split.exposed_pp);
  list.time(path + "busy", split.busy);
}

void add_memory(const MemoryUse& memory, List& list) {
  if (memory.terms.empty()) return;
  list.number("peak_memory_bytes", "bytes", memory.peak_memory_bytes);
  list.text("memory.role", memory.role);
  if (memory.capacity_bytes > 0) list.number("memory.capacity_bytes", "bytes", memory.capacity_bytes);
  for (const MemoryPart& term : memory.terms) list.number("memory.terms." + key(term.name) + "_bytes", "bytes", term.bytes);
}

void add_tier(const TierUse& tier, List& list) {
  const std::string path = "links." + key(tier.tier) + ".";
  list.count(path + "links", tier.links);
  list.count(path + "links_used", tier.links_used);
  list.number(path + "capacity_bytes_per_s", "bytes/s", tier.capacity_bytes_per_s);
  list.number(path + "bytes", "bytes", tier.bytes);
  list.number(path + "busy_fraction", "1", tier.busy_fraction);
  list.number(path + "mean_utilization", "1", tier.mean_utilization);
  list.number(path + "peak_utilization", "1", tier.peak_utilization);
}

void add_path(const CriticalPath& path, List& list) {
  if (path.elements.empty()) return;
  list.count("critical_path.elements", path.elements.size());
  list.time("critical_path.length", path.length);
  for (const PathShare& s : path.by_kind) list.time("critical_path.by_kind." + key(s.name), s.time);
  for (const PathShare& s : path.by_task) list.time("critical_path.by_task." + key(s.name), s.time);
}

void add_engine(const Result& r, bool with_effort, List& list) {
  list.count("engine.events", r.engine.events);
  list.count("engine.operations", r.engine.operations);
  list.count("engine.transfers", r.engine.transfers);
  list.count("engine.collectives", r.engine.collectives);
  list.count("engine.rate_solves", r.engine.rate_solves);
  list.count("engine.transfers_touched", r.engine.transfers_touched);
  list.count("engine.transfers_changed", r.engine.transfers_changed);
  list.count("engine.classes", r.engine.classes);
  list.count("engine.members", r.engine.members);
  list.number("engine.program_transfers", "1", r.program_transfers);
  if (!with_effort || !r.effort) return;
  list.number("engine.wall_s", "s", r.effort->wall_s);
  list.number("engine.peak_rss_bytes", "bytes", r.effort->peak_rss_bytes);
}

}  // namespace

std::vector<Field> fields(const Result& r, bool with_effort) {
  List list;
  add_head(r, list);
  add_split("busiest", r.busiest, list);
  add_split("median", r.median, list);
  add_split("least_busy", r.least_busy, list);
  list.time("lower_bound", r.lower_bound);
  list.text("binding_bound", r.binding_bound);
  list.number("gap", "1", r.gap);
  add_memory(r.memory, list);
  for (const TierUse& tier : r.tiers) add_tier(tier, list);
  add_path(r.critical_path, list);
  for (std::size_t k = 0; k < r.step_ends.size(); ++k) {
    list.time(fmt::format("transient.step_{}_end", k + 1), r.step_ends[k].since_start());
  }
  for (const Sensitivity& s : r.sensitivity) list.number("sensitivity." + key(s.resource), "%/%", s.percent_per_percent);
  add_engine(r, with_effort, list);
  return std::move(list).take();
}

double seconds(sim::Duration d) { return static_cast<double>(d.count_ps()) / 1e12; }

std::string exact_seconds(sim::Duration d) {
  const std::int64_t ps = d.count_ps();
  const std::uint64_t magnitude = ps < 0 ? 0 - static_cast<std::uint64_t>(ps) : static_cast<std::uint64_t>(ps);
  constexpr std::uint64_t kPerSecond = 1'000'000'000'000;
  std::string text = fmt::format("{}{}.{:012}", ps < 0 ? "-" : "", magnitude / kPerSecond, magnitude % kPerSecond);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace traingraph::analysis
