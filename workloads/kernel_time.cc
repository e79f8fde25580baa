#include "workloads/kernel_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/error.h"

namespace traingraph::workloads {
namespace {

constexpr double kGranule = 16;        // edge of the matrix unit's block
constexpr double kAlignment = 8;       // elements; below it tensor-core kernels fall back to slow loads
constexpr double kFullHeadSize = 128;  // fused attention reaches its rate from this head size on

double rounded_up(double v, double granule) { return std::ceil(v / granule) * granule; }

bool aligned(double v) { return std::fmod(v, kAlignment) == 0; }

void check_fraction(double v, const char* field, const std::string& hardware) {
  if (!(v > 0 && v <= 1)) {
    throw sim::InputError{fmt::format("hardware '{}': {} is {}; allowed: above 0, at most 1", hardware, field, v)};
  }
}

sim::FlopRate peak_of(const HardwareSpec& hardware, Precision precision) {
  const auto found = hardware.peaks.find(precision);
  if (found == hardware.peaks.end()) {
    std::string known;
    for (const auto& [p, rate] : hardware.peaks) known += (known.empty() ? "" : ", ") + name_of(p);
    throw sim::InputError{fmt::format("hardware '{}' has no peak for precision {}; it has: {}", hardware.name,
                                      name_of(precision), known.empty() ? "none" : known)};
  }
  return found->second;
}

}  // namespace

double tiled_flop(const HardwareSpec& hardware, const GemmShape& s) {
  const double depth = rounded_up(s.k, kGranule);
  if (hardware.gemm_tiles.empty()) return 2 * s.batch * rounded_up(s.m, kGranule) * rounded_up(s.n, kGranule) * depth;
  const double sms = hardware.sms;
  double best = 0;
  for (const GemmTile& tile : hardware.gemm_tiles) {
    const double tiles = s.batch * std::ceil(s.m / tile.rows) * std::ceil(s.n / tile.columns);
    double flop = 2.0 * tile.rows * tile.columns * sms;  // of one wave, per unit of depth
    if (tiles >= sms) {
      flop *= std::ceil(tiles / sms) * depth;
    } else {
      flop *= rounded_up(s.k / std::floor(sms / tiles), kGranule);
    }
    best = best == 0 ? flop : std::min(best, flop);
  }
  return best;
}

double tiled_flop(const HardwareSpec& hardware, const std::vector<GemmShape>& shapes) {
  if (shapes.size() == 1) return tiled_flop(hardware, shapes.front());
  if (hardware.gemm_tiles.empty()) {
    double sum = 0;
    for (const GemmShape& s : shapes) sum += tiled_flop(hardware, s);
    return sum;
  }
  const double sms = hardware.sms;
  double best = 0;
  for (const GemmTile& tile : hardware.gemm_tiles) {
    double tiles = 0, work = 0;  // tiles, and tiles times depth
    for (const GemmShape& s : shapes) {
      const double count = s.batch * std::ceil(s.m / tile.rows) * std::ceil(s.n / tile.columns);
      tiles += count;
      work += count * rounded_up(s.k, kGranule);
    }
    if (tiles == 0) continue;
    const double depth = work / tiles;
    double flop = 2.0 * tile.rows * tile.columns * sms;  // of one wave, per unit of depth
    flop *= tiles >= sms ? std::ceil(tiles / sms) * depth : rounded_up(depth / std::floor(sms / tiles), kGranule);
    best = best == 0 ? flop : std::min(best, flop);
  }
  return best;
}

KernelModel::KernelModel(const HardwareSpec& hardware, Precision precision)
    : hardware_{hardware},
      peak_{peak_of(hardware, precision)},
      general_peak_{peak_of(hardware, general_precision(precision))},
      word_{element_bytes(precision)},
      product_word_{product_bytes(precision)} {
  check_fraction(hardware.matmul_efficiency, "matmul_efficiency", hardware.name);
  check_fraction(hardware.memory_efficiency, "memory_efficiency", hardware.name);
  check_fraction(hardware.small_head_factor, "small_head_factor", hardware.name);
  check_fraction(hardware.misaligned_factor, "misaligned_factor", hardware.name);
  if (!(peak_.flop_per_s() > 0) || !(hardware.memory_bandwidth.bytes_per_s() > 0)) {
    throw sim::InputError{fmt::format("hardware '{}': peak and memory_bandwidth must be positive", hardware.name)};
  }
  if (!hardware.gemm_tiles.empty() && hardware.sms == 0) {
    throw sim::InputError{fmt::format("hardware '{}': gemm_tiles needs sms", hardware.name)};
  }
}

Kernel KernelModel::timed(std::string name, double flop, double charged_flop, sim::FlopRate rate, double bytes,
                          std::uint32_t launches) const {
  const double arithmetic = charged_flop == 0 ? 0 : charged_flop / rate.flop_per_s();
  const double traffic = bytes / (hardware_.memory_bandwidth.bytes_per_s() * hardware_.memory_efficiency);
  const sim::Duration overhead = hardware_.kernel_overhead * static_cast<std::int64_t>(launches);
  return {.name = std::move(name),
          .flop = sim::Flop{flop},
          .bytes = sim::Bytes{bytes},
          .duration = sim::Duration::seconds(std::max(arithmetic, traffic)) + overhead,
          .memory_bound = traffic > arithmetic,
          .launches = launches};
}

double KernelModel::gemm_bytes(const GemmShape& s) const {
  const double operand = s.general ? word_ : product_word_;
  const double result = s.result_bytes == 0 ? word_ : s.result_bytes;
  return s.batch * (operand * (s.m * s.k + s.k * s.n) + result * s.m * s.n);
}

sim::FlopRate KernelModel::gemm_rate(bool general, bool is_aligned) const {
  return (general ? general_peak_ : peak_) * (hardware_.matmul_efficiency * (is_aligned ? 1 : hardware_.misaligned_factor));
}

Kernel KernelModel::gemm(std::string name, const GemmShape& s) const {
  const bool is_aligned = aligned(s.m) && aligned(s.n) && aligned(s.k);
  return timed(std::move(name), 2 * s.batch * s.m * s.n * s.k, tiled_flop(hardware_, s), gemm_rate(s.general, is_aligned),
               gemm_bytes(s), 1);
}

Kernel KernelModel::grouped_gemm(std::string name, const std::vector<GemmShape>& shapes, bool is_aligned) const {
  std::vector<GemmShape> used;
  double flop = 0, bytes = 0;
  for (const GemmShape& s : shapes) {
    if (s.m * s.n * s.k == 0) continue;
    used.push_back(s);
    flop += 2 * s.batch * s.m * s.n * s.k;
    bytes += gemm_bytes(s);
  }
  return timed(std::move(name), flop, used.empty() ? 0 : tiled_flop(hardware_, used), gemm_rate(false, is_aligned), bytes,
               1);
}

Kernel KernelModel::memory(std::string name, double bytes, std::uint32_t launches) const {
  return timed(std::move(name), 0, 0, peak_, bytes, launches);
}

Kernel KernelModel::attention(std::string name, const AttentionShape& s, bool backward, double efficiency) const {
  check_fraction(efficiency, "fused attention efficiency", hardware_.name);
  const double keys = s.keys == 0 ? s.sequence : s.keys;
  const double forward = 4 * s.batch * s.heads * s.sequence * keys * s.head_size * (s.causal ? 0.5 : 1);
  const double flop = backward ? 2.5 * forward : forward;
  const sim::FlopRate rate = general_peak_ * (hardware_.matmul_efficiency * efficiency *
                                              (s.head_size < kFullHeadSize ? hardware_.small_head_factor : 1));
  const double per_pass = word_ * s.batch * s.head_size * 2 * (s.sequence * s.heads + keys * s.kv_heads);  // Q, K, V, O
  return timed(std::move(name), flop, flop, rate, backward ? 2 * per_pass : per_pass, 1);
}

}  // namespace traingraph::workloads
