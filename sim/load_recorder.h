// LoadRecorder: what the links carried over time, integrated exactly between changes of load.
//
// For the reported window: bytes, busy time and the largest utilization of each link that lasts for any time (what is set
// and changed again within one instant was never there). For the whole run, if bins are asked for: mean utilization per time
// bin. The run's length is not known beforehand, so bins start narrow and double in width (neighbours merged) whenever time
// runs past the last one; at the end between bins/2 and bins of them are in use. What comes after the window's end is
// dropped. Cost: O(1) per change of a link's load, plus the bins that the interval spans. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/ids.h"
#include "sim/link.h"
#include "sim/record.h"
#include "sim/units.h"

namespace traingraph::sim {

class LoadRecorder {
 public:
  LoadRecorder(const LinkTable& links, std::uint32_t bins);

  /// From `now` on the link carries `bytes_per_s`.
  void set_load(LinkId link, double bytes_per_s, Time now) {
    State& s = states_[index(link)];
    if (s.load == bytes_per_s) return;
    settle(link, now);
    s.load = bytes_per_s;
  }
  /// A passing of `bytes` within [from, to], for models whose load is not piecewise constant (chunks).
  void add_transmission(LinkId link, double bytes, Time from, Time to);
  /// A constant load in [from, to), told afterwards; on top of what set_load says, and not at the same time.
  void add_load(LinkId link, double bytes_per_s, Time from, Time to);
  void set_capacity(LinkId link, double bytes_per_s, Time now) {
    settle(link, now);
    states_[index(link)].capacity = bytes_per_s;
  }

  /// Forgets what was recorded for the window so far; the window begins now.
  void begin_window(Time now);
  /// The window ends now. Loads of it may still be told afterwards (add_load).
  void end_window(Time now);
  /// Writes links, load and bins of the window that has ended into the record.
  void finish(Record& record);

 private:
  struct State {
    double capacity = 0;
    double load = 0;
    Time since;
    double bytes = 0;
    Duration busy;
    double peak = 0;
  };
  void settle(LinkId link, Time now);
  void add_to_bins(LinkId link, double share, Time from, Time to);
  void widen(Time to);

  std::vector<State> states_;
  Time window_begin_;
  Time window_end_ = Time::never();
  std::uint32_t bins_;
  Duration bin_width_ = Duration::ps(1'000'000);
  std::vector<float> load_;
};

}  // namespace traingraph::sim
