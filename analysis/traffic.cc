#include "analysis/traffic.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "sim/collective_plans.h"
#include "sim/error.h"

namespace traingraph::analysis {
namespace {

using sim::ChannelId;
using sim::CommunicatorId;
using sim::EndpointId;
using sim::OpKind;
using sim::Program;

/// One distinct call of a template: through which slot, with which argument, how often per step.
struct SlotCall {
  std::uint16_t slot = 0;
  std::uint32_t argument = 0;
  std::uint64_t calls = 0;
};

struct TemplateCalls {
  std::vector<SlotCall> collectives;
  std::vector<SlotCall> sends;
};

std::vector<SlotCall> distinct(std::map<std::pair<std::uint16_t, std::uint32_t>, std::uint64_t> counted) {
  std::vector<SlotCall> calls;
  calls.reserve(counted.size());
  for (const auto& [key, n] : counted) calls.push_back({key.first, key.second, n});
  return calls;
}

TemplateCalls calls_of(const sim::Template& role) {
  std::map<std::pair<std::uint16_t, std::uint32_t>, std::uint64_t> collectives, sends;
  for (const sim::Op& op : role.ops) {
    if (op.kind == OpKind::collective) ++collectives[{op.slot, op.argument}];
    if (op.kind == OpKind::send) ++sends[{op.slot, op.argument}];
  }
  return {distinct(std::move(collectives)), distinct(std::move(sends))};
}

void add_call(std::vector<CallCount>& calls, CallCount more) {
  const auto at = std::lower_bound(calls.begin(), calls.end(), more.argument,
                                   [](const CallCount& c, std::uint32_t argument) { return c.argument < argument; });
  if (at != calls.end() && at->argument == more.argument) {
    at->calls += more.calls;
  } else {
    calls.insert(at, more);
  }
}

/// One edge among the members of a communicator, with the bytes of one step.
struct Edge {
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  double bytes = 0;
  bool to_all = false;

  [[nodiscard]] auto key() const { return std::tuple{to_all, source, destination}; }
};

void add_lane(const sim::TransferSource& source, std::uint32_t member, std::uint32_t lane, double calls,
              std::vector<Edge>& edges) {
  const std::uint32_t sends = source.sends(lane);
  if (sends == 0) return;
  const auto add = [&](const sim::Send& send, double times) {
    edges.push_back(
        {.source = member, .destination = send.destination, .bytes = send.bytes.count() * times, .to_all = send.to_all});
  };
  if (source.uniform(lane)) {
    add(source.send(lane, 0), calls * static_cast<double>(sends));
    return;
  }
  for (std::uint32_t s = 0; s < sends; ++s) add(source.send(lane, s), calls);
}

/// Sums edges between the same members.
std::vector<Edge> merged(std::vector<Edge> edges) {
  std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.key() < b.key(); });
  std::vector<Edge> sums;
  for (const Edge& edge : edges) {
    if (!sums.empty() && sums.back().key() == edge.key()) {
      sums.back().bytes += edge.bytes;
    } else {
      sums.push_back(edge);
    }
  }
  std::erase_if(sums, [](const Edge& e) { return e.bytes == 0.0; });
  return sums;
}

std::vector<Edge> edges_of(const Program& program, const sim::Communicator& communicator,
                           const std::vector<CallCount>& calls) {
  std::vector<Edge> edges;
  for (const CallCount& call : calls) {
    const auto source = program.source(call.argument, communicator.shape, communicator.members);
    SIM_ASSERT(source != nullptr, "every collective that is called has an algorithm");
    for (std::uint32_t member = 0; member < source->members(); ++member) {
      for (std::uint32_t lane = source->first_lane(member); lane < source->first_lane(member + 1); ++lane) {
        add_lane(*source, member, lane, static_cast<double>(call.calls), edges);
      }
    }
  }
  return merged(std::move(edges));
}

class FlowWalk {
 public:
  FlowWalk(const sim::Router& router, const Program& program,
           const std::function<void(const Flow&, const sim::Path&)>& visit)
      : router_{router}, program_{program}, visit_{visit} {}

  void communicator(CommunicatorId id, const std::vector<CallCount>& calls) {
    const sim::Communicator& communicator = program_.communicators[id];
    if (calls.empty() || communicator.members.size() < 2) return;
    const auto [at, fresh] = edges_.try_emplace(std::pair{communicator.shape, calls});
    if (fresh) at->second = edges_of(program_, communicator, calls);
    endpoints_.clear();
    for (const sim::RankId member : communicator.members) endpoints_.push_back(program_.ranks[member].endpoint);
    for (const Edge& edge : at->second) {
      if (edge.to_all) {
        visit_({.source = endpoints_[edge.source],
                .destination = endpoints_[edge.source],
                .bytes = edge.bytes,
                .in_switch = endpoints_},
               router_.route_in_switch(endpoints_));
      } else {
        point_to_point(endpoints_[edge.source], endpoints_[edge.destination], edge.bytes,
                       sim::member_connection(id, edge.source, edge.destination));
      }
    }
  }

  void channel(ChannelId id, const std::vector<CallCount>& messages) {
    const sim::Channel& channel = program_.channels[id];
    double bytes = 0;
    for (const CallCount& m : messages) bytes += program_.message_bytes[m.argument].count() * static_cast<double>(m.calls);
    if (bytes == 0.0) return;
    point_to_point(program_.ranks[channel.source].endpoint, program_.ranks[channel.destination].endpoint, bytes,
                   sim::channel_connection(id));
  }

 private:
  void point_to_point(EndpointId source, EndpointId destination, double bytes, std::uint64_t connection) {
    if (source == destination) return;
    visit_({.source = source, .destination = destination, .bytes = bytes, .in_switch = {}},
           router_.route(source, destination, connection));
  }

  const sim::Router& router_;
  const Program& program_;
  const std::function<void(const Flow&, const sim::Path&)>& visit_;
  std::map<std::pair<std::uint32_t, std::vector<CallCount>>, std::vector<Edge>> edges_;  // by shape and calls
  std::vector<EndpointId> endpoints_;
};

}  // namespace

StepCalls count_calls(const Program& program) {
  std::vector<TemplateCalls> by_template;
  by_template.reserve(program.templates.size());
  for (const sim::Template& role : program.templates) by_template.push_back(calls_of(role));

  StepCalls calls{sim::IdVector<CommunicatorId, std::vector<CallCount>>(program.communicators.size()),
                  sim::IdVector<ChannelId, std::vector<CallCount>>(program.channels.size())};
  for (const sim::Rank& rank : program.ranks) {
    const TemplateCalls& role = by_template[index(rank.role)];
    for (const SlotCall& c : role.collectives) {
      const sim::Slot& slot = program.slots[rank.first_slot + c.slot];
      if (slot.member == 0) add_call(calls.collectives[CommunicatorId{slot.target}], {c.argument, c.calls});
    }
    for (const SlotCall& c : role.sends) {
      const sim::Slot& slot = program.slots[rank.first_slot + c.slot];
      add_call(calls.messages[ChannelId{slot.target}], {c.argument, c.calls});
    }
  }
  return calls;
}

void for_each_flow(const sim::Router& router, const Program& program, const StepCalls& calls,
                   const std::function<void(const Flow&, const sim::Path&)>& visit) {
  FlowWalk walk{router, program, visit};
  for (std::size_t c = 0; c < program.communicators.size(); ++c) {
    const CommunicatorId id{static_cast<std::uint32_t>(c)};
    walk.communicator(id, calls.collectives[id]);
  }
  for (std::size_t c = 0; c < program.channels.size(); ++c) {
    const ChannelId id{static_cast<std::uint32_t>(c)};
    walk.channel(id, calls.messages[id]);
  }
}

sim::IdVector<sim::LinkId, double> bytes_per_link(const sim::LinkTable& links, const sim::Router& router,
                                                  const Program& program) {
  sim::IdVector<sim::LinkId, double> bytes(links.size(), 0.0);
  for_each_flow(router, program, count_calls(program), [&](const Flow& flow, const sim::Path& path) {
    for (const sim::PathLink& hop : path.links) bytes[hop.link] += flow.bytes * hop.fraction();
  });
  return bytes;
}

}  // namespace traingraph::analysis
