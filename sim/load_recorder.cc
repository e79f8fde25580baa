#include "sim/load_recorder.h"

#include <algorithm>

namespace traingraph::sim {

LoadRecorder::LoadRecorder(const LinkTable& links, std::uint32_t bins)
    : states_(links.size()), bins_{bins + bins % 2}, load_(links.size() * bins_) {
  for (std::size_t l = 0; l < links.size(); ++l) states_[l].capacity = links[static_cast<LinkId>(l)].capacity.bytes_per_s();
}

void LoadRecorder::settle(LinkId link, Time now) {
  State& s = states_[index(link)];
  now = std::min(now, window_end_);
  if (s.load > 0 && now > s.since) {
    s.bytes += s.load * (now - s.since).in_seconds();
    s.busy += now - s.since;
    if (s.capacity > 0) {
      s.peak = std::max(s.peak, s.load / s.capacity);
      if (bins_ > 0) add_to_bins(link, s.load / s.capacity, s.since, now);
    }
  }
  s.since = now;
}

void LoadRecorder::add_transmission(LinkId link, double bytes, Time from, Time to) {
  if (from >= window_end_) return;
  State& s = states_[index(link)];
  s.bytes += bytes;
  s.busy += to - from;
  s.peak = 1.0;
  if (bins_ > 0 && to > from) add_to_bins(link, 1.0, from, to);
}

void LoadRecorder::add_load(LinkId link, double bytes_per_s, Time from, Time to) {
  to = std::min(to, window_end_);
  State& s = states_[index(link)];
  const double share = s.capacity > 0 ? bytes_per_s / s.capacity : 0;
  if (bins_ > 0 && to > from && share > 0) add_to_bins(link, share, from, to);
  from = std::max(from, window_begin_);
  if (to <= from) return;
  s.bytes += bytes_per_s * (to - from).in_seconds();
  s.busy += to - from;
  s.peak = std::max(s.peak, share);
}

void LoadRecorder::widen(Time to) {
  while (to.count_ps() > bin_width_.count_ps() * static_cast<std::int64_t>(bins_)) {
    bin_width_ = bin_width_ * 2;
    for (std::size_t l = 0; l < states_.size(); ++l) {
      float* const row = &load_[l * bins_];
      for (std::uint32_t b = 0; b < bins_ / 2; ++b) row[b] = (row[2 * b] + row[2 * b + 1]) / 2;
      std::fill(row + bins_ / 2, row + bins_, 0.0F);
    }
  }
}

void LoadRecorder::add_to_bins(LinkId link, double share, Time from, Time to) {
  widen(to);
  const std::int64_t width = bin_width_.count_ps();
  float* const row = &load_[index(link) * bins_];
  for (std::int64_t b = from.count_ps() / width; b * width < to.count_ps(); ++b) {
    const std::int64_t begin = std::max(from.count_ps(), b * width);
    const std::int64_t end = std::min(to.count_ps(), (b + 1) * width);
    row[b] += static_cast<float>(share * static_cast<double>(end - begin) / static_cast<double>(width));
  }
}

void LoadRecorder::begin_window(Time now) {
  window_begin_ = now;
  for (std::size_t l = 0; l < states_.size(); ++l) {
    settle(static_cast<LinkId>(l), now);
    State& s = states_[l];
    s.bytes = 0;
    s.busy = Duration{};
    s.peak = 0;
  }
}

void LoadRecorder::end_window(Time now) {
  for (std::size_t l = 0; l < states_.size(); ++l) settle(static_cast<LinkId>(l), now);
  window_end_ = now;
}

void LoadRecorder::finish(Record& record) {
  record.links.resize(states_.size());
  for (std::size_t l = 0; l < states_.size(); ++l) {
    record.links[static_cast<LinkId>(l)] = {states_[l].bytes, states_[l].busy, states_[l].peak};
  }
  if (bins_ == 0) return;
  widen(window_end_);
  const std::int64_t width = bin_width_.count_ps();
  const auto used = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>((window_end_.count_ps() + width - 1) / width, 1, static_cast<std::int64_t>(bins_)));
  record.bin_width = bin_width_;
  record.bins = used;
  record.load.resize(states_.size() * used);
  for (std::size_t l = 0; l < states_.size(); ++l) std::copy_n(&load_[l * bins_], used, &record.load[l * used]);
}

}  // namespace traingraph::sim
