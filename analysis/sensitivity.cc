#include "analysis/sensitivity.h"

#include <cmath>

#include "sim/error.h"

namespace traingraph::analysis {
namespace {

constexpr double kDifference = 0.01;

double log_step_time(const std::function<sim::Duration(const Perturbation&)>& step_time, const Perturbation& perturbation) {
  const sim::Duration t = step_time(perturbation);
  SIM_ASSERT(t > sim::Duration{}, "a step whose sensitivity is asked for takes time");
  return std::log(static_cast<double>(t.count_ps()));
}

}  // namespace

std::string name_of(const Resource& resource) {
  switch (resource.kind) {
    case ResourceKind::bandwidth:
      return "bandwidth " + to_string(resource.tier.value());
    case ResourceKind::latency:
      return "latency " + to_string(resource.tier.value());
    case ResourceKind::software_overhead:
      return "software_overhead";
    case ResourceKind::flop_rate:
      return "flop_rate";
    case ResourceKind::hbm_bandwidth:
      return "hbm_bandwidth";
  }
  SIM_ASSERT(false, "every resource has a name");
}

std::vector<Resource> resources_of(const topology::Fabric& fabric) {
  std::vector<Resource> resources;
  for (const topology::Tier tier : topology::kTiers) {
    bool present = false, late = false;
    for (std::uint32_t l = 0; l < fabric.links.size(); ++l) {
      const sim::LinkId id{l};
      if (fabric.link_info[id].tier != tier) continue;
      present = true;
      late = late || fabric.links[id].latency > sim::Duration{};
    }
    if (present) resources.push_back({ResourceKind::bandwidth, tier});
    if (late) resources.push_back({ResourceKind::latency, tier});
  }
  for (const ResourceKind kind : {ResourceKind::software_overhead, ResourceKind::flop_rate, ResourceKind::hbm_bandwidth}) {
    resources.push_back({kind, std::nullopt});
  }
  return resources;
}

sim::LinkTable perturbed_links(const topology::Fabric& fabric, const Perturbation& perturbation) {
  sim::LinkTable links = fabric.links;
  for (std::uint32_t l = 0; l < links.size(); ++l) {
    const sim::LinkId id{l};
    if (fabric.link_info[id].tier != perturbation.resource.tier) continue;
    if (perturbation.resource.kind == ResourceKind::bandwidth) links[id].capacity = links[id].capacity * perturbation.factor;
    if (perturbation.resource.kind == ResourceKind::latency)
      links[id].latency = links[id].latency.scaled(perturbation.factor);
  }
  return links;
}

std::vector<Sensitivity> sensitivities(const std::vector<Resource>& resources,
                                       const std::function<sim::Duration(const Perturbation&)>& step_time) {
  std::vector<Sensitivity> values;
  values.reserve(resources.size());
  for (const Resource& resource : resources) {
    const double more = log_step_time(step_time, {resource, 1 + kDifference});
    const double less = log_step_time(step_time, {resource, 1 - kDifference});
    values.push_back({name_of(resource), (more - less) / (std::log1p(kDifference) - std::log1p(-kDifference))});
  }
  return values;
}

}  // namespace traingraph::analysis
