#include "sim/program.h"

#include "sim/error.h"

namespace traingraph::sim {

std::uint32_t Template::add(Op op, std::span<const Dependency> needs) {
  SIM_ASSERT(op.stream < streams, "an operation's stream exists");
  SIM_ASSERT(needs.size() <= 255, "an operation has at most 255 dependencies");
  lengths_.resize(streams, 0);
  for (const Dependency& need : needs) {
    SIM_ASSERT(need.stream < streams && (need.stream != op.stream || need.position < stream_length(need.stream)),
               "a dependency names a stream of the template, and on its own stream an earlier operation");
  }
  op.first_dependency = static_cast<std::uint32_t>(dependencies.size());
  op.dependencies = static_cast<std::uint8_t>(needs.size());
  dependencies.insert(dependencies.end(), needs.begin(), needs.end());
  ops.push_back(op);
  return lengths_[op.stream]++;
}

std::uint32_t Template::stream_length(std::uint32_t stream) const { return stream < lengths_.size() ? lengths_[stream] : 0; }

namespace {

/// What a template uses one of its slots for.
struct SlotUse {
  bool collective = false;
  bool send = false;
  bool receive = false;
};

std::vector<SlotUse> slot_uses(const Template& role) {
  std::vector<SlotUse> uses(role.slots);
  for (const Op& op : role.ops) {
    if (op.kind == OpKind::collective) uses[op.slot].collective = true;
    if (op.kind == OpKind::send) uses[op.slot].send = true;
    if (op.kind == OpKind::receive) uses[op.slot].receive = true;
  }
  return uses;
}

void check_slot(const Program& program, RankId rank, const Slot& slot, const SlotUse& use) {
  SIM_ASSERT(!use.collective || !(use.send || use.receive), "a slot is a communicator or a channel");
  if (use.collective) {
    SIM_ASSERT(slot.target < program.communicators.size(), "a slot's communicator exists");
    const auto& members = program.communicators[static_cast<CommunicatorId>(slot.target)].members;
    SIM_ASSERT(slot.member < members.size() && members[slot.member] == rank, "a rank enters a communicator as itself");
  }
  if (use.send || use.receive) {
    SIM_ASSERT(slot.target < program.channels.size(), "a slot's channel exists");
    const Channel& channel = program.channels[static_cast<ChannelId>(slot.target)];
    SIM_ASSERT(!use.send || channel.source == rank, "a rank sends on channels that start at it");
    SIM_ASSERT(!use.receive || channel.destination == rank, "a rank receives on channels that lead to it");
  }
}

}  // namespace

void Program::check() const {
  SIM_ASSERT(steps > 0, "a program has at least one step");
  SIM_ASSERT(!categories.empty() && categories.size() <= kMaxCategories && idle_category < categories.size(),
             "a program names its categories");
  for (const OpLabel& label : labels)
    SIM_ASSERT(label.category < categories.size() && label.late_category < categories.size(), "a label's category exists");
  for (const Template& t : templates) {
    for (const Op& op : t.ops) {
      SIM_ASSERT(op.label < labels.size(), "an operation has a label");
      const bool uses_slot = op.kind == OpKind::collective || op.kind == OpKind::send || op.kind == OpKind::receive;
      SIM_ASSERT(!uses_slot || op.slot < t.slots, "an operation's slot exists");
      const std::size_t limit = op.kind == OpKind::compute      ? durations.size()
                                : op.kind == OpKind::collective ? collectives.size()
                                : op.kind == OpKind::send       ? message_bytes.size()
                                                                : ~std::size_t{0};
      SIM_ASSERT(op.argument < limit, "an operation's argument exists");
      for (std::uint32_t d = 0; d < op.dependencies; ++d) {
        const Dependency& dep = t.dependencies[op.first_dependency + d];
        SIM_ASSERT(dep.stream < t.streams && dep.position < t.stream_length(dep.stream), "a dependency exists");
      }
    }
  }
  for (const Channel& c : channels)
    SIM_ASSERT(ranks.contains(c.source) && ranks.contains(c.destination) && c.weight > 0,
               "a channel's ends exist, and its weight is positive");
  for (const Communicator& c : communicators)
    for (const RankId member : c.members) SIM_ASSERT(ranks.contains(member), "a communicator's members exist");
  std::vector<std::vector<SlotUse>> uses;
  for (const Template& t : templates) uses.push_back(slot_uses(t));
  for (std::uint32_t r = 0; r < ranks.size(); ++r) {
    const Rank& rank = ranks[static_cast<RankId>(r)];
    SIM_ASSERT(templates.contains(rank.role), "a rank's role exists");
    SIM_ASSERT(rank.first_slot + templates[rank.role].slots <= slots.size(), "a rank's slots exist");
    SIM_ASSERT(rank.compute_scale > 0, "a compute scale is positive");
    for (std::uint32_t s = 0; s < templates[rank.role].slots; ++s)
      check_slot(*this, static_cast<RankId>(r), slots[rank.first_slot + s], uses[index(rank.role)][s]);
  }
}

}  // namespace traingraph::sim
