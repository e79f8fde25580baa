// Cases for every key of the schema: a scenario to start from, overrides that change the key, what must then hold of the
// Scenario (and must not hold before), and where the change must be seen when both are simulated.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/scenario.h"

namespace traingraph::scenarios::test {

enum class SeenIn {
  result,              ///< the JSON of the run, the engine's counters left out
  acceptance,          ///< one of the two is refused with an InputError, the other one runs
  load_record,         ///< the links' load over time, which the result file holds
  topology,            ///< the JSON of the fabric: labels for tables
  explanation,         ///< who talks to whom (--explain)
  effective_scenario,  ///< what `check` prints: names for people
};

struct SchemaCase {
  std::string_view key;                        ///< as describe_schema() writes it
  const char* base;                            ///< the scenario to start from
  std::vector<std::string> overrides;          ///< the key; others only where it cannot change without them
  std::function<bool(const Scenario&)> holds;  ///< after them
  std::vector<std::string> given = {};         ///< overrides before and after: what the key needs to matter
  SeenIn seen_in = SeenIn::result;
};

[[nodiscard]] std::vector<SchemaCase> cluster_cases();
[[nodiscard]] std::vector<SchemaCase> fabric_cases();
[[nodiscard]] std::vector<SchemaCase> hardware_cases();
[[nodiscard]] std::vector<SchemaCase> transformer_cases();
[[nodiscard]] std::vector<SchemaCase> other_workload_cases();

[[nodiscard]] inline std::vector<SchemaCase> all_cases() {
  std::vector<SchemaCase> all;
  for (const auto& some : {cluster_cases(), fabric_cases(), hardware_cases(), transformer_cases(), other_workload_cases()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

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

/// Four nodes of two GPUs, each node on a leaf of its own; everybody sends to everybody.
inline constexpr const char* kLeaves = R"(name: base
cluster:
  nodes: 4
  node:
    gpus: 2
    scale_up: {kind: nvswitch, gpus: 2, bandwidth: 300 GB/s, latency: 25 ns}
    nic: {bandwidth: 50 GB/s, latency: 500 ns}
  scale_out: {kind: clos, nodes_per_unit: 1, switch_ports: 16, leaf_spine: {links: 1}}
workload: {kind: collective, collective: all_to_all, bytes: 1 MiB}
)";

/// 32 GPUs on one switch, in blocks of two linear layers.
inline constexpr const char* kLinear = R"(name: base
cluster:
  nodes: 4
  node: {gpus: 8, nic: {bandwidth: 50 GB/s}}
  scale_out: {kind: single_switch}
hardware: h100_sxm
workload:
  kind: linear_blocks
  hidden: 1024
  ff: 4096
  blocks: 8
  batch_tokens: 65536
  microbatches: 4
  tp_ff: [8, 1]
  tp_hidden: [1, 1]
  pp: [1, 2]
  dp: [1, 2]
)";

#define TRAINGRAPH_HOLDS(condition) [](const Scenario& s) -> bool { return condition; }

}  // namespace traingraph::scenarios::test
