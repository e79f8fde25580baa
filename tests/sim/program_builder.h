// Hand-written programs in a few lines: one role per rank, slots bound as they are used.
//
//   ProgramBuilder b;
//   const auto sender = b.rank(0), receiver = b.rank(1);
//   const auto channel = b.channel(sender, receiver);
//   b.compute(sender, 3_us);
//   b.send(sender, channel, Bytes{1e6});
//   b.receive(receiver, channel);
//   Record r = simulate(links, router, b.build(), {});
//
// Every call appends one operation to the rank's template and returns the Dependency that waits for it. Its category is
// named after the label's beginning up to '.': "tp.all_reduce" is charged to "tp", and its lateness to "tp_late".
#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/program.h"

namespace traingraph::sim::tests {

struct How {
  std::string label = "work";
  std::uint32_t stream = 0;
  std::vector<Dependency> after = {};
};

class ProgramBuilder {
 public:
  using MakeSource = std::function<std::shared_ptr<const TransferSource>(std::uint32_t members)>;

  ProgramBuilder() { program_.idle_category = category("idle"); }

  RankId rank(std::uint32_t endpoint, double compute_scale = 1.0) {
    Rank r;
    r.role = program_.templates.push_back({});
    program_.templates[r.role].name = "role " + std::to_string(index(r.role));
    program_.templates[r.role].streams = 4;
    r.endpoint = static_cast<EndpointId>(endpoint);
    r.compute_scale = compute_scale;
    slots_.emplace_back();
    return program_.ranks.push_back(r);
  }
  ChannelId channel(RankId source, RankId destination, std::uint32_t weight = 1, Bandwidth cap = {}) {
    return program_.channels.push_back({source, destination, weight, cap});
  }
  CommunicatorId communicator(std::vector<RankId> members, std::string name = "world") {
    const auto shape = static_cast<std::uint32_t>(members.size());
    return program_.communicators.push_back({std::move(name), std::move(members), shape});
  }
  /// A kind of collective call; `make` builds its algorithm for a number of members.
  std::uint32_t collective(std::string name, Bytes bytes, MakeSource make) {
    program_.collectives.push_back({std::move(name), "test", bytes});
    make_.push_back(std::move(make));
    return static_cast<std::uint32_t>(program_.collectives.size() - 1);
  }

  Dependency compute(RankId rank, Duration duration, How how = {}) {
    program_.durations.push_back(duration);
    return add(rank, OpKind::compute, static_cast<std::uint32_t>(program_.durations.size() - 1), 0, how);
  }
  Dependency send(RankId rank, ChannelId channel, Bytes bytes, How how = {.label = "send"}) {
    program_.message_bytes.push_back(bytes);
    return add(rank, OpKind::send, static_cast<std::uint32_t>(program_.message_bytes.size() - 1),
               slot(rank, index(channel), 0, true), how);
  }
  Dependency receive(RankId rank, ChannelId channel, How how = {.label = "receive"}) {
    return add(rank, OpKind::receive, 0, slot(rank, index(channel), 0, true), how);
  }
  Dependency call(RankId rank, CommunicatorId communicator, std::uint32_t collective, How how = {.label = "collective"}) {
    const auto& members = program_.communicators[communicator].members;
    const auto member = static_cast<std::uint32_t>(std::find(members.begin(), members.end(), rank) - members.begin());
    return add(rank, OpKind::collective, collective, slot(rank, index(communicator), member, false), how);
  }
  Dependency marker(RankId rank, How how = {.label = "marker"}) { return add(rank, OpKind::marker, 0, 0, how); }

  void steps(std::uint32_t n) { program_.steps = n; }
  void change_link(Duration at, std::uint32_t link, Bandwidth capacity) {
    program_.link_changes.push_back({Time::at(at), static_cast<LinkId>(link), capacity});
  }

  [[nodiscard]] Category category(const std::string& name) {
    const auto at = std::find(program_.categories.begin(), program_.categories.end(), name);
    if (at == program_.categories.end()) program_.categories.push_back(name);
    return static_cast<Category>(std::find(program_.categories.begin(), program_.categories.end(), name) -
                                 program_.categories.begin());
  }

  [[nodiscard]] Program build() const {
    Program p = program_;
    for (std::uint32_t r = 0; r < p.ranks.size(); ++r) {
      p.ranks[static_cast<RankId>(r)].first_slot = static_cast<std::uint32_t>(p.slots.size());
      for (const auto& [slot, is_channel] : slots_[r]) p.slots.push_back(slot);
    }
    p.source = [make = make_](std::uint32_t collective, std::uint32_t, std::span<const RankId> members) {
      return make[collective](static_cast<std::uint32_t>(members.size()));
    };
    return p;
  }

 private:
  Dependency add(RankId rank, OpKind kind, std::uint32_t argument, std::uint16_t slot, const How& how) {
    Op op;
    op.kind = kind;
    op.argument = argument;
    op.slot = slot;
    op.label = label(how.label);
    op.stream = static_cast<std::uint16_t>(how.stream);
    Template& role = program_.templates[program_.ranks[rank].role];
    role.slots = static_cast<std::uint32_t>(slots_[index(rank)].size());
    return {how.stream, role.add(op, how.after)};
  }
  std::uint16_t slot(RankId rank, std::uint32_t target, std::uint32_t member, bool is_channel) {
    auto& slots = slots_[index(rank)];
    for (std::size_t i = 0; i < slots.size(); ++i)
      if (slots[i].first.target == target && slots[i].second == is_channel) return static_cast<std::uint16_t>(i);
    slots.push_back({Slot{target, member}, is_channel});
    return static_cast<std::uint16_t>(slots.size() - 1);
  }
  std::uint16_t label(const std::string& name) {
    for (std::size_t i = 0; i < program_.labels.size(); ++i)
      if (program_.labels[i].name == name) return static_cast<std::uint16_t>(i);
    const std::string kind = name.substr(0, name.find('.'));
    program_.labels.push_back({name, category(kind), category(kind + "_late")});
    return static_cast<std::uint16_t>(program_.labels.size() - 1);
  }

  Program program_;
  std::vector<MakeSource> make_;
  std::vector<std::vector<std::pair<Slot, bool>>> slots_;  // by rank; true: a channel
};

}  // namespace traingraph::sim::tests
