// BoundReport: how good a step could be, without simulating it: the rigorous lower bounds (bounds.h) on that very fabric,
// and the closed-form step model at that layout on a two-level abstraction of it. The first may be trusted blindly, the
// second says what is to be expected.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "analysis/result.h"
#include "analysis/theory/scenario_step.h"

namespace traingraph::analysis {

/// One of several times of which the largest counts.
struct Constraint {
  std::string name;
  std::string subject;
  std::string holds_for;
  double seconds = 0;
  bool of_reported_step = true;  ///< false: of the first, cold step only
  /// How much faster it would have to become before the next one binds in its place; 0: there is no next.
  double headroom = 0;
};

struct BoundReport {
  std::string description;
  std::string fabric;
  std::uint64_t gpus = 0;
  std::vector<Constraint> bounds;  ///< largest first, those of the first step last
  theory::ScenarioStepAnswer model;
  std::vector<Constraint> model_terms;  ///< products, network levels, blocks in series: largest first
};

[[nodiscard]] BoundReport bound_report(const std::vector<Bound>& bounds, theory::ScenarioStepAnswer model);

[[nodiscard]] std::string to_text(const BoundReport& report);
/// Schema "traingraph/bound/1".
[[nodiscard]] nlohmann::ordered_json to_json(const BoundReport& report);
[[nodiscard]] std::string to_csv(const BoundReport& report);

}  // namespace traingraph::analysis
