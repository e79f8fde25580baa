#include "workloads/build.h"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "sim/error.h"
#include "workloads/collective_run.h"
#include "workloads/custom_program.h"
#include "workloads/linear_blocks.h"
#include "workloads/transformer.h"

namespace traingraph::workloads {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;  // clang 16 does not deduce it for aggregates

// Transfers of one instance of a collective when it is played step by step.
double transfers_of(const sim::TransferSource& source) {
  double sum = 0;
  for (std::uint32_t lane = 0; lane < source.lanes(); ++lane) sum += source.sends(lane);
  return sum;
}

// How often each operation of a template that needs the network occurs: (slot, collective) and sends.
struct NetworkUse {
  std::map<std::pair<std::uint16_t, std::uint32_t>, double> collectives;
  double sends = 0;
};

NetworkUse network_use(const sim::Template& t) {
  NetworkUse use;
  for (const sim::Op& op : t.ops) {
    if (op.kind == sim::OpKind::collective) use.collectives[{op.slot, op.argument}] += 1;
    if (op.kind == sim::OpKind::send) use.sends += 1;
  }
  return use;
}

template <class T>
double heap_bytes(const std::vector<T>& v) {
  return static_cast<double>(v.size() * sizeof(T));
}

}  // namespace

Workload build(const WorkloadSpec& spec, const HardwareSpec& hardware, const Cluster& cluster) {
  if (spec.steps == 0) throw sim::InputError{"steps must be at least 1"};
  return std::visit(Overloaded{
                        [&](const TransformerSpec& job) { return build_transformer(job, spec, hardware, cluster); },
                        [&](const LinearBlocksSpec& job) { return build_linear_blocks(job, spec, hardware, cluster); },
                        [&](const CollectiveRunSpec& job) { return build_collective_run(job, spec, cluster); },
                        [&](const CustomProgramSpec& job) { return build_custom_program(job, spec, cluster); },
                    },
                    spec.job);
}

SizeEstimate estimate_size(const sim::Program& program) {
  // Bytes that the engine holds for each stream, each lane and inbox of a collective in flight, and each transfer in flight
  // with its share of the links: rough figures, for the order of magnitude of a run.
  constexpr double kPerStream = 96;
  constexpr double kPerCounter = 16;
  constexpr double kPerTransfer = 256;

  SizeEstimate estimate;
  double bytes = 0;
  std::vector<NetworkUse> uses;
  std::vector<double> operations;
  for (const sim::Template& t : program.templates) {
    uses.push_back(network_use(t));
    operations.push_back(static_cast<double>(t.ops.size()));
    bytes += heap_bytes(t.ops) + heap_bytes(t.dependencies);
  }
  struct Instance {
    double transfers = 0;
    double counters = 0;  // lanes and inboxes
    double lanes = 0;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Instance> instances;  // by (collective, shape)
  const auto instance_of = [&](std::uint32_t collective, const sim::Communicator& c) -> const Instance& {
    const auto [at, added] = instances.try_emplace({collective, c.shape});
    if (added) {
      const auto source = program.source(collective, c.shape, c.members);
      at->second = {transfers_of(*source), static_cast<double>(source->lanes()) + source->inboxes(),
                    static_cast<double>(source->lanes())};
    }
    return at->second;
  };
  const double steps = program.steps;
  double in_flight = 0;
  for (const sim::Rank& rank : program.ranks) {
    const std::size_t role = index(rank.role);
    estimate.operations += steps * operations[role];
    estimate.transfers += steps * uses[role].sends;
    bytes += sizeof(sim::Rank) + kPerStream * program.templates[rank.role].streams;
    std::map<std::uint32_t, Instance> largest;  // per communicator led by this rank: one instance in flight at a time
    for (const auto& [call, times] : uses[role].collectives) {
      const sim::Slot& slot = program.slots[rank.first_slot + call.first];
      if (slot.member != 0) continue;  // counted once, for the first member
      const Instance& one = instance_of(call.second, program.communicators[sim::CommunicatorId{slot.target}]);
      estimate.transfers += steps * times * one.transfers;
      Instance& most = largest[slot.target];
      if (one.counters > most.counters) most = one;
    }
    for (const auto& [target, most] : largest) {
      bytes += kPerCounter * most.counters;
      in_flight += most.lanes;
    }
  }
  for (const sim::Communicator& c : program.communicators) bytes += heap_bytes(c.members) + sizeof(sim::Communicator);
  bytes += heap_bytes(program.slots) + heap_bytes(program.channels.raw());
  estimate.memory = sim::Bytes{bytes + kPerTransfer * in_flight};
  return estimate;
}

}  // namespace traingraph::workloads
