// StepBound: the least time that one cold step of a layout can take, and the least memory that its GPUs need; what the
// planner ranks by. No simulation of that layout on that cluster is faster, and none needs less memory.
//
// It speaks of the ranks with the largest coordinates in TP, CP and DP, one per stage (network_rates.h says why). On such a
// rank kernels and the collectives that they wait for follow one another, and a pass takes no less than the host's launches:
//   F, B (I, W)  one micro-batch's forward and backward (input gradient, weight gradient) on a stage, recomputation included
//   stage s of P, M micro-batches, F' B' what a micro-batch passes before it first reaches s, and hand-offs h:
//     1f1b, gpipe  sum_{i<s}(F_i+B_i+2h) + max(w F_s, F_s + sum_{i>s}(F_i+B_i+2h)) + M B_s + (M-w) F_s   (bounds.h, 5)
//     interleaved  sum_{i<s}(F'_i+B'_i+2h) + M (F_s+B_s)
//     zb_h1        sum_{i<s}(F_i+h) + M (F_s+I_s+W_s), and ... + M (F_s+I_s) + sum_{i<s}(I_i+h) + W_0
//     zb_v         sum_{i<s}(F'_i+h) + M (F_s+I_s+W_s)
//     dualpipe     the same with B_s, s counted from the nearer end
//   from each backward is taken what may run before its input arrives: the collectives that it begins with
//   then what nothing hides: gradient reductions that wait for the end of the step (or are waited for after each
//   micro-batch), the tied embedding's reduction, the gradient norm, which all stages wait for, the optimizer, the gather of
//   parameters.
// At least as long as the parameter gathers, and as the reductions, of one rank take one after the other. The largest over
// the first, the last but one and the last stage.
//
// Memory: workloads/memory.h for the same stages, by the same formulas; of several chunks with different layers the least.
//
// The costs of a layout's parts are found once for all layouts that share them (prepare); then a layout costs some hundred
// multiplications and no allocation.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "analysis/plan/network_rates.h"
#include "analysis/plan/part_costs.h"
#include "analysis/plan/pipeline_shares.h"
#include "topology/cluster_spec.h"
#include "workloads/hardware_spec.h"
#include "workloads/sharding.h"

namespace traingraph::analysis::plan {

/// What is to be planned: everything but the layout.
struct PlanProblem {
  workloads::TransformerSpec base;
  workloads::HardwareSpec hardware;
  topology::ClusterSpec cluster;
  double fastest_gpu = 1;  ///< smallest factor on kernel times of any GPU (slow GPUs have larger ones)
};

/// Seconds of a list of operations, and of its launches on the host.
struct PassTime {
  double gpu = 0;
  double host = 0;
  [[nodiscard]] double least() const { return gpu > host ? gpu : host; }
};

/// One kind of pass through each part of the model.
struct PartTimes {
  PassTime layer, moe_layer, embedding, head;
  [[nodiscard]] PassTime sum(const Share& share) const;
  [[nodiscard]] double of(const Share& share) const { return sum(share).least(); }
};

/// What may be taken away from a step to see what it costs; for explanations.
struct Without {
  bool network_tp = false, network_cp = false, network_ep = false, network_pp = false, network_dp = false;
  bool bubble = false;
};

class StepBound {
 public:
  /// Throws sim::InputError for clusters and hardware that the planner cannot use.
  explicit StepBound(const PlanProblem& problem);
  ~StepBound();

  /// TP, SP, CP, PP, DP, EP and the order of ranks: what decides where groups are.
  struct Degrees {
    PlanLayout layout;
    std::array<LeastTime, 3> tp;  // all-gather, reduce-scatter, all-reduce
    std::array<LeastTime, 4> cp;  // and all-to-all, send_recv in the place of all-reduce
    LeastTime ep;
    std::array<LeastTime, 3> dp, edp;          // all-gather, reduce-scatter, all-reduce
    std::array<LeastTime, 3> dp_two, edp_two;  // of a bidirectional pipeline
    LeastTime hand_off, ends;                  // ends: all-reduce between first and last stage
    double layer = 0, moe_layer = 0, experts = 0, embedding = 0, table = 0, norm = 0;  // parameters of one GPU
  };
  [[nodiscard]] Degrees degrees(const PlanLayout& layout, const Without& without = {}) const;

  /// And the micro-batch and recomputation: times of a pass, memory of a layer.
  struct Batch {
    PartTimes forward, backward, input_gradient, weight_gradient;
    double hand_off = 0;      // s
    double before_input = 0;  // s, of a backward pass that may be over before its input arrives
    double stored_layer = 0, stored_moe = 0, pending_layer = 0, pending_moe = 0, again = 0, logits = 0;  // bytes
  };
  [[nodiscard]] Batch batch(const Degrees& degrees, const PlanLayout& layout, const Without& without = {}) const;

  /// And schedule and virtual stages: the passes of a step.
  struct Passes {
    std::array<double, 3> own{}, through_first{};  // s, of the stages of PipelineShares::at, until its, and the first's, end
    std::size_t stages = 0;
    double microbatches = 0;
  };
  [[nodiscard]] Passes passes(const Batch& batch, const PlanLayout& layout, const PipelineShares& shares,
                              std::uint32_t microbatches, const Without& without = {}) const;

  /// And the ZeRO stage: seconds of a step.
  [[nodiscard]] double seconds(const Degrees& degrees, const Passes& passes, const PlanLayout& layout,
                               const PipelineShares& shares) const;
  /// Bytes of the stage that needs most.
  [[nodiscard]] double memory(const Degrees& degrees, const Batch& batch, const PlanLayout& layout,
                              const PipelineShares& shares) const;

  /// All of it for one layout; costs some microseconds.
  [[nodiscard]] double seconds(const PlanLayout& layout, const Without& without = {}) const;
  [[nodiscard]] double memory(const PlanLayout& layout) const;

  /// Finds the costs of the parts that this layout needs, so that afterwards any number of threads may call batch(). Only
  /// (tp, cp, ep, sequence_parallel, micro_batch) matter.
  void prepare(const PlanLayout& layout);
  /// The same of several, in so many threads.
  void prepare(const std::vector<PlanLayout>& layouts, std::uint32_t threads);

  [[nodiscard]] const PlanProblem& problem() const { return problem_; }

 private:
  struct Parts;  // of one (tp, cp, ep, sequence_parallel, micro_batch)
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, bool, std::uint32_t>;
  [[nodiscard]] static Key key_of(const PlanLayout& layout);
  [[nodiscard]] Parts make_parts(const PlanLayout& layout) const;
  [[nodiscard]] const Parts& parts_of(const PlanLayout& layout) const;
  [[nodiscard]] double memory_kernel(double bytes) const;
  [[nodiscard]] double head_parameters(const Degrees& degrees, bool ends_meet) const;
  struct StageEndTimes {
    double before_norm = 0, after_norm = 0, reductions = 0, gathers = 0, per_microbatch = 0;
  };
  [[nodiscard]] StageEndTimes stage_end(const Degrees& degrees, const workloads::Sharding& sharding, const StageShare& stage,
                                        const PipelineShares& shares, double microbatches) const;

  PlanProblem problem_;
  NetworkRates rates_;
  double word_ = 2, gradient_ = 4;
  std::map<Key, std::unique_ptr<Parts>> parts_;
};

}  // namespace traingraph::analysis::plan
