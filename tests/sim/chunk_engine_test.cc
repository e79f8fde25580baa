// The chunk model under the engine: whole collectives, chunk by chunk.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/chunk_model.h"
#include "sim/engine.h"
#include "tests/workloads/collective_fabric.h"

namespace traingraph::workloads {
namespace {

using namespace sim::literals;

const sim::Bandwidth kPort = sim::Bandwidth::bytes_per_s(50e9);
const sim::Duration kLink = 700_ns;
const sim::Duration kOverhead = 1300_ns;
constexpr double kChunk = 50000;  // 1 us on a link
const sim::Duration kChunkTime = 1_us;

sim::Duration run(std::uint32_t n, CollectiveKind kind, Algorithm algorithm, double bytes) {
  const SwitchFabric fabric{n, kPort, kLink, kOverhead};
  sim::RunOptions options;
  options.network = sim::NetworkModel::chunk;
  options.collectives = sim::CollectiveMode::step;
  options.chunk.size = sim::Bytes{kChunk};
  const sim::Program program = program_of(n, {everyone(make_source(kind, algorithm, n, sim::Bytes{bytes}))});
  return sim::Engine<sim::ChunkModel>{fabric.links, fabric, program, options, nullptr}.run().step_time();
}

// Every step of a ring stores and forwards its last chunk at the switch: 2(N-1)(L + S/(N B) + c/B).
TEST(ChunkEngine, ARingPaysOneChunkTimeMoreAStep) {
  for (const std::uint32_t n : {2U, 3U, 8U}) {
    for (const std::uint32_t chunks : {1U, 2U, 9U}) {
      const sim::Duration step = kOverhead + 2 * kLink + chunks * kChunkTime + kChunkTime;
      EXPECT_EQ(run(n, CollectiveKind::all_reduce, Algorithm::ring, n * chunks * kChunk), 2 * (n - 1) * step);
      EXPECT_EQ(run(n, CollectiveKind::all_gather, Algorithm::ring, n * chunks * kChunk), (n - 1) * step);
    }
  }
}

// All pairs at once: the ports never idle, so a late chunk at a busy port is all that differs from L + (N-1)/N S/B.
TEST(ChunkEngine, AnAllToAllKeepsThePortsBusy) {
  for (const std::uint32_t n : {2U, 4U, 8U}) {
    const double bytes = n * 40 * kChunk;
    const sim::Duration flow = kOverhead + 2 * kLink + 40 * (n - 1) * kChunkTime;
    const sim::Duration chunk = run(n, CollectiveKind::all_to_all, Algorithm::direct, bytes);
    EXPECT_GE(chunk, flow + kChunkTime);
    EXPECT_LE(chunk, flow + n * kChunkTime);
  }
}

TEST(ChunkEngine, AnInSwitchReductionHasTwoStages) {
  EXPECT_EQ(run(8, CollectiveKind::all_reduce, Algorithm::in_switch, 100 * kChunk),
            kOverhead + 2 * kLink + 101 * kChunkTime);
}

// Zero bytes never reach the model: latency alone.
TEST(ChunkEngine, ABarrierCostsLatencyAlone) {
  EXPECT_EQ(run(8, CollectiveKind::barrier, Algorithm::dissemination, 0), 3 * (kOverhead + 2 * kLink));
}

}  // namespace
}  // namespace traingraph::workloads
