#include "sim/flow_model.h"

#include <algorithm>

#include "sim/end_time.h"
#include "sim/error.h"

namespace traingraph::sim {

FlowModel::FlowModel(const LinkTable& links, const PathTable& paths, EventQueue& queue, const RunOptions& options)
    : paths_{paths}, queue_{queue}, solver_{links, paths}, loads_{links, options.bins} {}

void FlowModel::start(std::uint32_t id, PathId path, Bytes bytes, std::uint32_t weight, Bandwidth cap, Time now) {
  if (id >= transfers_.size()) transfers_.resize(std::max<std::size_t>(id + 1, transfers_.size() * 2));
  transfers_[id] = Transfer{bytes.count(), 0, now, Time::never(), {}};
  solver_.add(id, path, weight, cap.bytes_per_s());
}

void FlowModel::on_event(const Event& event, Time now) {
  Transfer& t = transfers_[event.payload];
  t.event_at = Time::never();
  const Time end = end_time(t.since, t.remaining, t.rate);
  if (end > now) {  // the rate fell after this event was pushed
    if (end < Time::never()) {
      t.event = queue_.push(end, EventKind::model, 0, event.payload);
      t.event_at = end;
    }
    return;
  }
  solver_.remove(event.payload);
  completions_.push_back({event.payload, false});
}

void FlowModel::solve(Time now) {
  if (!solver_.dirty()) return;
  solver_.solve();
  ++counters_.solves;
  counters_.transfers_touched += solver_.touched();
  counters_.transfers_changed += solver_.changed().size();
  for (const std::uint32_t id : solver_.changed()) {
    Transfer& t = transfers_[id];
    const double rate = solver_.rate(id);
    if (rate == t.rate) continue;
    if (t.rate > 0) t.remaining = std::max(0.0, t.remaining - t.rate * (now - t.since).in_seconds());
    t.since = now;
    t.rate = rate;
    const Time end = end_time(now, t.remaining, rate);
    if (end < t.event_at) {
      queue_.cancel(t.event);
      t.event = queue_.push(end, EventKind::model, 0, id);
      t.event_at = end;
    }
  }
  for (const LinkId link : solver_.loaded()) loads_.set_load(link, solver_.load(link), now);
}

void FlowModel::set_capacity(LinkId link, Bandwidth capacity, Time now) {
  solver_.set_capacity(link, capacity.bytes_per_s());
  loads_.set_capacity(link, capacity.bytes_per_s(), now);
}

void FlowModel::finish(Time now, Record& record) {
  loads_.finish(now, record);
  record.counters.solves = counters_.solves;
  record.counters.transfers_touched = counters_.transfers_touched;
  record.counters.transfers_changed = counters_.transfers_changed;
}

}  // namespace traingraph::sim
