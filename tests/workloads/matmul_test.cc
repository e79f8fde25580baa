// Rows P01 to P08 of the paper model's expected values: an independent implementation of arXiv 2411.01137's matmul model.
// GPU records are those of the paper's preset table.
#include "workloads/matmul.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "sim/error.h"

namespace traingraph::workloads {
namespace {

constexpr double kKiB = 1024;
constexpr double kMiB = 1048576;

MatmulSpec gpu(double bits, double fcs, double sms, double clock, double eta, double reg, double l2_bw, double l2_size,
               double mem_bw, double mem_size, bool dsmem) {
  return {.word_bytes = bits / 8,
          .flop_per_clock_per_sm = fcs,
          .sms = sms,
          .clock_hz = clock,
          .sustained_clock_fraction = eta,
          .register_block = sim::Bytes{reg},
          .l2_size = sim::Bytes{l2_size},
          .l2_bandwidth = sim::Bandwidth::bytes_per_s(l2_bw),
          .memory_bandwidth = sim::Bandwidth::bytes_per_s(mem_bw),
          .memory_size = sim::Bytes{mem_size},
          .distributed_shared_memory = dsmem,
          .matmul_latency_s = 4.5e-6};
}

const MatmulSpec kV100 = gpu(16, 1024, 80, 1533e6, 0.90, 64 * kKiB, 2155e9, 6 * kMiB, 900e9, 3.2e10, false);
const MatmulSpec kA100 = gpu(16, 2048, 108, 1410e6, 0.85, 64 * kKiB, 5603e9, 40 * kMiB, 1555e9, 4e10, false);
const MatmulSpec kH100 = gpu(16, 4096, 132, 1830e6, 0.70, 64 * kKiB, 6441e9, 50 * kMiB, 3352e9, 8e10, true);
const MatmulSpec kGtx580 = gpu(32, 64, 16, 1544e6, 0.70, 32 * kKiB, 384e9, 768 * kKiB, 192.4e9, 3e9, false);

MatmulSpec h100_as_256() {
  MatmulSpec g = kH100;
  g.sms *= 256;
  g.l2_bandwidth = g.l2_bandwidth * 256;
  g.memory_bandwidth = g.memory_bandwidth * 256;
  return g;
}

TEST(Matmul, AgreesWithThePublishedModelToOneInAMillion) {
  struct Row {
    const char* id;
    MatmulSpec gpu;
    MatmulShape shape;
    double seconds;
  };
  const std::vector<Row> rows{
      {"P01", kH100, {.d1 = 4096, .d2 = 4096, .b = 4096}, 0.000207515769},
      {"P02", kH100, {.d1 = 8192, .d2 = 8192, .b = 512}, 0.000118704094},
      {"P03", kH100, {.d1 = 8192, .d2 = 8192, .b = 512, .weight_gradient = true}, 0.000110677992},
      {"P04", kH100, {.d1 = 1, .d2 = 1, .b = 1}, 4.50001183e-06},
      {"P05", kA100, {.d1 = 4096, .d2 = 16384, .b = 1024}, 0.000522963388},
      {"P06", kV100, {.d1 = 2048, .d2 = 2048, .b = 256}, 2.35000725e-05},
      {"P07", kGtx580, {.d1 = 2250.5, .d2 = 2250.5, .b = 188}, 0.00177039193},
      {"P08", h100_as_256(), {.d1 = 65536, .d2 = 65536, .b = 4096}, 0.000209961619},
  };
  for (const Row& row : rows) {
    EXPECT_NEAR(matmul_seconds(row.gpu, row.shape) / row.seconds, 1, 1e-6) << row.id;
  }
}

// Arithmetic is charged in blocks of 16 x 16 x 16: 1 x 1 x 1 costs 2·16^3, 17 x 16 x 16 twice that.
TEST(Matmul, RoundsDimensionsUpToSixteen) {
  EXPECT_EQ(matmul_flop({.d1 = 1, .d2 = 1, .b = 1}).count(), 8192);
  EXPECT_EQ(matmul_flop({.d1 = 17, .d2 = 16, .b = 16}).count(), 16384);
}

TEST(Matmul, RefusesShapesThatAreNotPositive) {
  EXPECT_THROW((void)matmul_seconds(kH100, {.d1 = 0, .d2 = 1, .b = 1}), sim::InputError);
  EXPECT_THROW((void)matmul_seconds(kH100, {.d1 = 1, .d2 = 1, .b = std::nan("")}), sim::InputError);
}

}  // namespace
}  // namespace traingraph::workloads
