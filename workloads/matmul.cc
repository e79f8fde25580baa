#include "workloads/matmul.h"

#include <algorithm>
#include <cmath>

#include "sim/error.h"

namespace traingraph::workloads {
namespace {

constexpr double kGranule = 16;           // edge of the matrix unit's block
constexpr double kBlocksPerSm = 4;        // processing blocks of an SM
constexpr double kUsableShare = 0.75;     // of a cache or register file, for the tiles of weights
constexpr double kSmBytesPerClock = 128;  // of an SM's port, per clock

struct Grid {
  double rows = 1;
  double columns = 1;
};

// Tiles of at most `cap` bytes each of a d1 x d2 matrix, as nearly square as the matrix allows.
Grid grid(double d1, double d2, double word, double cap) {
  const double n = std::ceil(d1 * d2 * word / cap);
  const double per = d1 * d2 / n;
  const double tile_rows = std::max(std::min(d1, std::sqrt(per)), per / d2);
  const double tile_columns = per / tile_rows;
  return {d1 / tile_rows, d2 / tile_columns};
}

}  // namespace

double padded_dimension(double dimension) { return std::ceil(dimension / kGranule) * kGranule; }

sim::Flop matmul_flop(const MatmulShape& m) {
  return sim::Flop{2 * padded_dimension(m.d1) * padded_dimension(m.d2) * padded_dimension(m.b)};
}

TiledMatmul::TiledMatmul(const MatmulSpec& gpu, double d1, double d2)
    : d1_{d1},
      d2_{d2},
      padded_d1_{padded_dimension(d1)},
      padded_d2_{padded_dimension(d2)},
      word_{gpu.word_bytes},
      flop_per_s_{gpu.peak().flop_per_s() * gpu.sustained_clock_fraction},
      memory_bandwidth_{gpu.memory_bandwidth.bytes_per_s()},
      l2_bandwidth_{gpu.l2_bandwidth.bytes_per_s()},
      sm_bandwidth_{kSmBytesPerClock * gpu.sms * gpu.clock_hz * gpu.sustained_clock_fraction},
      latency_{gpu.matmul_latency_s} {
  if (!(d1 > 0 && d2 > 0)) throw sim::InputError{"a matrix product needs positive dimensions"};
  const double block = kUsableShare * gpu.register_block.count();
  memory_ = tiling(kUsableShare * gpu.l2_size.count(), 1, false);
  l2_ = tiling(kBlocksPerSm * block, gpu.sms, gpu.distributed_shared_memory);
  sm_ = tiling(block, kBlocksPerSm * gpu.sms, false);
}

TiledMatmul::Tiling TiledMatmul::tiling(double cap, double count, bool distributed) const {
  const Grid outer = grid(d1_, d2_, word_, distributed ? cap * count : cap);
  const Grid inner = distributed ? grid(d1_, d2_, word_, cap) : Grid{};
  return {outer.rows, outer.columns, inner.rows, inner.columns, cap * count};
}

TiledMatmul::Traffic TiledMatmul::traffic(const Tiling& t, double b, bool weight_gradient, double held) const {
  const double weights = d1_ * d2_ * word_;
  const double left = d1_ * b * word_;
  const double right = d2_ * b * word_;
  const double stream = 2 * weights * held <= t.resident ? 0 : (weight_gradient ? 2 : 1) * weights;
  const double output_passes = weight_gradient ? t.columns : 2 * t.columns - 1;
  return {stream + t.rows * right + output_passes * left, 2 * ((t.inner_rows - 1) * right + (t.inner_columns - 1) * left)};
}

MatmulTimes TiledMatmul::times(double b, bool weight_gradient, double held) const {
  const Traffic memory = traffic(memory_, b, weight_gradient, held);
  const Traffic l2 = traffic(l2_, b, weight_gradient, held);
  const Traffic sm = traffic(sm_, b, weight_gradient, held);
  return {.arithmetic_s = 2 * padded_d1_ * padded_d2_ * padded_dimension(b) / flop_per_s_,
          .memory_s = memory.level / memory_bandwidth_,
          .l2_s = (memory.level + l2.level) / l2_bandwidth_,
          .sm_network_s = (l2.level + l2.network + sm.level) / sm_bandwidth_};
}

double TiledMatmul::seconds(double b, bool weight_gradient, double held) const {
  const MatmulTimes t = times(b, weight_gradient, held);
  return latency_ + std::max({t.arithmetic_s, t.memory_s, t.l2_s, t.sm_network_s});
}

double matmul_seconds(const MatmulSpec& gpu, const MatmulShape& m) {
  if (!(m.b > 0 && m.held > 0)) throw sim::InputError{"a matrix product needs positive dimensions"};
  return TiledMatmul{gpu, m.d1, m.d2}.seconds(m.b, m.weight_gradient, m.held);
}

}  // namespace traingraph::workloads
