// The planner's filter: enumerates every layout of a number of GPUs, rejects what cannot be, and puts the rest in the order
// of their bound (step_bound.h).
//
// Degrees are all divisors of the GPUs; micro-batches all divisors of a replica's batch; virtual stages all divisors of a
// stage's layers. Two descriptions of the same program count once: ZeRO stages where there is nobody to share with, orders
// of ranks that do not differ, sequence parallelism without TP, selective recomputation of fused attention (which keeps no
// scores).
//
// Cost: some hundred ns a layout and thread; nothing is allocated for a layout but its place in the result.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/plan/step_bound.h"

namespace traingraph::analysis::plan {

/// Why layouts are rejected. The first ones reject a combination of degrees, with all layouts that it would have.
enum class Reject : std::uint8_t { tensor, sequence, context, layers, experts, batch, schedule, sharding, memory };
inline constexpr std::size_t kRejects = 9;
[[nodiscard]] std::string_view to_string(Reject reason);
[[nodiscard]] constexpr bool rejects_degrees(Reject reason) { return reason < Reject::schedule; }

/// What is tried; where a value is given, only that.
struct SearchSpace {
  std::optional<std::uint32_t> tp, cp, pp, ep, micro_batch, virtual_stages;
  std::optional<std::uint32_t> zero_stage;
  std::optional<bool> sequence_parallel;
  std::optional<workloads::Recompute> recompute;
  std::optional<workloads::ScheduleKind> schedule;
  std::optional<std::uint8_t> order;
};

struct Candidate {
  double bound = 0;   ///< s
  double memory = 0;  ///< bytes, at least
  PlanLayout layout;
  bool operator<(const Candidate& o) const { return bound != o.bound ? bound < o.bound : layout < o.layout; }
};

struct SearchResult {
  std::vector<Candidate> candidates;  ///< ascending by bound
  std::uint64_t layouts = 0;          ///< searched: bound and memory were found
  std::array<std::uint64_t, kRejects> rejected{};
  double least_bound_left_out = 0;  ///< of those beyond kMostCandidates; 0: none
};

/// Candidates that a result keeps; of the others it keeps the least bound.
inline constexpr std::size_t kMostCandidates = 2'000'000;

/// `bound` is prepared for what it needs; results do not depend on `threads`. Throws sim::Cancelled when `cancel` is set.
[[nodiscard]] SearchResult search(StepBound& bound, std::uint32_t gpus, const SearchSpace& space, std::uint32_t threads,
                                  const std::atomic<bool>* cancel = nullptr);

/// Ascending.
[[nodiscard]] std::vector<std::uint32_t> divisors(std::uint32_t n);

}  // namespace traingraph::analysis::plan
