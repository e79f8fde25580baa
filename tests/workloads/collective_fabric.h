// Fabrics and programs for tests of collectives: ranks on a non-blocking switch, a port for each neighbour, a two-level
// tree; and a run of one collective that gives every rank's end.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/error.h"
#include "sim/simulate.h"
#include "workloads/collectives/collectives.h"

namespace traingraph::workloads {

/// Ranks on one switch that never blocks: up-link 2r and down-link 2r+1 of rank r.
class SwitchFabric final : public sim::Router {
 public:
  SwitchFabric(std::uint32_t ranks, sim::Bandwidth port, sim::Duration link_latency, sim::Duration overhead)
      : links{2 * std::size_t{ranks}, sim::Link{port, link_latency}}, overhead_{overhead} {}

  static sim::LinkId up(std::uint32_t rank) { return sim::LinkId{2 * rank}; }
  static sim::LinkId down(std::uint32_t rank) { return sim::LinkId{2 * rank + 1}; }
  [[nodiscard]] bool depends_on_connection() const override { return false; }

  sim::LinkTable links;

 private:
  [[nodiscard]] sim::Path do_route(sim::EndpointId source, sim::EndpointId destination, std::uint64_t) const override {
    return sim::single_path(links, {up(sim::index(source)), down(sim::index(destination))}, overhead_);
  }
  [[nodiscard]] sim::Path do_route_in_switch(std::span<const sim::EndpointId> members) const override {
    sim::Route route;
    route.stages.resize(2);
    for (const sim::EndpointId member : members) {
      route.stages[0].push_back(up(sim::index(member)));
      route.stages[1].push_back(down(sim::index(member)));
    }
    return sim::combine_routes(links, {route}, overhead_);
  }

  sim::Duration overhead_;
};

/// A link of its own from every rank to every other: nothing is shared but by transfers between the same two ranks.
class MeshFabric final : public sim::Router {
 public:
  MeshFabric(std::uint32_t ranks, sim::Bandwidth port, sim::Duration link_latency, sim::Duration overhead)
      : links{std::size_t{ranks} * ranks, sim::Link{port, link_latency}}, ranks_{ranks}, overhead_{overhead} {}

  [[nodiscard]] sim::LinkId link(std::uint32_t source, std::uint32_t destination) const {
    return sim::LinkId{source * ranks_ + destination};
  }
  [[nodiscard]] bool depends_on_connection() const override { return false; }

  sim::LinkTable links;

 private:
  [[nodiscard]] sim::Path do_route(sim::EndpointId source, sim::EndpointId destination, std::uint64_t) const override {
    return sim::single_path(links, {link(sim::index(source), sim::index(destination))}, overhead_);
  }
  [[nodiscard]] sim::Path do_route_in_switch(std::span<const sim::EndpointId>) const override {
    throw sim::InputError{"a mesh has no switch"};
  }

  std::uint32_t ranks_;
  sim::Duration overhead_;
};

/// Hosts on leaves, leaves on one spine: host up and down links, then leaf up and down links, all alike.
class TwoLevelFabric final : public sim::Router {
 public:
  TwoLevelFabric(std::uint32_t ranks, std::uint32_t per_leaf, sim::Bandwidth rate, sim::Duration link_latency)
      : links{2 * (std::size_t{ranks} + ranks / per_leaf), sim::Link{rate, link_latency}},
        ranks_{ranks},
        per_leaf_{per_leaf} {}

  [[nodiscard]] bool depends_on_connection() const override { return false; }

  sim::LinkTable links;

 private:
  [[nodiscard]] sim::Path do_route(sim::EndpointId source, sim::EndpointId destination, std::uint64_t) const override {
    const std::uint32_t s = sim::index(source);
    const std::uint32_t d = sim::index(destination);
    std::vector<sim::LinkId> hops{sim::LinkId{2 * s}};
    if (s / per_leaf_ != d / per_leaf_) {
      hops.push_back(sim::LinkId{2 * (ranks_ + s / per_leaf_)});
      hops.push_back(sim::LinkId{2 * (ranks_ + d / per_leaf_) + 1});
    }
    hops.push_back(sim::LinkId{2 * d + 1});
    return sim::single_path(links, hops, sim::Duration{});
  }
  [[nodiscard]] sim::Path do_route_in_switch(std::span<const sim::EndpointId>) const override {
    throw sim::InputError{"not in this fabric"};
  }

  std::uint32_t ranks_;
  std::uint32_t per_leaf_;
};

/// One communicator and the collective that its members call once, each after `late[i]`.
struct GroupCall {
  std::vector<std::uint32_t> members;  ///< ranks, in ring order
  std::shared_ptr<const sim::TransferSource> source;
  std::vector<sim::Duration> late;  ///< by member; empty: all at once
};

/// What `ranks` ranks do when the groups call their collectives; a rank may be in several groups, whose calls then overlap.
inline sim::Program program_of(std::uint32_t ranks, const std::vector<GroupCall>& groups) {
  sim::Program program;
  program.categories = {"wait"};
  program.labels = {{"late", 0, 0}, {"collective", 0, 0}};
  program.ranks.resize(ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    sim::Template role;
    role.name = "rank " + std::to_string(r);
    role.streams = 1;
    program.ranks[sim::RankId{r}].role = program.templates.push_back(role);
    program.ranks[sim::RankId{r}].endpoint = sim::EndpointId{r};
  }
  std::vector<std::vector<sim::Slot>> slots(ranks);
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    sim::Communicator communicator;
    communicator.name = "group[" + std::to_string(g) + "]";
    communicator.shape = g;
    program.collectives.push_back({"collective", groups[g].source->algorithm(), sim::Bytes{}});
    for (std::uint32_t i = 0; i < groups[g].members.size(); ++i) {
      const std::uint32_t r = groups[g].members[i];
      communicator.members.push_back(sim::RankId{r});
      sim::Template& role = program.templates[program.ranks[sim::RankId{r}].role];
      const auto stream = static_cast<std::uint16_t>(slots[r].empty() ? 0 : role.streams++);
      if (!groups[g].late.empty()) {
        program.durations.push_back(groups[g].late[i]);
        sim::Op compute;
        compute.kind = sim::OpKind::compute;
        compute.stream = stream;
        compute.argument = static_cast<std::uint32_t>(program.durations.size() - 1);
        role.add(compute, {});
      }
      sim::Op call;
      call.kind = sim::OpKind::collective;
      call.label = 1;
      call.stream = stream;
      call.slot = static_cast<std::uint16_t>(slots[r].size());
      call.argument = g;
      role.add(call, {});
      slots[r].push_back({g, i});
      role.slots = static_cast<std::uint32_t>(slots[r].size());
    }
    program.communicators.push_back(communicator);
  }
  for (std::uint32_t r = 0; r < ranks; ++r) {
    program.ranks[sim::RankId{r}].first_slot = static_cast<std::uint32_t>(program.slots.size());
    program.slots.insert(program.slots.end(), slots[r].begin(), slots[r].end());
  }
  program.source = [groups](std::uint32_t collective, std::uint32_t, std::span<const sim::RankId>) {
    return groups[collective].source;
  };
  return program;
}

struct GroupRun {
  sim::Record record;
  std::vector<std::vector<sim::Time>> ends;  ///< by rank: the end of each collective, in the order of its groups
};

inline GroupRun run_groups(const sim::LinkTable& links, const sim::Router& router, std::uint32_t ranks,
                           const std::vector<GroupCall>& groups, const sim::RunOptions& options) {
  const sim::Program program = program_of(ranks, groups);
  program.check();
  class Ends final : public sim::TraceSink {
   public:
    Ends(const sim::Program& p, std::vector<std::vector<sim::Time>>& ends) : program_{p}, ends_{ends} {}
    [[nodiscard]] bool wants_tasks() const override { return true; }
    [[nodiscard]] bool wants_transfers() const override { return false; }
    void task(const sim::TaskSpan& span) override {
      const sim::Template& role = program_.templates[program_.ranks[span.rank].role];
      const sim::Op& op = role.ops[span.op];
      if (op.kind == sim::OpKind::collective) ends_[sim::index(span.rank)][op.slot] = span.end;
    }
    void transfer(const sim::TransferSpan&) override {}

   private:
    const sim::Program& program_;
    std::vector<std::vector<sim::Time>>& ends_;
  };
  GroupRun run;
  run.ends.resize(ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const sim::Rank& rank = program.ranks[sim::RankId{r}];
    run.ends[r].resize(program.templates[rank.role].slots);
  }
  Ends ends{program, run.ends};
  run.record = sim::simulate(links, router, program, options, &ends);
  return run;
}

/// All ranks 0..n-1 in one group.
inline GroupCall everyone(std::shared_ptr<const sim::TransferSource> source) {
  GroupCall call;
  for (std::uint32_t m = 0; m < source->members(); ++m) call.members.push_back(m);
  call.source = std::move(source);
  return call;
}

}  // namespace traingraph::workloads
