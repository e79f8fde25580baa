// Numbers for people: four significant digits, a unit that fits (SI prefixes). For tables only; files keep SI base units.
#pragma once

#include <cstdint>
#include <string>

#include "sim/units.h"

namespace traingraph::analysis {

[[nodiscard]] std::string human_time(sim::Duration d);      ///< "12.35 s", "47.13 ms", "850 ns"
[[nodiscard]] std::string human_bytes(double bytes);        ///< "1.074 GB"
[[nodiscard]] std::string human_rate(double bytes_per_s);   ///< "25 GB/s"
[[nodiscard]] std::string human_count(double n);            ///< "1.75 k", "174.6 G"
[[nodiscard]] std::string percent(double fraction);         ///< "45.1 %"
[[nodiscard]] std::string with_thousands(std::uint64_t n);  ///< "16,384"

}  // namespace traingraph::analysis
