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
[[nodiscard]] std::string human_words(double n);            ///< "48,000", "300.5 million", "1.2 billion"
[[nodiscard]] std::string percent(double fraction);         ///< "45.1 %"
[[nodiscard]] std::string with_thousands(std::uint64_t n);  ///< "16,384"
/// "1 GPU", "16,384 GPUs": the plural of `noun` ends in s.
[[nodiscard]] std::string counted(std::uint64_t n, const std::string& noun);

}  // namespace traingraph::analysis
