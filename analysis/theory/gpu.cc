#include "analysis/theory/gpu.h"

#include <fmt/format.h>

#include <cmath>

namespace traingraph::analysis::theory {

Gpu with_word_bits(Gpu gpu, double bits) {
  if (bits <= 0) return gpu;
  constexpr double kBitsPerByte = 8;
  const double bytes = bits / kBitsPerByte;
  gpu.matmul.flop_per_clock_per_sm *= gpu.matmul.word_bytes / bytes;
  gpu.matmul.word_bytes = bytes;
  return gpu;
}

std::string fault_of(const Gpu& gpu) {
  const auto levels = gpu.levels.size();
  if (levels < 1 || levels > kMaxLevels) return fmt::format("found {} network levels, allowed: 1 to {}", levels, kMaxLevels);
  for (std::size_t l = 0; l + 1 < levels; ++l) {
    const double fan_out = gpu.levels[l].fan_out;
    if (!(fan_out >= 1) || std::exp2(std::round(std::log2(fan_out))) != fan_out) {
      return fmt::format("found {} members in a group of level {}, allowed: a power of two", fan_out, l);
    }
  }
  return {};
}

}  // namespace traingraph::analysis::theory
