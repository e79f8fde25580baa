#include "scenarios/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <variant>

#include "scenarios/binder.h"
#include "scenarios/checks.h"
#include "scenarios/describer.h"
#include "scenarios/import_request.h"
#include "scenarios/override.h"
#include "scenarios/printer.h"
#include "scenarios/schema.h"
#include "scenarios/yaml_reader.h"

namespace traingraph::scenarios {

namespace {

/// The matrix of an all_to_all_v names the members that send; the others have empty rows.
void complete_matrix(std::shared_ptr<const workloads::BytesMatrix>& matrix, std::uint64_t members) {
  if (matrix == nullptr || matrix->size() >= members) return;
  workloads::BytesMatrix whole = *matrix;
  whole.resize(static_cast<std::size_t>(members));
  matrix = std::make_shared<const workloads::BytesMatrix>(std::move(whole));
}

void complete_matrices(Scenario& s) {
  if (auto* const c = std::get_if<workloads::CollectiveRunSpec>(&s.workload.job)) {
    const auto& placement = s.workload.placement;
    const std::uint64_t offered =
        placement.kind == workloads::PlacementKind::list ? placement.gpus.size() : gpu_count(s.cluster);
    const std::uint64_t members = c->ranks == 0 ? offered : c->ranks;
    if (members <= gpu_count(s.cluster)) complete_matrix(c->options.matrix, members);
  }
  if (auto* const c = std::get_if<workloads::CustomProgramSpec>(&s.workload.job)) {
    std::map<std::string_view, std::size_t> members;
    for (const workloads::CustomGroup& group : c->groups) members.emplace(group.name, group.ranks.size());
    for (workloads::CustomTask& task : c->tasks) {
      if (const auto group = members.find(task.group); group != members.end()) complete_matrix(task.matrix, group->second);
    }
  }
}

/// A name that was given to a cluster says what was changed since.
void complete_name(Scenario& s, const std::vector<std::string>& overrides) {
  constexpr std::string_view kPrefix = "cluster.";
  if (s.cluster.name.empty() || s.provenance.origin("cluster.name").kind == OriginKind::override_) return;
  std::string changes;
  for (const std::string& o : overrides) {
    if (o.starts_with(kPrefix)) changes += (changes.empty() ? ", with " : ", ") + o.substr(kPrefix.size());
  }
  s.cluster.name += changes;
}

/// A preset file is no scenario: the one thing that is wrong with it, instead of all its keys.
void refuse_preset(const Value& root, Diagnostics& diagnostics) {
  struct Kind {
    std::string_view name, key, another, use;
  };
  constexpr Kind kKinds[] = {{"cluster", "scale_out", "nodes", "cluster: NAME"},
                             {"node", "gpus", "scale_up", "cluster: {node: NAME, ...}"},
                             {"hardware", "peaks", "memory_bandwidth", "hardware: NAME"},
                             {"model", "layers", "hidden", "workload: {model: NAME, ...}"}};
  for (const std::string_view key : {"cluster", "hardware", "workload", "run"})
    if (root.find(key) != nullptr) return;
  for (const Kind& kind : kKinds) {
    if (root.find(kind.key) == nullptr || root.find(kind.another) == nullptr) continue;
    diagnostics.error(root.origin, "",
                      fmt::format("this is a {} preset, not a scenario; a scenario names it (`{}`), with a workload to run",
                                  kind.name, kind.use));
    diagnostics.check();
  }
}

Value parse(std::string_view text, const Origin& place, const std::vector<std::string>& overrides,
            Diagnostics& diagnostics) {
  Value root = read_yaml(text, place, diagnostics);
  if (root.kind == ValueKind::null && diagnostics.empty()) diagnostics.error(place, "", "there is nothing in this file");
  if (root.kind == ValueKind::scalar || root.kind == ValueKind::list) {
    diagnostics.error(root.origin, "", fmt::format("expected a map of keys, found {}", describe(root)));
  }
  if (root.kind != ValueKind::map) diagnostics.check();
  refuse_preset(root, diagnostics);
  for (const std::string& o : overrides) apply_override(root, o, diagnostics);
  return root;
}

/// A document with the key `cluster` and no other.
topology::ClusterSpec bind_cluster(const Value& root, Diagnostics& diagnostics) {
  topology::ClusterSpec cluster;
  Provenance provenance;
  Binder binder{root, diagnostics, provenance};
  binder.group({.name = "cluster", .doc = "cluster", .need = kRequired, .preset_folder = "clusters"},
               [&] { fields(binder, cluster); });
  binder.finish();
  Checker check{provenance, diagnostics};
  check_cluster(cluster, check);
  diagnostics.check();
  return cluster;
}

}  // namespace

Scenario load_text(std::string text, std::string_view name, const std::vector<std::string>& overrides) {
  Diagnostics diagnostics;
  const Origin place{OriginKind::file, std::string{name}, 0, 0};
  Value root = parse(text, place, overrides, diagnostics);
  resolve_import(root, std::filesystem::path{name}.parent_path(), diagnostics);
  Scenario s;
  Binder binder{root, diagnostics, s.provenance};
  fields(binder, s);
  binder.finish();
  if (s.name.empty()) s.name = name == "-" ? "stdin" : std::filesystem::path{name}.stem().string();
  complete_matrices(s);
  complete_name(s, overrides);
  Checker check{s.provenance, diagnostics};
  check_cluster(s.cluster, check);
  check_workload(s, check);
  diagnostics.check();
  s.source_text = std::move(text);
  return s;
}

Scenario load(const std::filesystem::path& file, const std::vector<std::string>& overrides) {
  return load_text(read_text(file), file.string(), overrides);
}

topology::ClusterSpec load_cluster_preset(std::string_view name, const std::vector<std::string>& overrides) {
  // As a scenario that holds nothing but the preset; the overrides are the cluster's own keys.
  Diagnostics diagnostics;
  Value root = naming_preset("cluster", name);
  for (const std::string& o : overrides) apply_override(root, "cluster." + o, diagnostics);
  return bind_cluster(root, diagnostics);
}

std::optional<topology::ClusterSpec> load_cluster_file(const std::filesystem::path& file,
                                                       const std::vector<std::string>& overrides) {
  Diagnostics diagnostics;
  Value root = parse(read_text(file), {OriginKind::file, file.string(), 0, 0}, overrides, diagnostics);
  if (root.find("workload") != nullptr) return std::nullopt;
  resolve_import(root, file.parent_path(), diagnostics);
  return bind_cluster(root, diagnostics);
}

std::string effective_yaml(const Scenario& scenario) { return printed(scenario, scenario.provenance); }

std::string describe_schema() {
  constexpr std::size_t kWidth = 48;
  return "Keys of a scenario: type, default in brackets, meaning. Quantities carry their unit: 400 Gb/s, 50 GB/s, 1.5 us,\n"
         "80 GB, 80 GiB, 989 TFLOP/s, 1.41 GHz. A value may be written with its source: {value: 2039 GB/s, source: "
         "\"...\"}.\n" +
         described<Scenario>(kWidth);
}

}  // namespace traingraph::scenarios
