// StageWriter: the template of one pipeline stage of a transformer step, shared by all its ranks, and what it adds up to.
//
// Order of one step: [parameter gather of the last update, if overlapped] - the stage's passes in schedule order - gradient
// buckets (issued during the last backward pass if overlapped) - with sequence parallelism the norms' gradients over TP -
// tied embedding's gradients - loss reduction - gradient norm - optimizer - [parameter gather].
//
// Streams (rank_streams.h): kernels on `compute`; TP collectives and scalar reductions on `blocking`, which the next kernel
// waits for; each direction of the pipeline on a stream of its own; data-parallel collectives on `data`, ZeRO-3's parameter
// gathers on `gather`. A receive is posted early: it only marks when its message is there. With a host launch cost, `host`
// holds one operation per layer and direction: a layer's kernels start when the host is done with the layer before, and a
// pass ends no earlier than its last launch; the host waits for the GPU and for the pass's input at the start of a pass, as
// blocking send/receive calls make it.
//
// A split backward hands its gradient on after the input-gradient pass; a pair of passes (schedule.h) starts when both
// inputs are there and hands both on at its end.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "workloads/compiled_ops.h"
#include "workloads/data_parallel.h"
#include "workloads/kernel_time.h"
#include "workloads/layer_kernels.h"
#include "workloads/pipeline_map.h"
#include "workloads/program_writer.h"
#include "workloads/rank_streams.h"
#include "workloads/schedule.h"
#include "workloads/stage_shape.h"
#include "workloads/workload.h"
#include "workloads/workload_spec.h"

namespace traingraph::workloads {

struct StageResult {
  sim::Template role;
  std::vector<SlotUse> slots;
  RoleFacts facts;
  sim::Duration forward;         ///< kernels of one micro-batch
  sim::Duration backward;        ///< recomputation included; of a split backward what comes before the hand-off
  sim::Duration after_hand_off;  ///< the rest of a split backward
  sim::Duration first_chunk;     ///< of forward and backward, the first chunk's share
};

class StageWriter {
 public:
  /// `ep_rank`: whose experts, where ranks of an expert-parallel group differ (expert_routing.h); else 0.
  StageWriter(const TransformerSpec& spec, const KernelModel& model, const StageShape& shape, ExpertRouting& routing,
              std::uint32_t ep_rank, ProgramWriter& writer);
  [[nodiscard]] StageResult write();

 private:
  /// Which gradients a pass completes.
  struct Completes {
    bool inputs = false;   // those that are made with the input gradients (norms, embedding)
    bool weights = false;  // those of matrix products
  };
  struct Part {
    CompiledOps forward, recompute, backward, input_gradient, weight_gradient;
  };
  void choose_slots();
  void compile_all();
  void compile_experts();
  [[nodiscard]] const Part& part_of(std::uint32_t layer) const;
  /// Sum over the layers of a chunk.
  [[nodiscard]] KernelTotals layer_totals(const ChunkShape& chunk, CompiledOps Part::*list) const;
  [[nodiscard]] Part compile_part(const LayerOps& forward, const LayerOps& recompute, const LayerOps& backward) const;
  [[nodiscard]] std::vector<Completes> completions(const std::vector<Pass>& passes) const;
  void write_passes();
  void write_pass(const Pass& pass);
  void write_forward(const Pass& pass);
  void write_backward(const Pass& pass);
  void write_backward_ops(const Part& part, PassKind kind, bool recomputed);
  void write_ops(const CompiledOps& ops, sim::Duration launch_cost);
  void write_host(const CompiledOps& ops, sim::Duration launch_cost);
  void post_receive(const Pass& pass);
  void end_launches();
  void send(const Pass& pass);
  [[nodiscard]] StageResult result(const KernelTotals& optimizer);

  const TransformerSpec& spec_;
  const KernelModel& model_;
  StageShape shape_;
  ExpertRouting& routing_;
  std::uint32_t ep_rank_;
  ProgramWriter& writer_;
  LayerKernels kernels_;
  PipelineMap map_;
  StageSlots slots_;
  bool hosted_ = false;
  std::uint32_t microbatches_ = 1;
  std::uint32_t hand_off_ = 0;  // message: hidden states of one micro-batch, as one rank sends them
  std::optional<RankStreams> streams_;
  std::optional<DataParallelWriter> data_;
  Part layer_, embedding_, head_;
  std::map<std::uint32_t, Part> experts_;  // by layer; of even loads one, at layer 0

  bool first_group_ = true;  // of the current pass
  Stream pass_input_ = Stream::forward_receive;
  std::uint32_t chunk_ = 0;  // of the current pass
  Completes completes_;      // by the current pass
};

}  // namespace traingraph::workloads
