// DataParallelWriter: the data-parallel communication of one pipeline stage: gradient buckets and parameter gathers.
//
// Every chunk of the stage has buckets of its own (as Megatron-LM's model chunks do). Gradients fill them in the order in
// which backward completes them; a bucket is closed when it holds at least bucket_size; a matrix is never split. Parameters
// are gathered in forward order, by layer, closed by the same rule. Units of a chunk are the embedding (first position),
// each layer, the head (last position).
//
// In a bidirectional pipeline stages s and P-1-s hold the same two positions in opposite chunks, and reduce both over one
// communicator: buckets go out by position.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/layer_kernels.h"
#include "workloads/program_writer.h"
#include "workloads/rank_streams.h"
#include "workloads/stage_shape.h"
#include "workloads/workload_spec.h"

namespace traingraph::workloads {

class DataParallelWriter {
 public:
  /// All references must outlive the writer.
  DataParallelWriter(const TransformerSpec& spec, const LayerKernels& kernels, double word, const StageShape& shape,
                     const StageSlots& slots, ProgramWriter& writer, RankStreams& streams);

  /// Copies of each parameter: the data-parallel degree, times two in a bidirectional pipeline.
  [[nodiscard]] std::uint32_t replicas() const { return replicas_; }
  [[nodiscard]] double gradient_bytes() const { return gradient_bytes_; }  ///< per element

  /// Gathers the parameters of the last update, if overlapped with the passes.
  void begin_step();
  /// A forward pass of a chunk begins; its units are then announced by before_unit(), in order.
  void begin_forward(std::uint32_t chunk);
  void end_forward() { next_unit_ = kNoUnit; }
  void before_unit();
  /// Gradients of a chunk are complete: of the last micro-batch.
  void gradient_done(std::uint32_t chunk, double elements);
  /// All gradients of a chunk are complete.
  void chunk_done(std::uint32_t chunk);
  /// Reduces what has not been reduced yet; the compute stream then waits for all of it.
  void end_passes();
  /// After the optimizer: gathers parameters that are not gathered during the next step's passes.
  void end_step();

 private:
  static constexpr std::uint32_t kNoUnit = ~0U;
  struct GatherBucket {
    double elements = 0;
    std::uint32_t units = 0;  // of all chunks, that end in this bucket or before
  };
  struct ChunkGradients {
    double open = 0;
    std::vector<double> closed;  // not yet reduced
  };
  void find_gather_buckets();
  void write_parameter_gather();
  void close(ChunkGradients& gradients);
  void reduce(ChunkGradients& gradients);

  const TransformerSpec& spec_;
  const LayerKernels& kernels_;
  const StageShape& shape_;
  const StageSlots& slots_;
  ProgramWriter& writer_;
  RankStreams& streams_;
  double word_;
  std::uint32_t replicas_ = 1;
  double gradient_bytes_ = 4;
  double bucket_elements_ = 0;
  std::vector<std::uint32_t> by_position_;  // chunks, lowest position first
  std::vector<GatherBucket> gather_buckets_;
  std::vector<std::uint32_t> first_unit_;  // of each chunk
  std::vector<bool> gathering_;            // by chunk: its first forward pass has not begun
  std::uint32_t next_unit_ = kNoUnit;
  std::vector<ChunkGradients> gradients_;  // by chunk
};

}  // namespace traingraph::workloads
