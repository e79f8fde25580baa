// Scenario: everything one run needs, as plain values, and where each value came from.
//
// A scenario file is one YAML document (at most 1 MiB) with the keys `name`, `cluster`, `hardware`, `workload`, `run`; every
// key is listed, with type, default and meaning, by describe_schema(). `cluster`, `cluster.node`, `hardware`,
// `workload.model` and `workload.software` may name a preset, as a word (`hardware: h100_sxm`) or inside the map beside what
// differs
// (`cluster: {preset: dgx_a100_superpod, nodes: 128}`); `cluster: {import: topo.xml}` takes a description that another
// program wrote (import_request.h). An override `a.b=c` puts the YAML value c at that path before presets are merged, so it
// is typed and checked like the file; `a[0].b=c` reaches into a list, and `a=` removes the key.
//
// All errors of a file are reported together (ScenarioError), each with file:line:column or `--set a.b=c`, the key's path,
// what was found and what is allowed. What the fields say about each other (degrees and GPU counts, what divides what) is
// checked too; what needs the built fabric (reachability, memory) is left to topology::build and workloads::build.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/provenance.h"
#include "sim/options.h"
#include "topology/cluster_spec.h"
#include "workloads/hardware_spec.h"
#include "workloads/workload_spec.h"

namespace traingraph::scenarios {

struct Scenario {
  std::string name;  ///< the file's stem unless given
  topology::ClusterSpec cluster;
  workloads::HardwareSpec hardware;
  bool hardware_given = false;  ///< transformer and linear_blocks need it; else `hardware` is empty
  workloads::WorkloadSpec workload;
  sim::RunOptions run;
  std::string source_text;  ///< the file as read
  Provenance provenance;
};

/// Reads, merges, checks. Throws ScenarioError (all faults), or sim::InputError when the file cannot be read.
[[nodiscard]] Scenario load(const std::filesystem::path& file, const std::vector<std::string>& overrides = {});
/// The same for a text that is in memory; `name` stands for the file in messages ("-" for stdin).
[[nodiscard]] Scenario load_text(std::string text, std::string_view name, const std::vector<std::string>& overrides = {});
/// A cluster preset alone, with overrides of its keys (`nodes=64`, `routing.policy=ecmp`).
[[nodiscard]] topology::ClusterSpec load_cluster_preset(std::string_view name,
                                                        const std::vector<std::string>& overrides = {});

/// The cluster of a file that has no workload, as `traingraph import` writes it; nothing when the file is a whole scenario.
[[nodiscard]] std::optional<topology::ClusterSpec> load_cluster_file(const std::filesystem::path& file,
                                                                     const std::vector<std::string>& overrides = {});

/// The scenario as YAML with every default filled in and each value's source as a comment; loads again to the same values.
[[nodiscard]] std::string effective_yaml(const Scenario& scenario);

/// The list of all keys: path, type, default, condition, meaning.
[[nodiscard]] std::string describe_schema();

/// GPUs of a cluster as its description counts them, without building it.
[[nodiscard]] std::uint64_t gpu_count(const topology::ClusterSpec& cluster);

}  // namespace traingraph::scenarios
