// PlanLayout: one point of the planner's search space, and the transformer that it stands for.
//
// What is searched: TP, SP, CP, PP, virtual stages, EP, DP, ZeRO stage, micro-batch, recomputation, schedule, and the order
// of ranks, which decides what stays inside a node. All else (overlaps, bucket size, algorithms, attention, number formats)
// is the scenario's, without those options that would have no effect in this layout.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "workloads/sharding.h"
#include "workloads/workload_spec.h"

namespace traingraph::analysis::plan {

/// Orders of ranks that are tried, fastest first: what is inside the node after TP and CP.
inline constexpr std::array<const char*, 2> kOrders{"tp-cp-ep-dp-pp", "tp-cp-pp-ep-dp"};

struct PlanLayout {
  std::uint32_t tp = 1;
  std::uint32_t cp = 1;
  std::uint32_t pp = 1;
  std::uint32_t dp = 1;
  std::uint32_t ep = 1;
  std::uint32_t virtual_stages = 1;
  std::uint32_t micro_batch = 1;
  std::uint8_t zero_stage = 0;
  std::uint8_t order = 0;  ///< of kOrders
  bool sequence_parallel = false;
  workloads::Recompute recompute = workloads::Recompute::none;
  workloads::ScheduleKind schedule = workloads::ScheduleKind::one_f_one_b;

  [[nodiscard]] std::uint32_t gpus() const { return tp * cp * pp * dp; }
  auto operator<=>(const PlanLayout&) const = default;
};

/// The base in this layout.
[[nodiscard]] workloads::TransformerSpec transformer_of(const workloads::TransformerSpec& base, const PlanLayout& layout);

/// "TP 8 SP CP 2 PP 4 x 2 DP 16 EP 8, 1f1b, ZeRO 1, micro-batch 2, recompute full, order tp-cp-ep-dp-pp".
[[nodiscard]] std::string to_string(const PlanLayout& layout);

/// How the data-parallel ranks of a layout share parameters, gradients and optimizer states; `base` has what a layout
/// leaves.
[[nodiscard]] workloads::Sharding sharding_of(const workloads::ParallelSpec& base, const PlanLayout& layout);

}  // namespace traingraph::analysis::plan
