#include "workloads/collective_run.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "sim/error.h"
#include "workloads/job.h"
#include "workloads/placement.h"
#include "workloads/program_writer.h"

namespace traingraph::workloads {
namespace {

std::uint32_t ranks_of(const CollectiveRunSpec& spec, const WorkloadSpec& common, const Cluster& cluster) {
  if (spec.ranks > 0) return spec.ranks;
  if (common.placement.kind == PlacementKind::list) return static_cast<std::uint32_t>(common.placement.gpus.size());
  return cluster.gpus;
}

}  // namespace

Workload build_collective_run(const CollectiveRunSpec& spec, const WorkloadSpec& common, const Cluster& cluster) {
  const std::uint32_t ranks = ranks_of(spec, common, cluster);
  if (ranks == 0) throw sim::InputError{"a collective needs at least one rank"};
  if (spec.iterations == 0) throw sim::InputError{"iterations must be at least 1"};
  if (!spec.late_entry.empty() && spec.late_entry.size() != ranks) {
    throw sim::InputError{fmt::format("late_entry lists {} ranks, but {} take part", spec.late_entry.size(), ranks)};
  }
  ProgramWriter writer{place(common.placement, ranks, cluster), cluster};
  const std::uint32_t collective = writer.collective(
      {.kind = spec.collective, .algorithm = spec.algorithm, .bytes = spec.bytes, .options = spec.options});
  const std::uint16_t label = writer.label(to_string(spec.collective), TimeCategory::exposed_dp);
  const std::uint16_t late_label = writer.label("late_entry", TimeCategory::idle);

  std::vector<sim::RankId> members;
  for (std::uint32_t r = 0; r < ranks; ++r) members.push_back(sim::RankId{r});
  const sim::CommunicatorId group = writer.communicator("group[0]", std::move(members));

  Workload workload;
  std::map<sim::Duration, sim::TemplateId> roles;  // one for each distinct late entry
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const sim::Duration late = spec.late_entry.empty() ? sim::Duration{} : spec.late_entry[r];
    if (late < sim::Duration{}) throw sim::InputError{fmt::format("late_entry of rank {} is negative", r)};
    auto role = roles.find(late);
    if (role == roles.end()) {
      sim::Template t;
      t.name = fmt::format("role {}", roles.size());
      t.streams = 1;
      t.slots = 1;
      sim::Op op;
      if (late > sim::Duration{}) {
        op.kind = sim::OpKind::compute;
        op.label = late_label;
        op.argument = writer.duration(late);
        t.add(op, {});
      }
      op.kind = sim::OpKind::collective;
      op.label = label;
      op.argument = collective;
      for (std::uint32_t i = 0; i < spec.iterations; ++i) t.add(op, {});
      role = roles.emplace(late, writer.add_template(std::move(t))).first;
      workload.roles.push_back({});
    }
    writer.add_rank(role->second, {{index(group), r}});
    workload.coordinates.push_back({.dp = r});
  }
  workload.description = fmt::format("{} ({}) of {} bytes on {} GPU{}, {} iteration{}", to_string(spec.collective),
                                     to_string(spec.algorithm), fmt::group_digits(std::llround(spec.bytes.count())), ranks,
                                     ranks == 1 ? "" : "s", spec.iterations, spec.iterations == 1 ? "" : "s");
  workload.flop_convention = "counted";
  workload.collective_bytes = spec.bytes * spec.iterations;
  workload.bus_bandwidth_factor = bus_bandwidth_factor(spec.collective, ranks);
  workload.program = writer.finish(common.steps, slow_factors(common, cluster));
  return workload;
}

}  // namespace traingraph::workloads
