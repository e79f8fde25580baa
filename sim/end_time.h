// When a fluid transfer ends: the one place where a real-valued end is rounded to the integer clock.
#pragma once

#include <cmath>
#include <cstdint>

#include "sim/units.h"

namespace traingraph::sim {

/// since + ceil(remaining/rate - 2^-10 ps): never early by more than a thousandth of a picosecond, so causality holds; the
/// small allowance keeps a division that is exact in real numbers from being rounded up by an ulp. never() at rate 0 or
/// beyond the clock.
[[nodiscard]] inline Time end_time(Time since, double remaining_bytes, double bytes_per_s) {
  if (bytes_per_s <= 0) return Time::never();
  const double ps = std::ceil(remaining_bytes / bytes_per_s * 1e12 - 0x1p-10);
  if (ps <= 0) return since;
  if (ps >= 9.2e18 - static_cast<double>(since.count_ps())) return Time::never();
  return since + Duration::ps(static_cast<std::int64_t>(ps));
}

}  // namespace traingraph::sim
