// StageWriter: the template of one pipeline stage of a transformer step, shared by all its ranks, and what it adds up to.
//
// Order of one step: [parameter gather of the last update, if overlapped] - the stage's passes in schedule order - gradient
// buckets (issued during the last backward pass if overlapped) - loss reduction - with sequence parallelism the norms'
// gradients over TP - tied embedding's gradients - gradient norm - optimizer - [parameter gather].
//
// Streams (rank_streams.h): kernels on `compute`; TP collectives and scalar reductions on `blocking`, which the next kernel
// waits for; each direction of the pipeline on a stream of its own; data-parallel collectives on `data`. A receive is posted
// early: it only marks when its message is there. With a host launch cost, `host` holds one operation per layer and
// direction: a layer's kernels start when the host is done with the layer before, and a pass ends no earlier than its last
// launch; the host waits for the GPU and for the pass's input at the start of a pass, as blocking send/receive calls make
// it.
//
// Buckets: gradients of the stage in the order in which backward completes them, closed when a bucket holds at least
// bucket_size; a matrix is never split. Parameters are gathered in forward order, by layer, closed by the same rule.
//
// Optimizer kernels, HBM bytes per local parameter, mixed-precision Adam in fp16 with fp32 gradients: norm 4, unscale 8
// (fp16 only), Adam 30 (gradient, master weight and two moments read; master, moments and 16-bit weight written), zeroing
// gradients 4: 46 in all. All but the zeroing ÷ DP with the distributed optimizer.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/compiled_ops.h"
#include "workloads/kernel_time.h"
#include "workloads/layer_kernels.h"
#include "workloads/program_writer.h"
#include "workloads/rank_streams.h"
#include "workloads/schedule.h"
#include "workloads/workload.h"
#include "workloads/workload_spec.h"

namespace traingraph::workloads {

/// What a slot of a stage's ranks stands for.
enum class SlotUse : std::uint8_t {
  tp,
  dp,
  norm,       ///< everybody who has a part of the gradient norm
  embedding,  ///< first and last stage, tied embedding
  forward_send,
  forward_receive,
  backward_send,
  backward_receive,
};

struct StageShape {
  std::uint32_t stage = 0;
  std::uint32_t first_layer = 0;
  std::uint32_t layers = 0;
  std::uint32_t norm_members = 1;  ///< ranks over which the gradient norm is summed
};

struct StageResult {
  sim::Template role;
  std::vector<SlotUse> slots;
  RoleFacts facts;
  sim::Duration forward;   ///< kernels of one micro-batch
  sim::Duration backward;  ///< recomputation included
};

/// Parameters that one GPU of the stage holds.
[[nodiscard]] double stage_parameters(const TransformerSpec& spec, const LayerKernels& kernels, const StageShape& shape);

class StageWriter {
 public:
  StageWriter(const TransformerSpec& spec, const KernelModel& model, const StageShape& shape, ProgramWriter& writer);
  [[nodiscard]] StageResult write();

 private:
  struct Bucket {
    double elements = 0;
    std::uint32_t units = 0;  // layers etc. that end in this bucket or before
  };
  [[nodiscard]] bool first() const { return shape_.stage == 0; }
  [[nodiscard]] bool last() const { return shape_.stage + 1 == spec_.parallel.pp; }
  [[nodiscard]] bool has_slot(SlotUse use) const;
  [[nodiscard]] std::uint16_t slot(SlotUse use) const;
  void choose_slots();
  void compile_all();
  void write_passes();
  void write_forward(std::uint32_t microbatch);
  void write_backward(std::uint32_t microbatch);
  void write_ops(const CompiledOps& ops, sim::Duration launch_cost);
  void write_host(const CompiledOps& ops, sim::Duration launch_cost);
  void begin_pass(std::uint32_t microbatch, bool forward);
  void end_pass(bool forward);
  void unit_needs_parameters();
  void gradient_done(double elements);
  void close_bucket();
  void write_parameter_gather();
  void write_step_end();
  void write_optimizer();
  [[nodiscard]] std::vector<Bucket> parameter_buckets() const;
  void optimizer_kernel(const Kernel& kernel);
  [[nodiscard]] StageResult result();

  const TransformerSpec& spec_;
  const KernelModel& model_;
  StageShape shape_;
  ProgramWriter& writer_;
  LayerKernels kernels_;
  std::vector<SlotUse> slots_;
  bool hosted_ = false;
  std::uint32_t microbatches_ = 1;
  double gradient_bytes_ = 4;
  double bucket_elements_ = 0;
  std::uint32_t hand_off_ = 0;  // message: hidden states of one micro-batch, as one rank sends them
  std::optional<RankStreams> streams_;

  CompiledOps layer_forward_, layer_backward_, layer_recompute_;
  CompiledOps embedding_forward_, embedding_backward_, head_forward_, head_backward_;
  KernelTotals optimizer_totals_;

  bool first_group_ = true;  // of the current pass
  Stream pass_input_ = Stream::forward_receive;
  bool collecting_gradients_ = false;  // the last backward pass
  double open_bucket_ = 0;             // gradient elements not yet in a closed bucket
  std::vector<double> closed_buckets_;
  bool gathering_ = false;  // the step's first forward pass, parameters still on their way
  std::uint32_t next_unit_ = 0;
  std::vector<Bucket> gather_buckets_;
};

}  // namespace traingraph::workloads
