// Engine: streams, operations and point-to-point messages.
#pragma once

#include "sim/engine.h"

namespace traingraph::sim {

template <class Model>
Duration Engine<Model>::scaled(const Stream& s, std::uint32_t begin, std::uint32_t end) const {
  const double scale = program_.ranks[static_cast<RankId>(s.rank)].compute_scale;
  const Timeline& line = timeline(s);
  if (scale == 1.0) return line.duration(s.stream, begin, end);
  Duration sum;  // each operation rounds on its own, as it would outside a run
  for (std::uint32_t p = begin; p < end; ++p) sum = checked_sum(sum, line.duration(s.stream, p, p + 1).scaled(scale));
  return sum;
}

template <class Model>
void Engine<Model>::queue_stream(std::uint32_t stream, std::uint32_t released_by) {
  Stream& s = streams_[stream];
  s.status = Status::queued;
  s.released_by = released_by;
  ready_.push_back(stream);
}

template <class Model>
void Engine<Model>::drain_ready() {
  for (std::size_t i = 0; i < ready_.size(); ++i) advance(ready_[i]);
  ready_.clear();
}

template <class Model>
void Engine<Model>::advance(std::uint32_t stream) {
  Stream& s = streams_[stream];
  if (s.step == played_steps_ || timeline(s).length(s.stream) == 0) {
    s.status = Status::finished;
    return;
  }
  const Op& op = current_op(s);
  const Template& t = role(s);
  const std::uint32_t base = stream - s.stream;
  Time others;  // when the last thing other than the releaser had ended
  if (s.released_by != stream) others = s.last_end;
  for (std::uint32_t d = 0; d < op.dependencies; ++d) {
    const Dependency& dep = t.dependencies[op.first_dependency + d];
    Stream& target = streams_[base + dep.stream];
    const bool met = target.step > s.step || (target.step == s.step && target.position > dep.position);
    if (!met) {
      s.status = Status::blocked;
      s.next_waiter = target.waiters;
      target.waiters = stream;
      return;
    }
    if (base + dep.stream != s.released_by) others = std::max(others, target.last_end);
  }
  if (options_.critical_path) {
    s.cause = streams_[s.released_by].node;
    causes_.hold(s.cause);
    s.slack = now_ - others;
  }
  s.status = Status::running;
  s.start = now_;
  start_op(stream);
}

template <class Model>
void Engine<Model>::start_op(std::uint32_t stream) {
  Stream& s = streams_[stream];
  const Op& op = current_op(s);
  if (s.stream == 0 && now_ > s.last_end) {
    const Stream& releaser = streams_[s.released_by];
    account_.charge(static_cast<RankId>(s.rank), program_.labels[releaser.last_label], s.last_end, releaser.last_data_start,
                    now_);
  }
  switch (op.kind) {
    case OpKind::compute: {
      s.run_end = timeline(s).run_end(s.stream, s.position);
      const Duration run = scaled(s, s.position, s.run_end);
      if (run == Duration{}) {
        complete_plain(stream, s.run_end - s.position);
      } else {
        queue_.push(later(now_, run), EventKind::compute_end, timeline(s).op_at(s.stream, s.position), stream);
      }
      break;
    }
    case OpKind::marker:
      complete_plain(stream, 1);
      break;
    case OpKind::collective:
      enter_collective(stream, op);
      break;
    case OpKind::send:
      start_send(stream, op);
      break;
    case OpKind::receive:
      start_receive(stream, op);
      break;
  }
}

/// Completes `count` operations whose cause is simply what released them.
template <class Model>
void Engine<Model>::complete_plain(std::uint32_t stream, std::uint32_t count) {
  const Stream& s = streams_[stream];
  complete(stream, count, s.start, {s.cause, s.start, s.slack});
}

template <class Model>
void Engine<Model>::account_run(const Stream& s, std::uint32_t count, Time data_start) {
  const Timeline& line = timeline(s);
  const Template& t = role(s);
  const auto rank = static_cast<RankId>(s.rank);
  Time at = s.start;
  for (std::uint32_t p = s.position; p < s.position + count; ++p) {
    const std::uint32_t op = line.op_at(s.stream, p);
    const Time end = t.ops[op].kind == OpKind::compute ? at + scaled(s, p, p + 1) : now_;
    if (s.stream == 0) {
      const OpLabel& label = program_.labels[t.ops[op].label];
      if (t.ops[op].kind == OpKind::compute) {
        account_.charge(rank, label.category, at, end);
      } else {
        account_.charge(rank, label, at, data_start, end);
      }
    }
    if (trace_tasks_ != nullptr && s.step < program_.steps) trace_tasks_->task({rank, s.step, op, at, at, end});
    at = end;
  }
}

template <class Model>
void Engine<Model>::complete(std::uint32_t stream, std::uint32_t count, Time data_start, Cause cause) {
  Stream& s = streams_[stream];
  if (s.stream == 0 || trace_tasks_ != nullptr) account_run(s, count, data_start);
  s.last_label = role(s).ops[timeline(s).op_at(s.stream, s.position + count - 1)].label;
  if (s.stream == 0 && unknown_ > 0 && s.last_end < record_.window_end()) --unknown_;
  s.last_end = now_;
  // Of a run of compute operations, what others wait for is its last one.
  const std::uint32_t last = s.position + count - 1;
  s.last_data_start = count > 1 ? now_ - scaled(s, last, last + 1) : data_start;
  if (options_.critical_path) {
    const Causes::Node node = causes_.add({.parent = cause.parent,
                                           .references = 0,
                                           .stream = stream,
                                           .step = s.step,
                                           .first_position = s.position,
                                           .last_position = s.position + count - 1,
                                           .start = cause.start,
                                           .end = now_,
                                           .slack = cause.slack});
    causes_.drop(s.node);
    causes_.drop(s.cause);
    s.node = node;
    s.cause = Causes::kNone;
  }
  const std::uint32_t step = s.step;
  s.position += count;
  if (s.position == timeline(s).length(s.stream)) {
    s.position = 0;
    ++s.step;
  }
  if (step < program_.steps) {
    done_ops_ += count;
    open_ops_[step] -= count;
    if (open_ops_[step] == 0) end_step(stream, step);
  }
  // Those that waited come first: they must see what released them, not what this stream does next at the same instant.
  std::uint32_t waiter = std::exchange(s.waiters, kNone);
  while (waiter != kNone) {
    const std::uint32_t next = std::exchange(streams_[waiter].next_waiter, kNone);
    queue_stream(waiter, stream);
    waiter = next;
  }
  queue_stream(stream, stream);
}

/// The last operation of a step has ended, on `stream`.
template <class Model>
void Engine<Model>::end_step(std::uint32_t stream, std::uint32_t step) {
  record_.step_ends.push_back(now_);
  if (step + 2 == program_.steps) {
    account_.begin_window(now_);
    model_.begin_window(now_);
  }
  if (step + 1 != program_.steps) return;
  last_node_ = streams_[stream].node;
  causes_.hold(last_node_);
  end_window();
}

template <class Model>
std::uint32_t Engine<Model>::take_flight(Flight flight) {
  flight.posted = now_;
  if (free_flights_.empty()) {
    flights_.push_back(flight);
    return static_cast<std::uint32_t>(flights_.size() - 1);
  }
  const std::uint32_t id = free_flights_.back();
  free_flights_.pop_back();
  flights_[id] = flight;
  return id;
}

/// The transfer's life begins: software overhead, then it drains.
template <class Model>
void Engine<Model>::post(std::uint32_t flight) {
  const Flight& f = flights_[flight];
  const Duration overhead = f.kind == Flight::Kind::bulk ? Duration{} : paths_.overhead(f.path);
  // What ends as it begins goes through the queue as well: chains of empty sends must not nest calls.
  if (overhead == Duration{} && f.bytes.count() > 0 && !paths_.links(f.path).empty()) {
    begin_drain(flight);
  } else {
    queue_.push(later(now_, overhead), EventKind::transfer_begin, f.place, flight);
  }
}

template <class Model>
void Engine<Model>::begin_drain(std::uint32_t flight) {
  const Flight& f = flights_[flight];
  std::uint32_t weight = 1;
  Bandwidth cap;
  if (f.kind == Flight::Kind::message) {
    const Channel& channel = program_.channels[static_cast<ChannelId>(f.lane)];
    weight = channel.weight;
    cap = channel.cap;
  }
  if (f.bytes.count() > 0 && (!paths_.links(f.path).empty() || cap.bytes_per_s() > 0)) {
    model_.start(flight, f.path, f.bytes, weight, cap, now_);
    return;
  }
  left_wire(flight);
  if constexpr (Model::kReportsArrival)
    queue_.push(later(now_, paths_.latency(f.path)), EventKind::arrival, f.place, flight);
}

template <class Model>
void Engine<Model>::left_wire(std::uint32_t flight) {
  Flight& f = flights_[flight];
  f.drained = now_;
  const std::uint32_t place = f.place;
  const Duration latency = paths_.latency(f.path);
  const auto kind = f.kind;
  if constexpr (!Model::kReportsArrival) queue_.push(later(now_, latency), EventKind::arrival, place, flight);
  if (kind == Flight::Kind::message) {
    const Stream& s = streams_[f.owner];
    complete(f.owner, 1, f.posted, {s.cause, s.start, s.slack});
  } else if (kind == Flight::Kind::step) {
    const std::uint32_t id = f.owner;
    Instance& instance = *instances_[id];
    const std::uint32_t member =
        instance.state.left(f.lane, [&](std::uint32_t lane, std::uint32_t number) { post_send(id, lane, number); });
    if (instance.state.finished(member)) finish_member(id, member);
  } else {
    Instance& instance = *instances_[f.owner];
    if (--instance.outstanding == 0) charge_bulk(f.owner);
  }
}

template <class Model>
void Engine<Model>::arrive(std::uint32_t flight) {
  const Flight f = flights_[flight];
  free_flights_.push_back(flight);
  if (!f.after) ++record_.counters.transfers;
  if (trace_transfers_ != nullptr && !f.after) {
    trace_transfers_->transfer({f.source, f.destination, f.label, f.bytes, f.posted, f.drained, now_, paths_.hops(f.path)});
  }
  if (f.kind == Flight::Kind::message) {
    ChannelState& channel = channels_[f.lane];
    put_message(channel, {now_, f.cause, f.slack, kNone});
    if (const std::uint32_t receiver = channel.receiver; receiver != kNone) {
      channel.receiver = std::exchange(streams_[receiver].next_waiter, kNone);
      finish_receive(receiver, channel, f.posted);
    }
  } else if (f.kind == Flight::Kind::step) {
    deliver_step(f);
  }
}

template <class Model>
void Engine<Model>::start_send(std::uint32_t stream, const Op& op) {
  const Stream& s = streams_[stream];
  const std::uint32_t channel = slot(s, op).target;
  ChannelState& state = channels_[channel];
  if (state.path == CollectivePlan::kNoPath) {
    const Channel& c = program_.channels[static_cast<ChannelId>(channel)];
    state.path = cache_.path(program_.ranks[c.source].endpoint, program_.ranks[c.destination].endpoint,
                             channel_connection(static_cast<ChannelId>(channel)));
  }
  Flight flight;
  flight.kind = Flight::Kind::message;
  flight.owner = stream;
  flight.lane = channel;
  flight.path = state.path;
  flight.label = op.label;
  flight.place = timeline(s).op_at(s.stream, s.position);
  flight.bytes = program_.message_bytes[op.argument];
  flight.cause = s.cause;
  flight.slack = s.slack;
  flight.after = s.step >= program_.steps;
  causes_.hold(s.cause);
  if (trace_transfers_ != nullptr) {
    flight.source = program_.channels[static_cast<ChannelId>(channel)].source;
    flight.destination = program_.channels[static_cast<ChannelId>(channel)].destination;
  }
  post(take_flight(flight));
}

template <class Model>
void Engine<Model>::put_message(ChannelState& channel, const Message& message) {
  std::uint32_t id = free_message_;
  if (id == kNone) {
    id = static_cast<std::uint32_t>(messages_.size());
    messages_.push_back(message);
  } else {
    free_message_ = messages_[id].next;
    messages_[id] = message;
  }
  (channel.oldest == kNone ? channel.oldest : messages_[channel.newest].next) = id;
  channel.newest = id;
}

/// The oldest message of a channel that has one.
template <class Model>
typename Engine<Model>::Message Engine<Model>::take_message(ChannelState& channel) {
  const std::uint32_t id = channel.oldest;
  const Message message = messages_[id];
  channel.oldest = message.next;
  messages_[id].next = free_message_;
  free_message_ = id;
  return message;
}

template <class Model>
void Engine<Model>::start_receive(std::uint32_t stream, const Op& op) {
  ChannelState& channel = channels_[slot(streams_[stream], op).target];
  if (channel.oldest == kNone) {
    std::uint32_t* last = &channel.receiver;
    while (*last != kNone) last = &streams_[*last].next_waiter;
    *last = stream;
    return;
  }
  const Message message = take_message(channel);
  causes_.drop(message.cause);
  streams_[stream].slack = std::min(streams_[stream].slack, now_ - message.arrived);
  complete_plain(stream, 1);
}

/// The message that the waiting stream needed has arrived: its sender's cause is the receive's cause.
template <class Model>
void Engine<Model>::finish_receive(std::uint32_t stream, ChannelState& channel, Time begun) {
  const Message message = take_message(channel);
  const Duration slack = std::min(message.slack, now_ - streams_[stream].start);
  complete(stream, 1, begun, {message.cause, begun, slack});
  causes_.drop(message.cause);
}

}  // namespace traingraph::sim
