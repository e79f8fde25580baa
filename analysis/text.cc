#include "analysis/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/format.h"

namespace traingraph::analysis {
namespace {

constexpr std::size_t kListed = 6;  // shares of the critical path that are worth a line

std::string line(std::string text) { return shortened(text, kTextWidth) + "\n"; }

std::string heading(const std::string& text) { return "\n" + line(text); }

std::string share(sim::Duration part, sim::Duration whole) {
  if (whole <= sim::Duration{}) return human_time(part);
  return fmt::format("{} {:>7}", human_time(part), percent(part / whole));
}

std::string head(const Result& r) {
  std::string text;
  if (!r.description.empty()) text += line(r.description);
  const std::string where = r.fabric.empty() ? "" : " on " + r.fabric;
  text += line(fmt::format("{}{}, network model {}", counted(r.gpus, "GPU"), where, r.network));
  text += "\n";
  const std::string which = r.steps > 1 ? fmt::format("  (step {} of {})", r.steps, r.steps) : "";
  text += line(fmt::format("step time        {}{}", human_time(r.step_time), which));
  if (r.tokens_per_s) {
    text += line(fmt::format("throughput       {} tokens/s, {} tokens/s per GPU", human_count(*r.tokens_per_s),
                             human_count(*r.tokens_per_s_per_gpu)));
  }
  if (r.bus_bandwidth) {
    text += line(fmt::format("bandwidth        {} algbw, {} busbw (as nccl-tests counts)",
                             human_rate(*r.algorithm_bandwidth), human_rate(*r.bus_bandwidth)));
  }
  if (r.tflops_per_gpu) {
    text += line(fmt::format("model FLOP       {}FLOP per step ({}), {:.1f} TFLOP/s per GPU",
                             human_count(*r.model_flop_per_step), r.flop_convention, *r.tflops_per_gpu));
  }
  if (r.mfu) text += line(fmt::format("MFU / HFU        {} / {}", percent(*r.mfu), percent(*r.hfu)));
  if (r.lower_bound > sim::Duration{}) {
    text += line(fmt::format("lower bound      {}  ({}), gap {:.3f}", human_time(r.lower_bound), r.binding_bound, r.gap));
  }
  if (!r.memory.terms.empty()) {
    text += line(fmt::format("peak memory      {} of {} per GPU ({})", human_bytes(r.memory.peak_memory_bytes),
                             r.memory.capacity_bytes > 0 ? human_bytes(r.memory.capacity_bytes) : "unknown", r.memory.role));
  }
  return text;
}

std::string splits(const Result& r) {
  const TimeSplit* shown[] = {&r.busiest, &r.median, &r.least_busy};
  std::string text =
      heading(fmt::format("{:<16}{:>26}{:>26}{:>26}", "where time went", "busiest GPU", "median GPU", "least busy GPU"));
  std::string names = fmt::format("{:<16}", "");
  for (const TimeSplit* s : shown) names += fmt::format("{:>26}", shortened(s->gpu, 25));
  text += line(names);
  for (std::size_t p = 0; p < r.busiest.parts.size(); ++p) {
    const auto nothing = [p](const TimeSplit* s) { return s->parts[p].time == sim::Duration{}; };
    if (std::all_of(std::begin(shown), std::end(shown), nothing)) continue;
    std::string row = fmt::format("  {:<14}", r.busiest.parts[p].name);
    for (const TimeSplit* s : shown) row += fmt::format("{:>26}", share(s->parts[p].time, r.step_time));
    text += line(row);
  }
  return text;
}

std::string tiers(const Result& r) {
  if (r.tiers.empty()) return "";
  std::string text = heading(
      fmt::format("{:<16}{:>14}{:>14}{:>14}{:>14}{:>14}", "links by tier", "links", "bytes", "busy", "mean", "peak"));
  for (const TierUse& t : r.tiers) {
    text += line(fmt::format("  {:<14}{:>14}{:>14}{:>14}{:>14}{:>14}", t.tier, with_thousands(t.links), human_bytes(t.bytes),
                             percent(t.busy_fraction), percent(t.mean_utilization), percent(t.peak_utilization)));
  }
  return text;
}

std::string top_links(const Result& r) {
  if (r.top_links.empty()) return "";
  std::string text =
      heading(fmt::format("{:<44}{:>14}{:>14}{:>14}{:>14}", "most loaded links", "capacity", "bytes", "mean", "peak"));
  for (const LinkUse& l : r.top_links) {
    text += line(fmt::format("  {:<42}{:>14}{:>14}{:>14}{:>14}", shortened(l.name, 41), human_rate(l.capacity_bytes_per_s),
                             human_bytes(l.bytes), percent(l.mean_utilization), percent(l.peak_utilization)));
  }
  return text;
}

std::string bounds(const Result& r) {
  if (r.bounds.empty()) return "";
  std::string text = heading(fmt::format("{:<16}{:>12}  {:<28}{:<30}{}", "lower bounds", "", "of", "holds for", "window"));
  for (const Bound& b : r.bounds) {
    text += line(fmt::format("{} {:<14}{:>12}  {:<28}{:<30}{}", b.binds ? "*" : " ", b.name, human_time(b.value),
                             shortened(b.subject, 27), b.holds_for, to_string(b.window)));
    if (!b.holds()) text += line(fmt::format("  BROKEN: simulated in {}, below this bound", human_time(b.simulated)));
  }
  const auto chain_of_a_step = [](const Bound& b) { return b.name == "chain" && b.window == BoundWindow::steady_step; };
  if (r.steps > 1 && std::none_of(r.bounds.begin(), r.bounds.end(), chain_of_a_step)) {
    text +=
        line("  chain from one step to the next: not known, because collectives were played in inexact bulk (see below);");
    text += line("  workload.steps=1 or a larger run.step_limit gives it");
  }
  return text;
}

std::string path_shares(const char* title, const std::vector<PathShare>& shares) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kListed, shares.size()); ++i) {
    text += line(fmt::format("  {:<7}{:<30}{:>12}{:>10}{:>14} element{}", i == 0 ? title : "", shortened(shares[i].name, 29),
                             human_time(shares[i].time), percent(shares[i].fraction), with_thousands(shares[i].elements),
                             shares[i].elements == 1 ? "" : "s"));
  }
  return text;
}

std::string critical(const Result& r) {
  const CriticalPath& path = r.critical_path;
  if (path.elements.empty()) return "";
  return heading(
             fmt::format("critical path   {} in {}", human_time(path.length), counted(path.elements.size(), "element"))) +
         path_shares("kind", path.by_kind) + path_shares("task", path.by_task);
}

std::string memory(const Result& r) {
  if (r.memory.terms.empty()) return "";
  std::string text = heading(fmt::format("memory of a GPU of {}", r.memory.role));
  for (const MemoryPart& term : r.memory.terms)
    text += line(fmt::format("  {:<40}{:>14}", term.name, human_bytes(term.bytes)));
  return text;
}

/// The reasons stand below the table, each once: they are sentences, and many collectives share them.
std::string collectives(const Result& r) {
  if (r.collectives.empty()) return "";
  std::string text = heading(fmt::format("{:<34}{:>12}{:>12}{:>12}{:>14}{:>14}", "collectives", "buffer", "calls",
                                         "in steps", "exact bulk", "inexact bulk"));
  std::vector<std::string> reasons;
  for (const CollectiveUse& c : r.collectives) {
    text += line(fmt::format("  {:<32}{:>12}{:>12}{:>12}{:>14}{:>14}", shortened(c.name + " " + c.algorithm, 31),
                             human_bytes(c.bytes), with_thousands(c.calls), with_thousands(c.step),
                             with_thousands(c.bulk_exact), with_thousands(c.bulk_forced)));
    for (const std::string& reason : c.reasons) {
      if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) reasons.push_back(reason);
    }
  }
  for (const std::string& reason : reasons) text += line("  " + reason);
  return text;
}

std::string sensitivity(const Result& r) {
  if (r.sensitivity.empty()) return "";
  std::string text = heading("sensitivity: step time in % per % of");
  for (const Sensitivity& s : r.sensitivity)
    text += line(fmt::format("  {:<32}{:>10.3f}", s.resource, s.percent_per_percent));
  return text;
}

std::string transient(const Result& r) {
  if (r.step_ends.size() < 2) return "";
  std::string text = "transient        steps took";
  sim::Time before = sim::Time::zero();
  for (const sim::Time end : r.step_ends) {
    text += " " + human_time(end - before) + (end == r.step_ends.back() ? "" : ",");
    before = end;
  }
  return "\n" + line(text);
}

std::string engine(const Result& r) {
  const EngineCounters& e = r.engine;
  std::string text = transient(r);
  text += std::string{r.step_ends.size() < 2 ? "\n" : ""} +
          line(fmt::format("engine           {} events, {} operations, {} transfers, {} rate solves",
                           human_count(static_cast<double>(e.events)), human_count(static_cast<double>(e.operations)),
                           human_count(static_cast<double>(e.transfers)), human_count(static_cast<double>(e.rate_solves))));
  if (r.effort) {
    text += line(fmt::format("                 {:.2f} s wall time, {} resident at most", r.effort->wall_s,
                             human_bytes(r.effort->peak_rss_bytes)));
  }
  return text;
}

}  // namespace

std::string shortened(const std::string& text, std::size_t width) {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  std::vector<std::size_t> starts;  // where each column's character starts
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!continues(text[i])) starts.push_back(i);
  }
  if (starts.size() <= width) return text;
  if (width <= 3) return text.substr(0, starts[width]);
  const std::size_t front = (width - 3 + 1) / 2, back = width - 3 - front;
  const std::string end = back == 0 ? "" : text.substr(starts[starts.size() - back]);
  return text.substr(0, starts[front]) + "..." + end;
}

std::string to_text(const Result& r) {
  return head(r) + splits(r) + tiers(r) + top_links(r) + bounds(r) + critical(r) + memory(r) + collectives(r) +
         sensitivity(r) + engine(r);
}

}  // namespace traingraph::analysis
