#include "sim/ideal_model.h"

#include <algorithm>
#include <limits>

#include "sim/end_time.h"

namespace traingraph::sim {

IdealModel::IdealModel(const LinkTable& links, const PathTable& paths, EventQueue& queue, const RunOptions&)
    : paths_{paths}, queue_{queue} {
  for (const Link& link : links) capacities_.push_back(link.capacity.bytes_per_s());
}

double IdealModel::rate_of(const Transfer& t) const {
  double rate = t.cap > 0 ? t.cap : std::numeric_limits<double>::infinity();
  for (const PathLink& hop : paths_.links(t.path)) rate = std::min(rate, capacities_[index(hop.link)] * hop.k / hop.n);
  return rate;
}

void IdealModel::schedule(std::uint32_t id, Time now) {
  Transfer& t = transfers_[id];
  if (t.rate > 0) t.remaining = std::max(0.0, t.remaining - t.rate * (now - t.since).in_seconds());
  t.rate = rate_of(t);
  t.since = now;
  queue_.cancel(t.event);
  const Time end = end_time(now, t.remaining, t.rate);
  if (end < Time::never()) t.event = queue_.push(end, EventKind::model, 0, id);
}

void IdealModel::start(std::uint32_t id, PathId path, Bytes bytes, std::uint32_t, Bandwidth cap, Time now) {
  if (id >= transfers_.size()) transfers_.resize(std::max<std::size_t>(id + 1, transfers_.size() * 2));
  transfers_[id] = Transfer{path, bytes.count(), cap.bytes_per_s(), 0, now, {}, true};
  schedule(id, now);
}

void IdealModel::on_event(const Event& event, Time) {
  transfers_[event.payload].active = false;
  completions_.push_back({event.payload, false});
}

bool IdealModel::moving() const {
  return std::any_of(transfers_.begin(), transfers_.end(), [](const Transfer& t) { return t.active && t.rate > 0; });
}

void IdealModel::set_capacity(LinkId link, Bandwidth capacity, Time) {
  capacities_[index(link)] = capacity.bytes_per_s();
  capacities_changed_ = true;
}

void IdealModel::solve(Time now) {
  if (!capacities_changed_) return;
  capacities_changed_ = false;
  for (std::uint32_t id = 0; id < transfers_.size(); ++id)
    if (transfers_[id].active && rate_of(transfers_[id]) != transfers_[id].rate) schedule(id, now);
}

}  // namespace traingraph::sim
