// The program of a FlowFile: rank 0 is a common sink, rank f + 1 computes until flow f starts and then sends it, over a path
// of its own.
#pragma once

#include <algorithm>
#include <vector>

#include "sim/router.h"
#include "tests/sim/flow_file.h"
#include "tests/sim/program_builder.h"

namespace traingraph::sim::tests {

class FlowProgram {
 public:
  /// REQUIRES: the file outlives the program.
  explicit FlowProgram(const FlowFile& file) : router_{file} {
    for (const double c : file.capacities) links_.push_back({Bandwidth::bytes_per_s(c), Duration{}});
    ProgramBuilder b;
    const RankId sink = b.rank(static_cast<std::uint32_t>(file.flows.size()));
    for (std::uint32_t f = 0; f < file.flows.size(); ++f) {
      const FlowFile::Flow& flow = file.flows[f];
      const RankId rank = b.rank(f);
      const ChannelId channel = b.channel(rank, sink, 1, Bandwidth::bytes_per_s(flow.cap));
      const Duration start = Duration::seconds(flow.start_s);
      if (start > Duration{}) b.compute(rank, start);
      b.send(rank, channel, Bytes{flow.bytes});
      send_op_.push_back(start > Duration{} ? 1 : 0);
    }
    for (const FlowFile::Change& c : file.changes)
      b.change_link(Duration::seconds(c.at_s), c.link, Bandwidth::bytes_per_s(c.bytes_per_s));
    program_ = b.build();
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

  LinkTable links_;
  FlowRouter router_;
  Program program_;
  std::vector<std::uint32_t> send_op_;
};

}  // namespace traingraph::sim::tests
