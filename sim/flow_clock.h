// FlowClock: the progress of transfers that share one level, kept once for all of them.
//
// Virtual time (Parekh and Gallager, GPS, 1993): `served`, the bytes that a transfer of weight 1 has moved since the clock
// was made, grows at `level` bytes/s. A transfer of weight w that has `remaining` bytes when it comes finishes when `served`
// has grown by remaining / w. When the level changes, nothing is done for the transfers: one event of the clock stands for
// the first of them to finish.
//
// `served` and the finishing points are 128-bit fixed point in units of 2^-50 bytes, so what a transfer has left is an exact
// difference and does not depend on what the clock has served before it came. `since` is the last change of the level; only
// there is served rounded.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sim/end_time.h"
#include "sim/event_queue.h"
#include "sim/exact_sum.h"
#include "sim/units.h"

namespace traingraph::sim {

/// Bytes in fixed point, 2^-50 bytes.
[[nodiscard]] inline Fixed fixed_bytes(double bytes) { return to_fixed(bytes * 0x1p50); }
[[nodiscard]] inline double bytes_of(Fixed bytes) { return to_double(bytes) * 0x1p-50; }

struct FlowClock {
  struct Entry {
    Fixed finish = 0;  ///< the value of `served` at which the transfer ends
    std::uint32_t transfer = 0;
    std::uint32_t stamp = 0;  ///< an entry of another stamp than its transfer's is dead
  };

  Fixed served = 0;
  double level = 0;  ///< bytes/s
  Time since;
  Time event_at = Time::never();  ///< when the pending event fires
  EventHandle event;
  bool touched = false;        ///< its next end must be found again
  std::vector<Entry> entries;  ///< a heap, the first to finish in front

  void advance(Time now) {
    if (now == since) return;
    if (level > 0 && !entries.empty()) served += fixed_bytes(level * (now - since).in_seconds());
    since = now;
  }
  void push(const Entry& entry) {
    entries.push_back(entry);
    std::push_heap(entries.begin(), entries.end(), later);
  }
  void pop() {
    std::pop_heap(entries.begin(), entries.end(), later);
    entries.pop_back();
  }
  /// When the first entry finishes. REQUIRES: entries.
  [[nodiscard]] Time first_end() const {
    return end_time(since, std::max(0.0, bytes_of(entries.front().finish - served)), level);
  }

 private:
  static bool later(const Entry& a, const Entry& b) {
    return a.finish != b.finish ? a.finish > b.finish : a.transfer > b.transfer;
  }
};

}  // namespace traingraph::sim
