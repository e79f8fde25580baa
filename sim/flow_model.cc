#include "sim/flow_model.h"

#include <algorithm>

namespace traingraph::sim {

FlowModel::FlowModel(const LinkTable& links, const PathTable& paths, EventQueue& queue, const RunOptions& options)
    : queue_{queue},
      solver_{links, paths},
      loads_{links, options.bins},
      links_{static_cast<std::uint32_t>(links.size())},
      clocks_(links.size()) {}

void FlowModel::start(std::uint32_t id, PathId path, Bytes bytes, std::uint32_t weight, Bandwidth cap, Time) {
  if (id >= transfers_.size()) transfers_.resize(std::max<std::size_t>(id + 1, transfers_.size() * 2));
  Transfer& t = transfers_[id];
  t.remaining = fixed_bytes(bytes.count());
  if (weight != 1) t.remaining /= weight;
  t.clock = kNone;
  t.weight = weight;
  solver_.add(id, path, weight, cap.bytes_per_s());
}

void FlowModel::touch(std::uint32_t clock) {
  if (clocks_[clock].touched) return;
  clocks_[clock].touched = true;
  touched_.push_back(clock);
}

/// Takes the transfer off its clock: `remaining` says what is left of it.
void FlowModel::detach(std::uint32_t id, Time now) {
  Transfer& t = transfers_[id];
  FlowClock& clock = clocks_[t.clock];
  clock.advance(now);
  t.remaining = std::max<Fixed>(0, t.remaining - clock.served);
  ++t.stamp;
  touch(t.clock);
  t.clock = kNone;
}

/// Puts the transfer on the clock of what holds it now.
void FlowModel::attach(std::uint32_t id, Time now) {
  Transfer& t = transfers_[id];
  t.clock = solver_.group(id);
  if (t.clock == MaxMin::kOwn) {
    if (free_clocks_.empty()) {
      t.clock = static_cast<std::uint32_t>(clocks_.size());
      clocks_.emplace_back();
    } else {
      t.clock = free_clocks_.back();
      free_clocks_.pop_back();
    }
    clocks_[t.clock].level = solver_.rate(id) / t.weight;
    clocks_[t.clock].since = now;
  }
  FlowClock& clock = clocks_[t.clock];
  clock.advance(now);
  t.remaining += clock.served;
  clock.push({t.remaining, id, t.stamp});
  touch(t.clock);
}

void FlowModel::on_event(const Event& event, Time now) {
  const std::uint32_t id = event.payload;
  FlowClock& clock = clocks_[id];
  clock.event_at = Time::never();
  touch(id);
  while (!clock.entries.empty()) {
    const FlowClock::Entry& first = clock.entries.front();
    const std::uint32_t transfer = first.transfer;
    if (first.stamp == transfers_[transfer].stamp) {
      if (clock.first_end() > now) break;  // the level fell after this event was pushed
      ++transfers_[transfer].stamp;
      transfers_[transfer].clock = kNone;
      solver_.remove(transfer);
      completions_.push_back({transfer, false});
    }
    clock.pop();
  }
}

/// Sees to it that an event stands at the clock's next end.
void FlowModel::find_next_end(std::uint32_t id) {
  FlowClock& clock = clocks_[id];
  clock.touched = false;
  const auto dead = [&](const FlowClock::Entry& e) { return e.stamp != transfers_[e.transfer].stamp; };
  while (!clock.entries.empty() && dead(clock.entries.front())) clock.pop();
  if (clock.entries.empty()) {
    if (clock.event_at < Time::never()) queue_.cancel(clock.event);
    clock.event_at = Time::never();
    clock.served = 0;
    if (id >= links_) free_clocks_.push_back(id);
    return;
  }
  const Time end = clock.first_end();
  if (end >= clock.event_at) return;
  if (clock.event_at < Time::never()) queue_.cancel(clock.event);
  clock.event = queue_.push(end, EventKind::model, 0, id);
  clock.event_at = end;
}

void FlowModel::solve(Time now) {
  if (solver_.dirty()) take_new_levels(now);
  for (const std::uint32_t clock : touched_) find_next_end(clock);
  touched_.clear();
}

void FlowModel::take_new_levels(Time now) {
  solver_.solve();
  ++counters_.solves;
  counters_.transfers_touched += solver_.touched();
  counters_.transfers_changed += solver_.changed();
  for (const std::uint32_t id : solver_.moved()) {
    const std::uint32_t clock = transfers_[id].clock;
    if (clock != kNone && clock != solver_.group(id) && !(clock >= links_ && solver_.group(id) == MaxMin::kOwn))
      detach(id, now);
  }
  for (const std::uint32_t link : solver_.regraded()) {
    FlowClock& clock = clocks_[link];
    const double level = solver_.group_level(link) < std::numeric_limits<double>::infinity() ? solver_.group_level(link) : 0;
    if (level == clock.level) continue;
    clock.advance(now);
    clock.level = level;
    touch(link);
  }
  for (const std::uint32_t id : solver_.moved())
    if (transfers_[id].clock == kNone) attach(id, now);
  for (const std::uint32_t link : solver_.loaded()) {
    const auto id = static_cast<LinkId>(link);
    loads_.set_load(id, solver_.load(id), now);
  }
}

void FlowModel::set_capacity(LinkId link, Bandwidth capacity, Time now) {
  solver_.set_capacity(link, capacity.bytes_per_s());
  loads_.set_capacity(link, capacity.bytes_per_s(), now);
}

bool FlowModel::moving() const {
  return std::any_of(clocks_.begin(), clocks_.end(), [&](const FlowClock& c) {
    return c.level > 0 && std::any_of(c.entries.begin(), c.entries.end(),
                                      [&](const FlowClock::Entry& e) { return e.stamp == transfers_[e.transfer].stamp; });
  });
}

void FlowModel::finish(Record& record) {
  loads_.finish(record);
  record.counters.solves = counters_.solves;
  record.counters.transfers_touched = counters_.transfers_touched;
  record.counters.transfers_changed = counters_.transfers_changed;
}

}  // namespace traingraph::sim
