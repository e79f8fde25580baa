// The clock's range: signed 64-bit picoseconds, 106 days. Sums of times that users give are made here, so that a run that
// would go beyond ends with an error instead of a wrong time.
#pragma once

#include "sim/error.h"
#include "sim/units.h"

namespace traingraph::sim {

[[noreturn]] inline void beyond_clock() {
  throw InputError{
      "the run goes beyond the simulated clock, which holds 106 days (2^63 ps): a size, a rate or a time is absurd"};
}

/// a + b of non-negative durations. Throws InputError beyond the clock.
[[nodiscard]] inline Duration checked_sum(Duration a, Duration b) {
  if (b >= Duration::max() - a) beyond_clock();
  return a + b;
}

/// t + d, for d >= 0. Throws InputError beyond the clock.
[[nodiscard]] inline Time later(Time t, Duration d) { return Time::at(checked_sum(t.since_start(), d)); }

}  // namespace traingraph::sim
