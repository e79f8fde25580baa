// Traffic: the bytes that one step puts on every link, counted by routing every edge of every collective and every message,
// without simulating. What the engine carries must equal it (conservation), and bytes over capacity is a lower bound.
//
// Cost: O(operations of the templates + ranks x distinct calls of their template + distinct edges of all communicators x
// links of a path). A ring's edge is routed once, whatever the number of its steps, layers and micro-batches; communicators
// of one shape with the same calls share their edge list. Memory: that of one edge list per (shape, calls).
//
// The connection number handed to the router is the engine's own (sim/collective_plans.h), so that hashed routes agree.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sim/ids.h"
#include "sim/link.h"
#include "sim/program.h"
#include "sim/router.h"

namespace traingraph::analysis {

/// How often one step calls collective `argument` (or sends message size `argument`).
struct CallCount {
  std::uint32_t argument = 0;
  std::uint64_t calls = 0;
  auto operator<=>(const CallCount&) const = default;
};

/// All calls of one step, by communicator (as its member 0 issues them: members agree) and by channel; ascending by
/// argument.
struct StepCalls {
  sim::IdVector<sim::CommunicatorId, std::vector<CallCount>> collectives;
  sim::IdVector<sim::ChannelId, std::vector<CallCount>> messages;
};

[[nodiscard]] StepCalls count_calls(const sim::Program& program);

/// Everything that one step sends from one rank to another over one connection.
struct Flow {
  sim::EndpointId source{};
  sim::EndpointId destination{};
  double bytes = 0;
  std::span<const sim::EndpointId>
      in_switch{};  ///< not empty: a reduction in the switches among these, not a point-to-point flow
};

/// Calls `visit` for every flow of one step, with the path it takes; flows of zero bytes and flows from an endpoint to
/// itself are left out.
void for_each_flow(const sim::Router& router, const sim::Program& program, const StepCalls& calls,
                   const std::function<void(const Flow&, const sim::Path&)>& visit);

/// Bytes per link and step.
[[nodiscard]] sim::IdVector<sim::LinkId, double> bytes_per_link(const sim::LinkTable& links, const sim::Router& router,
                                                                const sim::Program& program);

}  // namespace traingraph::analysis
