// TimeAccount: each rank's stream 0, split into categories, in integer picoseconds; the split of the reported window adds up
// to the window exactly (checked at the end). Charges may come after the window has ended, of what began in it. O(1) per
// charge.
#pragma once

#include <algorithm>

#include "sim/error.h"
#include "sim/program.h"
#include "sim/record.h"

namespace traingraph::sim {

class TimeAccount {
 public:
  explicit TimeAccount(std::size_t ranks) : splits_(ranks) {}

  /// [from, to) of the rank's stream 0 belongs to `category`; what lies outside the window is dropped.
  void charge(RankId rank, Category category, Time from, Time to) {
    from = std::max(from, window_begin_);
    to = std::min(to, window_end_);
    if (to > from) splits_[rank].by_category[category] += to - from;
  }
  /// As charge, but the part before `data_start` belongs to `late`.
  void charge(RankId rank, const OpLabel& label, Time from, Time data_start, Time to) {
    const Time turn = std::clamp(data_start, from, to);
    charge(rank, label.late_category, from, turn);
    charge(rank, label.category, turn, to);
  }
  void begin_window(Time now) {
    window_begin_ = now;
    for (TimeSplit& split : splits_) split = TimeSplit{};
  }
  void end_window(Time now) { window_end_ = now; }
  void finish(Record& record) {
    for (const TimeSplit& split : splits_) {
      Duration sum;
      for (const Duration d : split.by_category) sum += d;
      SIM_ASSERT(sum == window_end_ - window_begin_, "a rank's time split adds up to the window");
    }
    record.splits = std::move(splits_);
  }

 private:
  Time window_begin_;
  Time window_end_ = Time::never();
  IdVector<RankId, TimeSplit> splits_;
};

}  // namespace traingraph::sim
