// Workload: a Program for the engine together with what is known about it by counting (arithmetic, bytes, memory), so that
// analysis can compute MFU, lower bounds and tables without knowing any model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/program.h"
#include "sim/units.h"

namespace traingraph::workloads {

/// The categories of every program of ours, in this order (Program::categories); names are those of the result schema.
enum class TimeCategory : sim::Category {
  compute,       ///< arithmetic-bound kernels
  memory_bound,  ///< kernels limited by HBM
  exposed_tp,    ///< compute stream waiting for tensor-parallel communication
  exposed_cp,
  exposed_ep,
  bubble,      ///< waiting for another pipeline stage that has not sent yet
  wait,        ///< waiting for a pipeline transfer that is under way
  exposed_dp,  ///< data-parallel communication, gradient norm and loss reductions included
  optimizer,
  idle,
};
[[nodiscard]] std::vector<std::string> category_names();

/// Where a rank stands in the parallel layout.
struct Coordinates {
  std::uint32_t tp = 0, cp = 0, ep = 0, dp = 0, pp = 0;
};

struct MemoryTerm {
  std::string name;  ///< "parameters", "optimizer states", "activations", ...
  sim::Bytes bytes;
};

/// What one role (template) does per step, counted, not simulated.
struct RoleFacts {
  sim::Flop flop;                    ///< executed arithmetic (recomputation included)
  sim::Duration arithmetic_at_peak;  ///< flop over the peak rate of the precision used, no efficiency: bound 1
  sim::Bytes memory_bound_bytes;     ///< HBM traffic of the memory-bound kernels
  sim::Duration memory_at_peak;      ///< those bytes over the HBM bandwidth, no efficiency: bound 2
  sim::Duration kernels;             ///< sum of all kernel durations on stream 0
  std::vector<MemoryTerm> memory;    ///< of one GPU of this role
};

/// Pipeline facts for bound 5; stages = 1 when there is no pipeline.
struct PipelineFacts {
  std::uint32_t stages = 1;
  std::uint32_t microbatches = 1;
  std::uint32_t chunks = 1;            ///< virtual stages per stage (interleaving)
  std::string schedule;                ///< "1f1b", "gpipe", ...
  std::vector<sim::Duration> forward;  ///< per stage, one micro-batch, kernels alone
  /// Per stage, one micro-batch, kernels alone, recomputation included: until the gradient is handed to the stage before.
  std::vector<sim::Duration> backward;
  /// Per stage, one micro-batch: kernels of the backward after that hand-off (deferred weight gradients); else zero.
  std::vector<sim::Duration> after_hand_off;
  /// Per stage, one micro-batch: forward and backward of the first chunk, where there are several.
  std::vector<sim::Duration> first_chunk;
  bool equal_chunks = false;  ///< every chunk of a stage is the same
};

struct Workload {
  sim::Program program;
  std::string description;  ///< one line: model and layout
  sim::IdVector<sim::RankId, Coordinates> coordinates;
  sim::IdVector<sim::TemplateId, RoleFacts> roles;
  PipelineFacts pipeline;
  double tokens_per_step = 0;
  sim::Bytes collective_bytes;  ///< of all calls of a step, as nccl-tests counts them; 0: the workload is no collective run
  double bus_bandwidth_factor = 0;   ///< of that collective, nccl-tests' definition
  sim::Flop model_flop_per_step;     ///< by the convention named below, whole job
  sim::Flop hardware_flop_per_step;  ///< recomputation included, same convention
  std::string flop_convention;       ///< "megatron", "palm", "counted"
  sim::FlopRate peak_per_gpu;        ///< of the precision used
  std::uint64_t parameters = 0;
  std::uint64_t padded_vocabulary = 0;  ///< rows of the embedding table as trained; 0: the workload has none
  sim::Bytes memory_capacity;           ///< of one GPU; 0: unknown
};

}  // namespace traingraph::workloads
