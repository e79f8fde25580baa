#include "workloads/program_writer.h"

#include <fmt/format.h>

#include <limits>
#include <memory>
#include <set>

#include "sim/error.h"

namespace traingraph::workloads {
namespace {

CollectiveOptions options_for(const CollectiveCall& call, std::uint32_t domain_size) {
  CollectiveOptions options = call.options;
  if (call.algorithm == Algorithm::hierarchical && options.domain_size == 0) options.domain_size = domain_size;
  return options;
}

}  // namespace

ProgramWriter::ProgramWriter(std::vector<sim::EndpointId> gpu_of, const Cluster& cluster) : gpu_of_{std::move(gpu_of)} {
  program_.categories = category_names();
  program_.idle_category = static_cast<sim::Category>(TimeCategory::idle);
  domain_of_.reserve(gpu_of_.size());
  for (const sim::EndpointId gpu : gpu_of_) domain_of_.push_back(cluster.domain[index(gpu)]);
  program_.ranks.reserve(gpu_of_.size());
}

std::uint16_t ProgramWriter::label(const std::string& name, TimeCategory category, TimeCategory late) {
  const auto [at, added] =
      label_numbers_.try_emplace({name, category, late}, static_cast<std::uint16_t>(program_.labels.size()));
  if (added) {
    if (program_.labels.size() > std::numeric_limits<std::uint16_t>::max()) {
      throw sim::InputError{"a program may have at most 65,536 different labels"};
    }
    program_.labels.push_back({name, static_cast<sim::Category>(category), static_cast<sim::Category>(late)});
  }
  return at->second;
}

std::uint32_t ProgramWriter::duration(sim::Duration d) {
  const auto [at, added] = duration_numbers_.try_emplace(d, static_cast<std::uint32_t>(program_.durations.size()));
  if (added) program_.durations.push_back(d);
  return at->second;
}

std::uint32_t ProgramWriter::message(sim::Bytes bytes) {
  const auto [at, added] =
      message_numbers_.try_emplace(bytes.count(), static_cast<std::uint32_t>(program_.message_bytes.size()));
  if (added) program_.message_bytes.push_back(bytes);
  return at->second;
}

std::uint32_t ProgramWriter::collective(const CollectiveCall& call) {
  const CollectiveOptions& o = call.options;
  const CallKey key{call.kind,     call.algorithm, call.bytes.count(), o.root,  o.pieces, o.piece_bytes.count(),
                    o.domain_size, o.inner,        o.stop_and_wait,    o.matrix};
  const auto [at, added] = call_numbers_.try_emplace(key, static_cast<std::uint32_t>(calls_.size()));
  if (added) {
    calls_.push_back(call);
    program_.collectives.push_back({to_string(call.kind), to_string(call.algorithm), call.bytes});
  }
  return at->second;
}

ProgramWriter::Shape ProgramWriter::shape_of(const std::vector<sim::RankId>& members) const {
  const auto size = static_cast<std::uint32_t>(members.size());
  std::set<std::int32_t> seen;
  std::uint32_t run_length = 0;  // of the first domain
  for (std::uint32_t i = 0; i < size;) {
    const std::int32_t domain = domain_of_[index(members[i])];
    std::uint32_t end = i + 1;
    while (end < size && domain_of_[index(members[end])] == domain) ++end;
    if (domain < 0 || !seen.insert(domain).second) return {size, 0};
    if (i == 0) run_length = end;
    if (end - i != run_length) return {size, 0};
    i = end;
  }
  return {size, run_length};
}

sim::CommunicatorId ProgramWriter::communicator(std::string name, std::vector<sim::RankId> members) {
  const Shape shape = shape_of(members);
  const auto [at, added] = shape_numbers_.try_emplace(shape, static_cast<std::uint32_t>(shapes_.size()));
  if (added) shapes_.push_back(shape);
  return program_.communicators.push_back({std::move(name), std::move(members), at->second});
}

sim::ChannelId ProgramWriter::channel(sim::RankId source, sim::RankId destination) {
  return program_.channels.push_back({.source = source, .destination = destination, .cap = {}});
}

sim::TemplateId ProgramWriter::add_template(sim::Template t) { return program_.templates.push_back(std::move(t)); }

void ProgramWriter::add_rank(sim::TemplateId role, const std::vector<sim::Slot>& slots) {
  SIM_ASSERT(slots.size() == program_.templates[role].slots, "a rank has the slots that its template names");
  sim::Rank rank;
  rank.role = role;
  rank.endpoint = gpu_of_[program_.ranks.size()];
  rank.first_slot = static_cast<std::uint32_t>(program_.slots.size());
  program_.slots.insert(program_.slots.end(), slots.begin(), slots.end());
  program_.ranks.push_back(rank);
}

void ProgramWriter::check_calls() const {
  // Which collectives each template calls on which slot; then which shapes are behind that slot. Never operations times
  // ranks.
  std::vector<std::set<std::pair<std::uint16_t, std::uint32_t>>> calls_of(program_.templates.size());
  for (std::uint32_t t = 0; t < program_.templates.size(); ++t) {
    for (const sim::Op& op : program_.templates[sim::TemplateId{t}].ops) {
      if (op.kind == sim::OpKind::collective) calls_of[t].emplace(op.slot, op.argument);
    }
  }
  std::set<std::pair<std::uint32_t, std::uint32_t>> checked;  // (collective, shape)
  for (const sim::Rank& rank : program_.ranks) {
    for (const auto& [slot, call_number] : calls_of[index(rank.role)]) {
      const sim::Communicator& c =
          program_.communicators[sim::CommunicatorId{program_.slots[rank.first_slot + slot].target}];
      if (!checked.emplace(call_number, c.shape).second) continue;
      const CollectiveCall& call = calls_[call_number];
      const Shape shape = shapes_[c.shape];
      if (call.algorithm == Algorithm::hierarchical && call.options.domain_size == 0 && shape.domain_size == 0) {
        throw sim::InputError{
            fmt::format("{} on {}: the hierarchical algorithm needs the same number of consecutive members in "
                        "each scale-up domain, which this placement does not give",
                        to_string(call.kind), c.name)};
      }
      try {
        check_collective(call.kind, call.algorithm, shape.members, call.bytes, options_for(call, shape.domain_size));
      } catch (const sim::InputError& e) {
        throw sim::InputError{fmt::format("{}: {}", c.name, e.what())};
      }
    }
  }
}

sim::Program ProgramWriter::finish(std::uint32_t steps, const std::vector<std::pair<sim::EndpointId, double>>& slow) {
  check_calls();
  std::map<sim::EndpointId, double> factors;
  for (const auto& [gpu, factor] : slow) factors[gpu] = factor;
  for (sim::Rank& rank : program_.ranks) {
    const auto found = factors.find(rank.endpoint);
    if (found != factors.end()) rank.compute_scale = found->second;
  }
  program_.steps = steps;
  // Shared by every copy of the program; never changes.
  const auto calls = std::make_shared<const std::vector<CollectiveCall>>(std::move(calls_));
  const auto shapes = std::make_shared<const std::vector<Shape>>(std::move(shapes_));
  program_.source = [calls, shapes](std::uint32_t collective, std::uint32_t shape, std::span<const sim::RankId> members) {
    const CollectiveCall& call = (*calls)[collective];
    return make_source(call.kind, call.algorithm, static_cast<std::uint32_t>(members.size()), call.bytes,
                       options_for(call, (*shapes)[shape].domain_size));
  };
  return std::move(program_);
}

}  // namespace traingraph::workloads
