// StageEnd: what follows a stage's last pass: the gradients that are summed over other groups than the data-parallel one,
// the loss, the gradient norm, the optimizer.
//
// Optimizer kernels, HBM bytes per local parameter, mixed-precision Adam in fp16 with fp32 gradients: norm 4, unscale 8
// (fp16 only), Adam 30 (gradient, master weight and two moments read; master, moments and 16-bit weight written), zeroing
// gradients 4: 46 in all. All but the zeroing ÷ the shards of the optimizer.
#pragma once

#include "workloads/compiled_ops.h"
#include "workloads/data_parallel.h"
#include "workloads/kernel_time.h"

namespace traingraph::workloads {

class StageEnd {
 public:
  StageEnd(const TransformerSpec& spec, const KernelModel& model, const LayerKernels& kernels, const StageShape& shape,
           const StageSlots& slots, ProgramWriter& writer, RankStreams& streams)
      : spec_{spec}, model_{model}, kernels_{kernels}, shape_{shape}, slots_{slots}, writer_{writer}, streams_{streams} {}

  /// Writes it all and returns the optimizer's kernels.
  [[nodiscard]] KernelTotals write(const DataParallelWriter& data);

 private:
  void write_reductions(const DataParallelWriter& data);
  void write_optimizer(const DataParallelWriter& data);
  void optimizer_kernel(const Kernel& kernel);

  const TransformerSpec& spec_;
  const KernelModel& model_;
  const LayerKernels& kernels_;
  const StageShape& shape_;
  const StageSlots& slots_;
  ProgramWriter& writer_;
  RankStreams& streams_;
  KernelTotals totals_;
};

}  // namespace traingraph::workloads
