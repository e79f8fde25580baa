// Engine: collectives, in steps and in bulk.
#pragma once

#include "sim/engine.h"

namespace traingraph::sim {

template <class Model>
std::uint32_t Engine<Model>::new_instance(std::uint32_t stream, const Op& op, const Slot& at, std::uint32_t sequence) {
  std::uint32_t id;
  if (free_instances_.empty()) {
    id = static_cast<std::uint32_t>(instances_.size());
    instances_.push_back(std::make_unique<Instance>());
  } else {
    id = free_instances_.back();
    free_instances_.pop_back();
  }
  Instance& instance = *instances_[id];
  const Stream& s = streams_[stream];
  instance.plan = &plans_.plan(static_cast<CommunicatorId>(at.target), op.argument);
  instance.sequence = sequence;
  instance.newer = kNone;
  instance.label = op.label;
  instance.place = timeline(s).op_at(s.stream, s.position);
  instance.finished = 0;
  instance.outstanding = 0;
  instance.exact = false;
  instance.after = s.step >= program_.steps;
  instance.awaited = false;
  instance.last_cause = Causes::kNone;
  instance.streams.assign(instance.plan->source->members(), kNone);
  instance.entered = 0;
  const bool bulk = options_.collectives == CollectiveMode::bulk || (bulk_allowed_ && !instance.plan->bulk_exact);
  if (bulk) {
    instance.mode = Mode::bulk;
  } else if (options_.collectives == CollectiveMode::automatic && instance.plan->bulk_exact) {
    instance.mode = Mode::undecided;
    undecided_.push_back(id);
  } else {
    begin_steps(instance);
  }
  return id;
}

template <class Model>
void Engine<Model>::begin_steps(Instance& instance) {
  instance.mode = Mode::step;
  instance.state.reset(*instance.plan->source);
  for (std::uint32_t m = 0; m < instance.streams.size(); ++m)
    if (instance.streams[m] != kNone) instance.state.mark_entered(m);
}

/// The instance that this rank's next call on the communicator joins.
template <class Model>
std::uint32_t Engine<Model>::instance_for(std::uint32_t stream, const Op& op, const Slot& at) {
  CommunicatorState& state = communicators_[at.target];
  const std::uint32_t sequence = calls_[state.first_call + at.member]++;
  std::uint32_t id = state.oldest;
  while (id != kNone && instances_[id]->sequence != sequence) id = instances_[id]->newer;
  if (id == kNone) {
    id = new_instance(stream, op, at, sequence);
    (state.oldest == kNone ? state.oldest : instances_[state.newest]->newer) = id;
    state.newest = id;
    return id;
  }
  const std::uint32_t expected = instances_[id]->plan->collective;
  if (expected != op.argument) {
    throw InputError{describe_mismatch(program_, static_cast<CommunicatorId>(at.target), sequence, expected, op.argument,
                                       static_cast<RankId>(streams_[stream].rank))};
  }
  return id;
}

template <class Model>
void Engine<Model>::enter_collective(std::uint32_t stream, const Op& op) {
  const Slot& at = slot(streams_[stream], op);
  const std::uint32_t id = instance_for(stream, op, at);
  Instance& instance = *instances_[id];
  instance.streams[at.member] = stream;
  const Duration own = streams_[stream].slack;
  instance.slack = instance.entered == 0 ? own : std::min(own, now_ - instance.last_entry);
  ++instance.entered;
  instance.last_entry = now_;
  if (options_.critical_path) {
    causes_.hold(streams_[stream].cause);
    causes_.drop(instance.last_cause);
    instance.last_cause = streams_[stream].cause;
  }
  if (instance.mode == Mode::step) {
    instance.state.mark_entered(at.member);
    play_steps(id, at.member);
  } else if (instance.mode == Mode::staggered) {
    instance.entries[at.member] = now_;
    if (instance.entered == instance.streams.size()) start_staggered(id);
  } else if (instance.mode == Mode::bulk && instance.entered == instance.streams.size()) {
    start_bulk(id);
  }
}

/// Collectives for which bulk is exact if all members enter at this instant: the instant is over, so now it is known.
template <class Model>
void Engine<Model>::decide_open_modes() {
  for (std::size_t i = 0; i < undecided_.size(); ++i) {
    const std::uint32_t id = undecided_[i];
    Instance& instance = *instances_[id];
    const bool together = instance.entered == instance.streams.size();
    const std::uint32_t first = *std::find_if(instance.streams.begin(), instance.streams.end(),
                                              [](std::uint32_t stream) { return stream != kNone; });
    if (!together)
      instance.ring = plans_.staggered_ring(*instance.plan, static_cast<RankId>(streams_[first].rank), instance.place);
    if (!together && instance.ring != nullptr) {
      instance.mode = Mode::staggered;
      instance.entries.assign(instance.streams.size(), now_);
      continue;
    }
    if (together || bulk_allowed_ || planned_steps_ + instance.plan->sends > options_.step_limit) {
      instance.mode = Mode::bulk;
      instance.exact = together;
      if (together) start_bulk(id);
      continue;
    }
    planned_steps_ += instance.plan->sends;
    begin_steps(instance);
    for (std::uint32_t m = 0; m < instance.streams.size(); ++m)
      if (instance.streams[m] != kNone) play_steps(id, m);
  }
  undecided_.clear();
}

template <class Model>
void Engine<Model>::play_steps(std::uint32_t id, std::uint32_t member) {
  Instance& instance = *instances_[id];
  instance.state.begin(member, [&](std::uint32_t lane, std::uint32_t number) { post_send(id, lane, number); });
  if (instance.state.finished(member) && instance.streams[member] != kNone) finish_member(id, member);
}

template <class Model>
void Engine<Model>::note_ends(Flight& flight, std::uint32_t source_member, std::uint32_t destination_member) const {
  if (trace_transfers_ == nullptr) return;
  const auto& members = program_.communicators[instances_[flight.owner]->plan->communicator].members;
  flight.source = members[source_member];
  flight.destination = members[destination_member];
}

template <class Model>
void Engine<Model>::post_send(std::uint32_t id, std::uint32_t lane, std::uint32_t number) {
  const Instance& instance = *instances_[id];
  const Send send = instance.plan->source->send(lane, number);
  Flight flight;
  flight.kind = Flight::Kind::step;
  flight.owner = id;
  flight.lane = lane;
  flight.inbox = send.inbox;
  flight.to_all = send.to_all;
  flight.path = plans_.path(*instance.plan, lane, send);
  flight.label = instance.label;
  flight.place = instance.place;
  flight.bytes = send.bytes;
  flight.after = instance.after;
  note_ends(flight, instance.state.lane_member(lane), send.destination);
  post(take_flight(flight));
}

template <class Model>
void Engine<Model>::deliver_step(const Flight& f) {
  Instance& instance = *instances_[f.owner];
  const auto post_next = [&](std::uint32_t lane, std::uint32_t number) { post_send(f.owner, lane, number); };
  if (!f.to_all) {
    const std::uint32_t member = instance.state.arrived(f.lane, f.inbox, post_next);
    if (instance.state.finished(member)) finish_member(f.owner, member);
    return;
  }
  const std::uint32_t members = static_cast<std::uint32_t>(instance.streams.size());
  for (std::uint32_t m = 0; m < members; ++m) {
    const std::uint32_t inbox = instance.plan->source->first_inbox(m);
    instance.state.arrived(f.lane, inbox, post_next);
    if (instance.state.finished(m)) finish_member(f.owner, m);
  }
}

template <class Model>
void Engine<Model>::start_bulk(std::uint32_t id) {
  Instance& instance = *instances_[id];
  CollectivePlan& plan = *instance.plan;
  instance.begun = now_;
  if (instance.exact) {  // alone on its links at constant rates: its end is known
    const Duration charge = plans_.charge(plan);
    queue_.push(later(later(now_, plan.drain), charge), EventKind::collective_end, instance.place, id);
    return;
  }
  const std::vector<BulkEdge>& edges = plans_.bulk_edges(plan);
  instance.outstanding =
      static_cast<std::uint32_t>(edges.size()) + 1;  // one for ourselves: nothing ends before all have begun
  for (const BulkEdge& edge : edges) {
    Flight flight;
    flight.kind = Flight::Kind::bulk;
    flight.owner = id;
    flight.lane = edge.lane;
    flight.path = edge.path;
    flight.label = instance.label;
    flight.place = instance.place;
    flight.bytes = edge.bytes;
    flight.after = instance.after;
    note_ends(flight, lane_member(*plan.source, edge.lane), edge.destination);
    post(take_flight(flight));
  }
  if (--instance.outstanding == 0) charge_bulk(id);
}

/// All members have entered a ring that has its links to itself: its ends are known.
template <class Model>
void Engine<Model>::start_staggered(std::uint32_t id) {
  const Instance& instance = *instances_[id];
  const std::vector<Time> ends =
      instance.ring->play(instance.entries, plans_.ring_costs(*instance.plan), [](const auto&) {});
  for (std::uint32_t m = 0; m < ends.size(); ++m) {
    streams_[instance.streams[m]].instance = id;
    queue_.push(ends[m], EventKind::member_end, instance.place, instance.streams[m]);
  }
}

template <class Model>
void Engine<Model>::end_staggered(std::uint32_t stream) {
  const std::uint32_t id = streams_[stream].instance;
  const Instance& instance = *instances_[id];
  if (instance.finished + 1 == instance.streams.size()) record_staggered(instance);
  finish_member(id, slot(streams_[stream], current_op(streams_[stream])).member);
}

/// The transfers that a staggered ring stood for, into the record.
template <class Model>
void Engine<Model>::record_staggered(const Instance& instance) {
  CollectivePlan& plan = *instance.plan;
  const StaggeredRing::Costs costs = plans_.ring_costs(plan);
  const auto& members = program_.communicators[plan.communicator].members;
  const Bytes bytes = plan.source->send(0, 0).bytes;
  static_cast<void>(instance.ring->play(instance.entries, costs, [&](const StaggeredRing::SendTimes& send) {
    const PathId path = plan.lane_paths[send.lane];
    if constexpr (!Model::kReportsArrival)  // chunk plays every transfer
      for (const PathLink& hop : paths_.links(path))
        model_.carry(hop.link, plans_.lane_load(plan, hop), send.left - costs.drain, send.left);
    if (instance.after) return;
    ++record_.counters.transfers;
    if (trace_transfers_ == nullptr) return;
    trace_transfers_->transfer({members[send.lane], members[plan.source->send(send.lane, 0).destination], instance.label,
                                bytes, send.begin, send.left, send.arrived, paths_.hops(path)});
  }));
}

/// The last bulk transfer has left the wire: the rest is what steps would have cost.
template <class Model>
void Engine<Model>::charge_bulk(std::uint32_t id) {
  const Duration charge = plans_.charge(*instances_[id]->plan);
  queue_.push(later(now_, charge), EventKind::collective_end, instances_[id]->place, id);
}

template <class Model>
void Engine<Model>::end_bulk(std::uint32_t id) {
  const Instance& instance = *instances_[id];
  if (instance.exact) record_exact_bulk(instance);
  const auto members = static_cast<std::uint32_t>(instance.streams.size());
  for (std::uint32_t m = 0; m < members; ++m) finish_member(id, m);
}

/// The transfers that an exact bulk collective stood for, into the record.
template <class Model>
void Engine<Model>::record_exact_bulk(const Instance& instance) {
  CollectivePlan& plan = *instance.plan;
  const Time drained = instance.begun + plan.drain;
  const auto& members = program_.communicators[plan.communicator].members;
  if constexpr (!Model::kReportsArrival)  // chunk never plays exact bulk
    for (const LinkLoad& load : plans_.link_loads(plan)) model_.carry(load.link, load.bytes_per_s, instance.begun, drained);
  if (instance.after) return;
  for (const BulkEdge& edge : plans_.bulk_edges(plan)) {
    ++record_.counters.transfers;
    if (trace_transfers_ == nullptr) continue;
    trace_transfers_->transfer({members[lane_member(*plan.source, edge.lane)], members[edge.destination], instance.label,
                                edge.bytes, instance.begun, drained, std::min(now_, drained + paths_.latency(edge.path)),
                                paths_.hops(edge.path)});
  }
}

template <class Model>
void Engine<Model>::finish_member(std::uint32_t id, std::uint32_t member) {
  Instance& instance = *instances_[id];
  const std::uint32_t stream = instance.streams[member];
  ++instance.finished;
  const bool last = instance.finished == instance.streams.size();
  const Time entry = instance.last_entry;
  complete(stream, 1, entry, {instance.last_cause, entry, instance.slack});
  if (last) retire(id);
}

template <class Model>
void Engine<Model>::retire(std::uint32_t id) {
  Instance& instance = *instances_[id];
  if (!instance.after) {
    CollectiveModes& modes = record_.modes[instance.plan->collective];
    ++record_.counters.collectives;
    ++(instance.mode != Mode::bulk ? modes.step : instance.exact ? modes.bulk_exact : modes.bulk_forced);
  }
  if (instance.awaited) --unknown_;
  causes_.drop(instance.last_cause);
  CommunicatorState& state = communicators_[index(instance.plan->communicator)];
  std::uint32_t older = kNone;
  for (std::uint32_t i = state.oldest; i != id; i = instances_[i]->newer) older = i;
  (older == kNone ? state.oldest : instances_[older]->newer) = instance.newer;
  if (state.newest == id) state.newest = older;
  free_instances_.push_back(id);
}

}  // namespace traingraph::sim
