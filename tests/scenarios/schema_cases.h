// One case for every key of the schema: scenarios to start from, overrides that set the key, and what must then hold of the
// Scenario (and must not hold before).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/scenario.h"

namespace traingraph::scenarios::test {

struct SchemaCase {
  std::string_view key;  ///< as describe_schema() writes it
  const char* base;      ///< the scenario to start from
  std::vector<std::string> overrides;
  std::function<bool(const Scenario&)> holds;
};

[[nodiscard]] std::vector<SchemaCase> cluster_cases();
[[nodiscard]] std::vector<SchemaCase> fabric_cases();
[[nodiscard]] std::vector<SchemaCase> hardware_cases();
[[nodiscard]] std::vector<SchemaCase> transformer_cases();
[[nodiscard]] std::vector<SchemaCase> other_workload_cases();

/// 32 GPUs in 4 nodes on a Clos network, and a small transformer that fills them.
inline constexpr const char* kTransformer = R"(name: base
cluster:
  nodes: 4
  node:
    gpus: 8
    scale_up: {kind: nvswitch, gpus: 8, bandwidth: 300 GB/s, latency: 25 ns}
    nic: {bandwidth: 200 Gb/s, latency: 500 ns}
  scale_out: {kind: clos, switch_ports: 64}
hardware: a100_40gb
workload:
  kind: transformer
  model: {layers: 8, hidden: 1024, heads: 16, ffn: 4096, vocabulary: 32000, sequence: 1024}
  parallel: {tp: 8, pp: 2, dp: 2}
  global_batch: 16
  attention: unfused
)";

#define TRAINGRAPH_HOLDS(condition) [](const Scenario& s) -> bool { return condition; }

}  // namespace traingraph::scenarios::test
