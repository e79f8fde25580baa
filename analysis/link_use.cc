#include "analysis/link_use.h"

#include <algorithm>
#include <map>

#include "sim/error.h"

namespace traingraph::analysis {
namespace {

constexpr double kRounding = 1e-9;  // of a sum of doubles and of ends rounded to picoseconds, relative

/// Mean capacity of every link over the reported window.
sim::IdVector<sim::LinkId, double> mean_capacity(const topology::Fabric& fabric, const sim::Program& program,
                                                 const sim::Record& record) {
  sim::IdVector<sim::LinkId, double> mean(fabric.links.size(), 0.0);
  for (std::uint32_t l = 0; l < mean.size(); ++l) mean[sim::LinkId{l}] = fabric.links[sim::LinkId{l}].capacity.bytes_per_s();
  if (record.step_time() <= sim::Duration{}) return mean;

  std::vector<sim::Program::LinkChange> changes = program.link_changes;
  std::stable_sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
  std::map<sim::LinkId, double> now;  // of links that change
  for (const auto& change : changes) {
    const double before = now.try_emplace(change.link, mean[change.link]).first->second;
    const sim::Time from = std::clamp(change.at, record.window_begin(), record.window_end());
    const double rest = (record.window_end() - from) / record.step_time();
    mean[change.link] += (change.capacity.bytes_per_s() - before) * rest;
    now[change.link] = change.capacity.bytes_per_s();
  }
  return mean;
}

}  // namespace

std::vector<LinkUse> link_use(const topology::Fabric& fabric, const sim::Program& program, const sim::Record& record) {
  if (record.links.empty()) return {};
  SIM_ASSERT(record.links.size() == fabric.links.size(), "the record speaks of the fabric's links");
  const auto capacity = mean_capacity(fabric, program, record);
  const sim::Duration step = record.step_time();
  std::vector<LinkUse> links;
  links.reserve(fabric.links.size());
  for (std::uint32_t l = 0; l < fabric.links.size(); ++l) {
    const sim::LinkId id{l};
    const sim::LinkRecord& r = record.links[id];
    const double carried = capacity[id] * step.in_seconds();
    // 1 ns of slack: ends of transfers are rounded to picoseconds, and a window of one nanosecond may hold many.
    SIM_ASSERT(r.bytes <= carried * (1 + kRounding) + capacity[id] * 1e-9, "a link carries no more than its capacity");
    SIM_ASSERT(r.peak_utilization <= 1 + kRounding, "a link is never above its capacity");
    SIM_ASSERT(r.busy <= step, "a link is busy within the step");
    links.push_back({.link = id,
                     .name = fabric.link_info[id].name,
                     .tier = topology::to_string(fabric.link_info[id].tier),
                     .capacity_bytes_per_s = capacity[id],
                     .bytes = r.bytes,
                     .busy_fraction = step > sim::Duration{} ? r.busy / step : 0.0,
                     .mean_utilization = carried > 0 ? std::min(1.0, r.bytes / carried) : 0.0,
                     .peak_utilization = std::min(1.0, r.peak_utilization)});
  }
  return links;
}

std::vector<TierUse> tier_use(const topology::Fabric& fabric, const std::vector<LinkUse>& links) {
  std::map<topology::Tier, TierUse> by_tier;
  for (const LinkUse& l : links) {
    TierUse& t = by_tier[fabric.link_info[l.link].tier];
    t.tier = l.tier;
    ++t.links;
    if (l.bytes > 0) ++t.links_used;
    t.capacity_bytes_per_s += l.capacity_bytes_per_s;
    t.bytes += l.bytes;
    t.busy_fraction += l.busy_fraction;                                 // a sum until the loop below
    t.mean_utilization += l.mean_utilization * l.capacity_bytes_per_s;  // likewise, weighted
    t.peak_utilization = std::max(t.peak_utilization, l.peak_utilization);
  }
  std::vector<TierUse> tiers;
  for (auto& [tier, t] : by_tier) {
    t.busy_fraction /= static_cast<double>(t.links);
    t.mean_utilization = t.capacity_bytes_per_s > 0 ? t.mean_utilization / t.capacity_bytes_per_s : 0.0;
    tiers.push_back(t);
  }
  return tiers;
}

std::vector<LinkUse> most_loaded(std::vector<LinkUse> links, std::size_t count) {
  std::erase_if(links, [](const LinkUse& l) { return l.bytes <= 0; });
  const std::size_t n = std::min(count, links.size());
  std::partial_sort(links.begin(), links.begin() + static_cast<std::ptrdiff_t>(n), links.end(),
                    [](const LinkUse& a, const LinkUse& b) {
                      if (a.mean_utilization != b.mean_utilization) return a.mean_utilization > b.mean_utilization;
                      return a.link < b.link;
                    });
  links.resize(n);
  return links;
}

}  // namespace traingraph::analysis
