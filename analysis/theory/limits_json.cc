#include "analysis/theory/limits_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace traingraph::analysis::theory {
namespace {

using Json = nlohmann::ordered_json;

Json limit_json(std::optional<double> log10_flop) {
  constexpr double kBase = 10;
  if (!log10_flop) return {{"flop", nullptr}, {"log10_flop", nullptr}, {"state", "no limit in the range looked at"}};
  if (std::isinf(*log10_flop)) {
    return {{"flop", nullptr}, {"log10_flop", nullptr}, {"state", *log10_flop > 0 ? "unlimited" : "nothing is feasible"}};
  }
  return {{"flop", std::pow(kBase, *log10_flop)}, {"log10_flop", *log10_flop}, {"state", "found"}};
}

Json breakdown_json(const Breakdown& b, std::size_t levels) {
  Json network = Json::array();
  for (std::size_t l = 0; l < levels; ++l) network.push_back(b.network[l]);
  return {{"arithmetic", b.arithmetic}, {"kernels", b.kernels}, {"network", network},
          {"latency", b.latency},       {"bubble", b.bubble},   {"tail", b.tail}};
}

Json row_json(const CurveRow& row, std::size_t levels) {
  Json json{{"compute_flop", row.compute}, {"feasible", row.feasible}};
  if (!row.feasible) return json;
  json["utilization"] = row.relative;
  json["mfu"] = row.mfu;
  json["gpus"] = row.gpus;
  for (std::size_t d = 0; d < row.degrees.size(); ++d) json["layout"][dimension_names()[d]] = row.degrees[d];
  json["layout"]["microbatches"] = row.microbatches;
  json["step_time_s"] = row.step_s;
  json["training_time_s"] = row.train_s;
  json["memory_bytes"] = row.memory_bytes;
  json["binds"] = row.binds;
  json["step_shares"] = breakdown_json(row.breakdown, levels);
  return json;
}

Json elasticity_json(const std::optional<Elasticity>& e) {
  if (!e) return nullptr;
  return {{"slope", e->slope}, {"log10_flop_below", e->below_log10}, {"log10_flop_above", e->above_log10}};
}

Json entry_json(const LimitsEntry& entry) {
  const Limits& limits = entry.limits;
  const std::size_t levels = limits.question.gpu.levels.size();
  Json json{{"name", entry.label}, {"question", entry.questions}};
  json["linear_scaling_limit"] = {{"first", limit_json(limits.linear.first)}, {"last", limit_json(limits.linear.last)}};
  json["latency_wall"] = limit_json(limits.wall_log10);
  json["closed_forms"] = {{"bandwidth_limit", limit_json(limits.closed.bandwidth_log10)},
                          {"latency_limit", limit_json(limits.closed.latency_limit_log10)},
                          {"latency_wall", limit_json(limits.closed.wall_log10)},
                          {"block_latency_s", limits.closed.block_latency_s},
                          {"words_per_cube_edge", limits.closed.words_per_cube_edge},
                          {"pipeline_stages", limits.closed.pipeline_stages}};
  json["curve"] = Json::array();
  for (const CurveRow& row : curve_rows(limits)) json["curve"].push_back(row_json(row, levels));
  for (const InputSensitivity& s : entry.sensitivity) {
    json["sensitivity"].push_back({{"input", s.input},
                                   {"factor", s.factor},
                                   {"linear_scaling_limit", elasticity_json(s.linear)},
                                   {"latency_wall", elasticity_json(s.wall)}});
  }
  return json;
}

}  // namespace

nlohmann::ordered_json to_json(const LimitsReport& report) {
  Json json{{"schema", "traingraph/limits/1"}};
  json["limits"] = Json::array();
  for (const LimitsEntry& entry : report.entries) json["limits"].push_back(entry_json(entry));
  return json;
}

}  // namespace traingraph::analysis::theory
