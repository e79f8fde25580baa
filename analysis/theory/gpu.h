// What the closed-form model of data movement (Erdil & Schneider-Joseph, "Data movement limits to frontier model training",
// arXiv 2411.01137) knows of a GPU and its network: the matmul model's record and a list of network levels, innermost first.
//
// Bandwidths are per GPU with both directions of its port added, as the model counts: a word that is sent and a word that is
// received each take their share. A preset states one direction; the reader of presets doubles it.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "workloads/matmul.h"

namespace traingraph::analysis::theory {

/// Most levels of a network that a layout can name.
inline constexpr int kMaxLevels = 4;
using PerLevel = std::array<double, kMaxLevels>;

struct NetworkLevel {
  double bytes_per_s = 0;  ///< per GPU, both directions added; infinity: no time is spent moving data
  double latency_s = 0;    ///< of one collective or message, end to end
  double fan_out = 0;      ///< members of one group of this level, a power of two; ignored at the outermost
};

struct Gpu {
  std::string name;
  workloads::MatmulSpec matmul;
  std::vector<NetworkLevel> levels;  ///< innermost first; 1 to kMaxLevels

  [[nodiscard]] double peak_flop_per_s() const { return matmul.peak().flop_per_s(); }
  /// At the sustained clock: the largest rate that can be achieved.
  [[nodiscard]] double sustained_flop_per_s() const { return peak_flop_per_s() * matmul.sustained_clock_fraction; }
};

/// The same GPU computing with words of `bits` bits: arithmetic per clock grows as the words shrink (twice the rate at half
/// the size, as in the published tensor-unit rates). 0 keeps the word size of the record.
[[nodiscard]] Gpu with_word_bits(Gpu gpu, double bits);

/// What keeps a record from being searched for layouts, or "": no level, too many, a fan-out that is no power of two.
[[nodiscard]] std::string fault_of(const Gpu& gpu);

}  // namespace traingraph::analysis::theory
