// analyze(): from what went into a simulation and what it measured to the one Result that everything is printed from.
//
// Definitions
//   step_time       E_n - E_{n-1}, the last step's window
//   tokens_per_s    tokens_per_step / step_time
//   algbw, busbw    of a collective run: its bytes / step_time, and that times nccl-tests' bus factor
//   mfu             model FLOP / (step_time x GPUs x peak FLOP/s of the precision used); hfu with recomputation's FLOP
//   tflops_per_gpu  model FLOP / (step_time x GPUs) / 10^12
//   busy            a GPU's compute + memory_bound + optimizer time; the busiest GPU has most of it, the median is the lower
//                   median over GPUs (a rank that stands for many counts as many), ties go to the lowest rank
//
// Throws InternalError when a promise of the engine is broken (result.h, invariants): the program's categories must be those
// of workloads::TimeCategory. O(ranks log ranks + links + flows).
#pragma once

#include "analysis/result.h"
#include "sim/options.h"
#include "sim/record.h"
#include "sim/router.h"
#include "topology/fabric.h"
#include "workloads/workload.h"

namespace traingraph::analysis {

struct AnalyzeInputs {
  const topology::Fabric& fabric;
  const sim::Router& router;
  const workloads::Workload& workload;
  const sim::RunOptions& options;  ///< those of the simulation
  const sim::Record& record;
  const sim::Record* ideal = nullptr;  ///< longest_chain() of the same program; null: bound 4 is left out
};

[[nodiscard]] Result analyze(const AnalyzeInputs& inputs);

[[nodiscard]] std::string to_string(sim::NetworkModel network);

}  // namespace traingraph::analysis
