// What a caller may choose about a run; every field has an effect in every network model unless it says otherwise.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "sim/units.h"

namespace traingraph::sim {

enum class NetworkModel : std::uint8_t { flow, chunk, ideal };
enum class CollectiveMode : std::uint8_t { automatic, step, bulk };
enum class ChunkOrder : std::uint8_t { round_robin, fifo };

struct ChunkOptions {
  Bytes size{65536};                           ///< chunk bytes c
  Bytes window;                                ///< bytes in flight per transfer; 0: 2 chunks a hop + capacity x path latency
  ChunkOrder order = ChunkOrder::round_robin;  ///< fifo: whole messages, first come first served
};

struct Progress {
  Time now;
  std::uint64_t operations_done = 0;
  std::uint64_t operations_total = 0;
  std::uint64_t events = 0;
};

struct RunOptions {
  NetworkModel network = NetworkModel::flow;
  CollectiveMode collectives = CollectiveMode::automatic;
  double step_limit = 5e7;  ///< automatic: above this many transfers in the program, inexact bulk is allowed
  ChunkOptions chunk;       ///< used by NetworkModel::chunk
  std::uint32_t bins = 0;   ///< time bins of the link load record; 0: none
  bool critical_path = true;
  const std::atomic<bool>* cancel = nullptr;      ///< polled; when set to true the run throws Cancelled
  std::function<void(const Progress&)> progress;  ///< called every few thousand events, if set
};

}  // namespace traingraph::sim
