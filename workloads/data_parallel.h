// DataParallelWriter: the data-parallel communication of one pipeline stage: gradient reductions and parameter gathers
// (sharding.h).
//
// Buckets (ZeRO stages 0 to 2): every chunk of the stage has buckets of its own, as Megatron-LM's model chunks do. Gradients
// fill them in the order in which backward completes them; a bucket is closed when it holds at least bucket_size; a matrix
// is never split. Parameters are gathered in forward order, by layer, closed by the same rule.
//
// Units (stage 3) of a chunk are the embedding (first position), each layer, the head (last position). A unit's gather is
// issued when the kernels of the unit `prefetch_layers` places before it in the same pass begin, at the earliest when the
// pass begins; gathers run on a stream and a communicator of their own, beside the reductions. A unit that is still whole
// (not resharded after forward) is not gathered again; backward always reshards.
//
// Reductions run beside compute with overlap_grad_reduce. Without it they wait for the end of the step (reduced once a
// step), or compute waits for them (reduced after each micro-batch).
//
// Experts have buckets of their own, reduced and gathered over the copies of the experts.
//
// In a bidirectional pipeline stages s and P-1-s hold the same two positions in opposite chunks, and reduce both over one
// communicator: buckets go out by position.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "workloads/layer_kernels.h"
#include "workloads/program_writer.h"
#include "workloads/rank_streams.h"
#include "workloads/sharding.h"
#include "workloads/stage_shape.h"
#include "workloads/workload_spec.h"

namespace traingraph::workloads {

class DataParallelWriter {
 public:
  /// All references must outlive the writer.
  DataParallelWriter(const TransformerSpec& spec, const LayerKernels& kernels, double word, const StageShape& shape,
                     const StageSlots& slots, ProgramWriter& writer, RankStreams& streams);

  [[nodiscard]] const Sharding& sharding() const { return sharding_; }
  [[nodiscard]] double gradient_bytes() const { return gradient_bytes_; }  ///< per element

  /// Gathers the parameters of the last update, if overlapped with the passes.
  void begin_step();
  /// A pass of a chunk begins that needs parameters; its units follow in order (backward: from the last), each between
  /// before_unit() and after_unit().
  void begin_pass(std::uint32_t chunk, bool forward);
  void before_unit();
  void after_unit();
  void end_pass() { visits_.clear(); }
  /// Gradients of a chunk are complete.
  void gradient_done(std::uint32_t chunk, double elements, bool of_experts);
  /// All gradients of a unit (of a chunk) that this pass completes are there.
  void unit_done(std::uint32_t chunk);
  void chunk_done(std::uint32_t chunk);
  /// Reduces what has not been reduced yet; the compute stream then waits for all of it.
  void end_passes();
  /// After the optimizer: gathers parameters that are not gathered during the next step's passes.
  void end_step();

 private:
  struct GatherBucket {
    bool experts = false;
    double elements = 0;
    std::uint32_t units = 0;  // of all chunks, that end in this bucket or before
  };
  struct Unit {
    double elements = 0;         // gathered, without experts
    double experts = 0;          // of the local experts
    bool whole = false;          // stage 3: gathered and not resharded
    std::uint32_t gathered = 0;  // stage 3: operations of the gather stream after which it is whole
  };
  struct Gradients {
    bool experts = false;
    double open = 0;
    std::vector<double> closed;  // not yet reduced
  };
  using ChunkGradients = std::array<Gradients, 2>;  // without experts, of experts
  [[nodiscard]] bool communicates() const { return sharding_.replicas > 1; }
  [[nodiscard]] bool gathers_after_step() const { return communicates() && (sharding_.stage == 1 || sharding_.stage == 2); }
  [[nodiscard]] SlotUse shard_slot() const { return sharding_.hybrid ? SlotUse::shard : SlotUse::dp; }
  void find_units();
  void find_gather_buckets();
  void write_parameter_gather();
  void gather_unit(Unit& unit);
  void close(Gradients& gradients);
  void reduce(Gradients& gradients);
  void call(Stream stream, const std::string& label, SlotUse slot, CollectiveKind kind, Algorithm algorithm, double bytes);

  const TransformerSpec& spec_;
  const LayerKernels& kernels_;
  const StageShape& shape_;
  const StageSlots& slots_;
  ProgramWriter& writer_;
  RankStreams& streams_;
  double word_;
  Sharding sharding_;
  double gradient_bytes_ = 4;
  double bucket_elements_ = 0;
  std::vector<std::uint32_t> by_position_;  // chunks, lowest position first
  std::vector<Unit> units_;                 // of all chunks, by position
  std::vector<std::uint32_t> first_unit_;   // of each chunk
  std::vector<std::uint32_t> unit_count_;   // of each chunk
  std::vector<GatherBucket> gather_buckets_;
  std::vector<bool> gathering_;        // by chunk: parameters of the last update are on their way
  std::vector<std::uint32_t> visits_;  // units of the current pass, in order
  std::size_t visit_ = 0;
  bool forward_ = true;
  bool awaits_buckets_ = false;            // the current pass is the chunk's first and parameters are gathered beside it
  std::vector<ChunkGradients> gradients_;  // by chunk
};

}  // namespace traingraph::workloads
