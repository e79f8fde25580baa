// PlanReport: what `traingraph plan` says, as text, JSON (schema "traingraph/plan/1") and CSV (a row for every simulated
// layout), all from the same value.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analysis/plan/planner.h"

namespace traingraph::analysis::plan {

struct PlanReport {
  std::string model;    ///< "llama3_405b, sequence 8192, global batch 256, bf16"
  std::string cluster;  ///< its name
  double tokens_per_step = 0;
  double memory_capacity = 0;        ///< bytes of a GPU
  std::vector<Plan> plans;           ///< ascending by GPUs
  std::optional<double> tokens;      ///< of the whole training
  std::optional<double> deadline_s;  ///< of the whole training
};

/// Seconds that a step of the plan takes: the best simulated, else the least bound; none: no layout exists.
[[nodiscard]] std::optional<double> step_seconds(const Plan& plan);

[[nodiscard]] std::string to_text(const PlanReport& report);
/// Without wall times: two plans without a time budget give the same bytes.
[[nodiscard]] nlohmann::ordered_json to_json(const PlanReport& report);
[[nodiscard]] std::string to_csv(const PlanReport& report);

}  // namespace traingraph::analysis::plan
