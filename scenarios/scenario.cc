#include "scenarios/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "scenarios/binder.h"
#include "scenarios/checks.h"
#include "scenarios/describer.h"
#include "scenarios/override.h"
#include "scenarios/printer.h"
#include "scenarios/schema.h"
#include "scenarios/yaml_reader.h"

namespace traingraph::scenarios {

namespace {

/// The matrix of an all_to_all_v names the members that send; the others have empty rows.
void complete_matrix(Scenario& s) {
  auto* const c = std::get_if<workloads::CollectiveRunSpec>(&s.workload.job);
  if (c == nullptr || c->options.matrix == nullptr) return;
  const auto& placement = s.workload.placement;
  const std::uint64_t offered =
      placement.kind == workloads::PlacementKind::list ? placement.gpus.size() : gpu_count(s.cluster);
  const std::uint64_t members = c->ranks == 0 ? offered : c->ranks;
  if (c->options.matrix->size() >= members || members > gpu_count(s.cluster)) return;
  workloads::BytesMatrix matrix = *c->options.matrix;
  matrix.resize(static_cast<std::size_t>(members));
  c->options.matrix = std::make_shared<const workloads::BytesMatrix>(std::move(matrix));
}

Value parse(std::string_view text, const Origin& place, const std::vector<std::string>& overrides,
            Diagnostics& diagnostics) {
  Value root = read_yaml(text, place, diagnostics);
  if (root.kind == ValueKind::null && diagnostics.empty()) diagnostics.error(place, "", "there is nothing in this file");
  if (root.kind == ValueKind::scalar || root.kind == ValueKind::list) {
    diagnostics.error(root.origin, "", fmt::format("expected a map of keys, found {}", describe(root)));
  }
  if (root.kind != ValueKind::map) diagnostics.check();
  for (const std::string& o : overrides) apply_override(root, o, diagnostics);
  return root;
}

}  // namespace

Scenario load_text(std::string text, std::string_view name, const std::vector<std::string>& overrides) {
  Diagnostics diagnostics;
  const Origin place{OriginKind::file, std::string{name}, 0, 0};
  const Value root = parse(text, place, overrides, diagnostics);
  Scenario s;
  Binder binder{root, diagnostics, s.provenance};
  fields(binder, s);
  binder.finish();
  if (s.name.empty()) s.name = name == "-" ? "stdin" : std::filesystem::path{name}.stem().string();
  complete_matrix(s);
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
  topology::ClusterSpec cluster;
  Diagnostics diagnostics;
  Provenance provenance;
  const Origin place{OriginKind::file, std::string{name}, 0, 0};
  Value word;
  word.kind = ValueKind::scalar;
  word.origin = place;
  word.text = name;
  Value root;
  root.kind = ValueKind::map;
  root.origin = place;
  root.entries.push_back({"cluster", place, std::move(word)});
  for (const std::string& o : overrides) apply_override(root, "cluster." + o, diagnostics);
  Binder binder{root, diagnostics, provenance};
  binder.group({.name = "cluster", .doc = "cluster", .need = kRequired, .preset_folder = "clusters"},
               [&] { fields(binder, cluster); });
  binder.finish();
  Checker check{provenance, diagnostics};
  check_cluster(cluster, check);
  diagnostics.check();
  return cluster;
}

std::string effective_yaml(const Scenario& scenario) {
  Scenario copy = scenario;  // the schema's visitors take what they visit by reference
  Printer printer{scenario.provenance};
  fields(printer, copy);
  return printer.text();
}

std::string describe_schema() {
  Scenario defaults;
  Describer describer;
  fields(describer, defaults);
  std::string out =
      "Keys of a scenario: type, default in brackets, meaning. Quantities carry their unit: 400 Gb/s, 50 GB/s, 1.5 us,\n"
      "80 GB, 80 GiB, 989 TFLOP/s, 1.41 GHz. A value may be written with its source: {value: 2039 GB/s, source: \"...\"}.\n";
  std::string condition;
  for (const KeyInfo& key : describer.keys()) {
    if (key.condition != condition) {
      condition = key.condition;
      out += condition.empty() ? "\nalways:\n" : fmt::format("\n{}:\n", condition);
    }
    out += fmt::format("  {:<48} {} [{}]\n  {:<48}   {}\n", key.path, key.type, key.default_text, "", key.doc);
  }
  return out;
}

}  // namespace traingraph::scenarios
