#include "workloads/job.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "sim/error.h"
#include "workloads/placement.h"

namespace traingraph::workloads {

std::vector<sim::EndpointId> place_job(const PlacementSpec& placement, std::uint32_t ranks,
                                       std::optional<std::uint32_t> gpus, const char* what, const Cluster& cluster) {
  const bool listed = placement.kind == PlacementKind::list;
  const std::uint32_t used = gpus.value_or(listed ? static_cast<std::uint32_t>(placement.gpus.size()) : cluster.gpus);
  if (ranks != used) {
    const char* source = gpus ? "stated" : listed ? "in the placement list" : "in the fabric; state gpus to leave some idle";
    throw sim::InputError{fmt::format("{} = {}, but the GPUs used are {} ({})", what, ranks, used, source)};
  }
  return place(placement, ranks, cluster);
}

std::vector<std::pair<sim::EndpointId, double>> slow_factors(const WorkloadSpec& spec, const Cluster& cluster) {
  std::vector<std::pair<sim::EndpointId, double>> result;
  std::set<std::uint32_t> seen;
  for (const SlowGpu& slow : spec.slow_gpus) {
    if (!(slow.factor > 0) || !std::isfinite(slow.factor)) {
      throw sim::InputError{fmt::format("slow GPU {}: factor {} must be positive", slow.gpu, slow.factor)};
    }
    if (slow.gpu >= cluster.gpus) {
      throw sim::InputError{fmt::format("slow GPU {} does not exist; the fabric has {} GPUs", slow.gpu, cluster.gpus)};
    }
    if (!seen.insert(slow.gpu).second) throw sim::InputError{fmt::format("slow GPU {} is named twice", slow.gpu)};
    result.emplace_back(sim::EndpointId{slow.gpu}, slow.factor);
  }
  return result;
}

}  // namespace traingraph::workloads
