// The program of a FlowFile: rank 0 is a common sink, rank f + 1 computes until flow f starts and then sends it, over a path
// of its own. Flows of equal start and size share a template, as ranks of one role do.
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "sim/program.h"
#include "sim/router.h"
#include "tests/sim/flow_file.h"

namespace traingraph::sim::tests {

class FlowProgram {
 public:
  /// REQUIRES: the file outlives the program.
  explicit FlowProgram(const FlowFile& file) : router_{file} {
    for (const double c : file.capacities) links_.push_back({Bandwidth::bytes_per_s(c), Duration{}});
    program_.categories = {"work", "idle"};
    program_.idle_category = 1;
    program_.labels = {{"work", 0, 0}};
    program_.steps = 1;
    const TemplateId nothing = program_.templates.push_back({});
    add_rank(nothing, file.flows.size(), 0);
    std::map<std::pair<Duration, double>, TemplateId> roles;
    for (std::uint32_t f = 0; f < file.flows.size(); ++f) {
      const FlowFile::Flow& flow = file.flows[f];
      const Duration start = Duration::seconds(flow.start_s);
      const auto [role, fresh] = roles.try_emplace({start, flow.bytes});
      if (fresh) role->second = role_of(start, Bytes{flow.bytes});
      const RankId rank = add_rank(role->second, f, f);
      program_.channels.push_back({rank, RankId{0}, 1, Bandwidth::bytes_per_s(flow.cap)});
      program_.slots.push_back({f, 0});
      send_op_.push_back(start > Duration{} ? 1 : 0);
    }
    for (const FlowFile::Change& c : file.changes)
      program_.link_changes.push_back(
          {Time::at(Duration::seconds(c.at_s)), static_cast<LinkId>(c.link), Bandwidth::bytes_per_s(c.bytes_per_s)});
  }

  [[nodiscard]] const LinkTable& links() const { return links_; }
  [[nodiscard]] const Router& router() const { return router_; }
  [[nodiscard]] const Program& program() const { return program_; }
  /// The send of a flow, as an index into its rank's operations.
  [[nodiscard]] std::uint32_t send_op(std::uint32_t flow) const { return send_op_[flow]; }

 private:
  class FlowRouter final : public Router {
   public:
    explicit FlowRouter(const FlowFile& file) : file_{file} {}
    [[nodiscard]] bool depends_on_connection() const override { return false; }

   private:
    [[nodiscard]] Path do_route(EndpointId source, EndpointId, std::uint64_t) const override {
      Path path;
      path.links = file_.flows[index(source)].hops;
      std::ranges::sort(path.links, {}, [](const PathLink& hop) { return hop.link; });
      return path;
    }
    [[nodiscard]] Path do_route_in_switch(std::span<const EndpointId>) const override { return {}; }
    const FlowFile& file_;
  };

  RankId add_rank(TemplateId role, std::size_t endpoint, std::uint32_t first_slot) {
    Rank rank;
    rank.role = role;
    rank.endpoint = static_cast<EndpointId>(endpoint);
    rank.first_slot = first_slot;
    return program_.ranks.push_back(rank);
  }
  /// Computes until the start, if that is later than 0, then sends.
  TemplateId role_of(Duration start, Bytes bytes) {
    Template role;
    role.slots = 1;
    Op op;
    if (start > Duration{}) {
      op.kind = OpKind::compute;
      op.argument = static_cast<std::uint32_t>(program_.durations.size());
      program_.durations.push_back(start);
      role.add(op, {});
    }
    op.kind = OpKind::send;
    op.argument = static_cast<std::uint32_t>(program_.message_bytes.size());
    program_.message_bytes.push_back(bytes);
    role.add(op, {});
    return program_.templates.push_back(std::move(role));
  }

  LinkTable links_;
  FlowRouter router_;
  Program program_;
  std::vector<std::uint32_t> send_op_;
};

}  // namespace traingraph::sim::tests
