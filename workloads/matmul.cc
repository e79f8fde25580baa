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

// Weight tiles of at most `cap` bytes each, as nearly square as the matrix allows.
Grid tiling(const MatmulShape& m, double word, double cap) {
  const double n = std::ceil(m.d1 * m.d2 * word / cap);
  const double per = m.d1 * m.d2 / n;
  const double tile_rows = std::max(std::min(m.d1, std::sqrt(per)), per / m.d2);
  const double tile_columns = per / tile_rows;
  return {m.d1 / tile_rows, m.d2 / tile_columns};
}

struct Traffic {
  double level = 0;    // bytes between two memory levels
  double network = 0;  // bytes on the SM-to-SM network
};

Traffic traffic(const MatmulShape& m, double word, double cap, double count, bool distributed) {
  const double weights = m.d1 * m.d2 * word;
  const double left = m.d1 * m.b * word;
  const double right = m.d2 * m.b * word;
  Grid outer = tiling(m, word, distributed ? cap * count : cap);
  Grid inner;
  if (distributed) inner = tiling(m, word, cap);
  const double stream = 2 * weights * m.held <= cap * count ? 0 : (m.weight_gradient ? 2 : 1) * weights;
  const double output_passes = m.weight_gradient ? outer.columns : 2 * outer.columns - 1;
  return {stream + outer.rows * right + output_passes * left, 2 * ((inner.rows - 1) * right + (inner.columns - 1) * left)};
}

double granules(double v) { return std::ceil(v / kGranule) * kGranule; }

}  // namespace

sim::Flop matmul_flop(const MatmulShape& m) { return sim::Flop{2 * granules(m.d1) * granules(m.d2) * granules(m.b)}; }

double matmul_seconds(const MatmulSpec& gpu, const MatmulShape& m) {
  if (!(m.d1 > 0 && m.d2 > 0 && m.b > 0 && m.held > 0)) {
    throw sim::InputError{"a matrix product needs positive dimensions"};
  }
  const double word = gpu.word_bytes;
  const double block = kUsableShare * gpu.register_block.count();
  const Traffic memory = traffic(m, word, kUsableShare * gpu.l2_size.count(), 1, false);
  const Traffic l2 = traffic(m, word, kBlocksPerSm * block, gpu.sms, gpu.distributed_shared_memory);
  const Traffic sm = traffic(m, word, block, kBlocksPerSm * gpu.sms, false);
  const double rate = gpu.peak().flop_per_s() * gpu.sustained_clock_fraction;
  const double sm_bandwidth = kSmBytesPerClock * gpu.sms * gpu.clock_hz * gpu.sustained_clock_fraction;
  const double slowest = std::max({matmul_flop(m).count() / rate, memory.level / gpu.memory_bandwidth.bytes_per_s(),
                                   (memory.level + l2.level) / gpu.l2_bandwidth.bytes_per_s(),
                                   (l2.level + l2.network + sm.level) / sm_bandwidth});
  return gpu.matmul_latency_s + slowest;
}

}  // namespace traingraph::workloads
