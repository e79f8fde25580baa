#include "workloads/size_estimate.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/timeline.h"

namespace traingraph::workloads {
namespace {

// Bytes of the engine, the growth of its vectors included.
constexpr double kPerStream = 128;        // its state, its place in lists of waiting streams
constexpr double kPerTimelineEntry = 16;  // order, end of the run, sum of durations
constexpr double kPerMember = 8;          // of a communicator: its next call, its stream in the call in flight
constexpr double kPerPlan = 256;          // of a call on a communicator: the plan and its entry in the table of plans
constexpr double kPerLane = 94;           // of a plan: its bulk edge, the entry of its path in the cache
constexpr double kPerPathLink = 16;       // of the path of a lane
constexpr double kPerStep = 2 * 16;       // when it ended, its window
constexpr double kPerCounter = 20;        // a lane or an inbox of a call in flight
constexpr double kPerTransfer = 256;      // in flight: its flight, its place in the solver and on its links
constexpr double kPerChannel = 128;       // messages that have arrived, path
constexpr double kPerNode = 2 * 48;       // of the history

/// What one template does in a step.
struct Role {
  double operations = 0;
  double events = 0;                                                // collectives, messages and runs of kernels
  std::map<std::pair<std::uint16_t, std::uint32_t>, double> calls;  // by (slot, collective)
  double sends = 0;
};

Role role_of(const sim::Template& t, const std::vector<sim::Duration>& durations) {
  Role role;
  role.operations = static_cast<double>(t.ops.size());
  for (const sim::Op& op : t.ops) {
    if (op.kind == sim::OpKind::collective) role.calls[{op.slot, op.argument}] += 1;
    if (op.kind == sim::OpKind::send) role.sends += 1;
  }
  const sim::Timeline line{t, durations};
  for (std::uint32_t s = 0; s < line.streams(); ++s) {
    for (std::uint32_t p = 0; p < line.length(s); ++role.events) {
      const bool computes = t.ops[line.op_at(s, p)].kind == sim::OpKind::compute;
      p = computes ? line.run_end(s, p) : p + 1;
    }
  }
  return role;
}

/// One call of a collective on communicators of one shape.
struct Call {
  double transfers = 0;
  double lanes = 0;
  double inboxes = 0;
};

Call call_of(const sim::TransferSource& source) {
  Call call{.transfers = 0, .lanes = static_cast<double>(source.lanes()), .inboxes = static_cast<double>(source.inboxes())};
  for (std::uint32_t lane = 0; lane < source.lanes(); ++lane) call.transfers += source.sends(lane);
  return call;
}

template <class T>
double held(const std::vector<T>& v) {
  return static_cast<double>(v.capacity() * sizeof(T));
}

/// Of the events of a step of all stages of a pipeline, the share whose history is held apart.
double share_of_history(const PipelineFacts& pipeline) {
  const double stages = pipeline.stages;
  double histories = 1;
  for (double s = 1; s < stages; ++s) histories += std::min(1.0, s / 2 / pipeline.microbatches);
  return histories / stages;
}

class Estimator {
 public:
  Estimator(const Workload& workload, double links_per_path)
      : workload_{workload}, program_{workload.program}, per_lane_{kPerLane + kPerPathLink * links_per_path} {
    for (const sim::Template& t : program_.templates) {
      roles_.push_back(role_of(t, program_.durations));
      bytes_ += held(t.ops) + held(t.dependencies) + kPerTimelineEntry * static_cast<double>(t.ops.size());
    }
  }

  SizeEstimate run() {
    for (const sim::Rank& rank : program_.ranks) add(rank);
    for (const sim::Communicator& c : program_.communicators) {
      bytes_ += sizeof c + held(c.members) + kPerMember * static_cast<double>(c.members.size());
    }
    bytes_ += held(program_.slots) + static_cast<double>(program_.channels.size()) * (sizeof(sim::Channel) + kPerChannel);
    bytes_ += program_.steps * (kPerStep + kPerNode * share_of_history(workload_.pipeline) * events_);
    estimate_.memory = sim::Bytes{bytes_};
    return estimate_;
  }

 private:
  const Call& call(std::uint32_t collective, const sim::Communicator& c) {
    const auto [at, added] = calls_.try_emplace({collective, c.shape});
    if (added) at->second = call_of(*program_.source(collective, c.shape, c.members));
    return at->second;
  }

  [[nodiscard]] const sim::Slot& slot(const sim::Rank& rank, std::uint16_t number) const {
    return program_.slots[rank.first_slot + number];
  }

  void add(const sim::Rank& rank) {
    const Role& role = roles_[index(rank.role)];
    estimate_.operations += program_.steps * role.operations;
    estimate_.transfers += program_.steps * role.sends;
    bytes_ += sizeof(sim::Rank) + kPerStream * program_.templates[rank.role].streams;
    events_ += role.events / companions(rank, role);
    add_calls(rank, role);
  }

  /// Members of the communicator that the rank calls most often.
  [[nodiscard]] double companions(const sim::Rank& rank, const Role& role) const {
    std::map<std::uint16_t, double> by_slot;
    for (const auto& [key, times] : role.calls) by_slot[key.first] += times;
    const auto most =
        std::max_element(by_slot.begin(), by_slot.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == by_slot.end()) return 1;
    return static_cast<double>(program_.communicators[sim::CommunicatorId{slot(rank, most->first).target}].members.size());
  }

  /// The calls of communicators that this rank is the first member of, so that each is counted once.
  void add_calls(const sim::Rank& rank, const Role& role) {
    std::map<std::uint32_t, Call> largest;  // by communicator: one call in flight at a time
    for (const auto& [key, times] : role.calls) {
      const sim::Slot& at = slot(rank, key.first);
      if (at.member != 0) continue;
      const Call& one = call(key.second, program_.communicators[sim::CommunicatorId{at.target}]);
      estimate_.transfers += program_.steps * times * one.transfers;
      bytes_ += kPerPlan + per_lane_ * one.lanes;
      Call& most = largest[at.target];
      if (one.lanes + one.inboxes > most.lanes + most.inboxes) most = one;
    }
    for (const auto& [target, most] : largest) {
      bytes_ += kPerCounter * (most.lanes + most.inboxes) + kPerTransfer * most.lanes;
    }
  }

  const Workload& workload_;
  const sim::Program& program_;
  double per_lane_;
  std::vector<Role> roles_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Call> calls_;  // by (collective, shape)
  SizeEstimate estimate_;
  double bytes_ = 0;
  double events_ = 0;  // of one step, those of ranks that share a history counted once
};

}  // namespace

SizeEstimate estimate_size(const Workload& workload, double links_per_path) {
  return Estimator{workload, links_per_path}.run();
}

}  // namespace traingraph::workloads
