#include "scenarios/import_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scenarios/binder.h"
#include "scenarios/cluster_yaml.h"
#include "scenarios/describer.h"
#include "scenarios/override.h"
#include "scenarios/preset_merge.h"
#include "scenarios/provenance.h"
#include "scenarios/yaml_reader.h"

namespace traingraph::scenarios {

namespace {

constexpr std::string_view kDefaults = "link_speeds";
constexpr std::string_view kFolder = "importers";

topology::TreeNode tree_of(const Value& value) {
  using Kind = topology::TreeNode::Kind;
  topology::TreeNode node;
  node.text = value.text;
  node.line = value.origin.line;
  node.column = value.origin.column;
  switch (value.kind) {
    case ValueKind::null:
      node.kind = Kind::null;
      break;
    case ValueKind::scalar:
      node.kind = Kind::scalar;
      break;
    case ValueKind::list:
      node.kind = Kind::list;
      for (const Value& item : value.items) node.items.push_back(tree_of(item));
      break;
    case ValueKind::map:
      node.kind = Kind::map;
      for (const Entry& e : value.entries) node.entries.push_back({e.key, tree_of(e.value)});
      break;
  }
  return node;
}

topology::TreeNode parse_yaml(const topology::ImportFile& file) {
  if (file.text.size() > kLargestFile) {
    throw topology::ImportError{fmt::format("{}: {} bytes; a YAML file may have at most {} bytes (1 MiB)", file.name,
                                            file.text.size(), kLargestFile)};
  }
  Diagnostics diagnostics;
  const Value root = read_yaml(file.text, {OriginKind::file, file.name, 0, 0}, diagnostics);
  diagnostics.check();
  return tree_of(root);
}

topology::ImportKind kind_of(const ImportRequest& request, const std::vector<topology::ImportFile>& files) {
  for (const topology::ImportKind kind : topology::kImportKinds) {
    if (to_string(kind) == request.kind) return kind;
  }
  for (const topology::ImportFile& file : files) {
    if (const auto kind = topology::recognize(file.text)) return *kind;
  }
  std::vector<std::string> kinds = import_kinds();
  kinds.erase(kinds.begin());
  const std::string_view like = topology::look_alike(files.front().text);
  throw topology::ImportError{like.empty()
                                  ? fmt::format("{}:1:1: this looks like none of the kinds that can be imported: {}",
                                                files.front().name, fmt::join(kinds, ", "))
                                  : fmt::format("{}:1:1: this is {}", files.front().name, like)};
}

Value word(std::string text, const Origin& place) {
  Value v;
  v.kind = ValueKind::scalar;
  v.origin = place;
  v.text = std::move(text);
  return v;
}

/// `import` of a scenario as a map {files: [...], ...} on top of the defaults.
ImportRequest bind_request(const Value& given, Diagnostics& diagnostics, const std::string& path) {
  Value map = given;
  if (given.kind == ValueKind::scalar) {
    map = {};
    map.kind = ValueKind::map;
    map.origin = given.origin;
    Value files;
    files.kind = ValueKind::list;
    files.origin = given.origin;
    files.items.push_back(given);
    map.entries.push_back({"files", given.origin, std::move(files)});
  }
  if (map.kind == ValueKind::map && map.find("preset") == nullptr) {
    map.entries.push_back({"preset", map.origin, word(std::string{kDefaults}, map.origin)});
  }
  ImportRequest request;
  Value root;
  root.kind = ValueKind::map;
  root.origin = map.origin;
  root.entries.push_back({path, map.origin, std::move(map)});
  Provenance provenance;
  Binder binder{root, diagnostics, provenance};
  binder.group({.name = path, .doc = "files of other programs", .preset_folder = kFolder}, [&] { fields(binder, request); });
  binder.finish();
  return request;
}

}  // namespace

void fields(Fields& f, topology::ImportOptions& o) {
  f.leaf({.name = "nodes", .doc = "nccl_xml, nvidia_smi: so many equal nodes, their NICs on one switch"},
         leaf(o.nodes, Range{.low = 1, .high = 100000}));
  f.leaf({.name = "gpus_per_node", .doc = "ibnetdiscover, iblinkinfo, slurm; 0: one per port (slurm: 8)"},
         leaf(o.gpus_per_node, Range{.low = 0, .high = 1024}));
  f.leaf({.name = "bandwidth", .doc = "of a network link or a NIC"}, leaf(o.bandwidth, kPositive));
  f.leaf({.name = "latency", .doc = "of a network link"}, leaf(o.latency));
  f.leaf({.name = "scale_up", .doc = "of a GPU on a switch inside its node; 0: no such switch"}, leaf(o.scale_up));
  f.leaf({.name = "scale_up_latency", .doc = "of a link between GPUs, or a GPU and its switch"}, leaf(o.scale_up_latency));
  f.leaf({.name = "oversubscription", .doc = "slurm: capacity down over capacity up of every switch"},
         leaf(o.oversubscription, Range{.low = 0.01, .high = 1000}));
  f.leaf({.name = "topology", .doc = "slurm: which one of a topology.yaml; empty: its default"}, leaf(o.topology));
  f.leaf({.name = "nvlink_sm60", .doc = "one NVLink of Pascal"}, leaf(o.nvlink_sm60, kPositive));
  f.leaf({.name = "nvlink_sm70", .doc = "one NVLink of Volta and A100"}, leaf(o.nvlink_sm70, kPositive));
  f.leaf({.name = "nvlink_sm86", .doc = "one NVLink of GA10x"}, leaf(o.nvlink_sm86, kPositive));
  f.leaf({.name = "nvlink_sm90", .doc = "one NVLink of Hopper"}, leaf(o.nvlink_sm90, kPositive));
  f.leaf({.name = "nvlink_sm100", .doc = "one NVLink of Blackwell"}, leaf(o.nvlink_sm100, kPositive));
  f.leaf({.name = "xgmi", .doc = "one xGMI link"}, leaf(o.xgmi, kPositive));
  f.leaf({.name = "cpu_bus", .doc = "between two sockets"}, leaf(o.cpu_bus, kPositive));
  f.leaf({.name = "pcie", .doc = "a PCIe link, where the file has no speed"}, leaf(o.pcie, kPositive));
}

void fields(Fields& f, ImportRequest& r) {
  static const Words<std::string> kKinds = [] {
    Words<std::string> words;
    for (const std::string& kind : import_kinds()) words.emplace_back(kind, kind);
    return words;
  }();
  f.leaf({.name = "kind", .doc = "what the files are"}, leaf(r.kind, kKinds));
  f.list({.name = "files", .doc = "their names", .need = kRequired}, r.files);
  fields(f, r.options);
}

std::vector<std::string> import_kinds() {
  std::vector<std::string> names{"auto"};
  for (const topology::ImportKind kind : topology::kImportKinds) names.push_back(to_string(kind));
  return names;
}

ImportRequest import_request(std::string kind, std::vector<std::string> files, const std::vector<std::string>& overrides) {
  const Origin place{OriginKind::file, "import", 0, 0};
  Value map;
  map.kind = ValueKind::map;
  map.origin = place;
  Value list;
  list.kind = ValueKind::list;
  list.origin = place;
  for (std::string& file : files) list.items.push_back(word(std::move(file), place));
  map.entries.push_back({"kind", place, word(std::move(kind), place)});
  map.entries.push_back({"files", place, std::move(list)});
  Diagnostics diagnostics;
  for (const std::string& o : overrides) apply_override(map, o, diagnostics);
  ImportRequest request = bind_request(map, diagnostics, "import");
  diagnostics.check();
  return request;
}

topology::Imported run_import(const ImportRequest& request, const std::filesystem::path& folder) {
  try {
    std::vector<topology::ImportFile> files;
    for (const std::string& name : request.files) {
      const std::filesystem::path path = folder / name;  // an absolute name stays as it is
      files.push_back({path.string(), read_text(path, {kLargestImport, "a file to import", "64 MiB"})});
    }
    if (files.empty()) throw topology::ImportError{"import: no file is given"};
    return topology::import_cluster(kind_of(request, files), files, request.options, parse_yaml);
  } catch (const topology::ImportError& e) {
    throw ScenarioError{e.what()};
  }
}

void resolve_import(Value& root, const std::filesystem::path& folder, Diagnostics& diagnostics) {
  Entry* const cluster = root.find("cluster");
  if (cluster == nullptr || cluster->value.kind != ValueKind::map) return;
  auto& entries = cluster->value.entries;
  const auto at = std::find_if(entries.begin(), entries.end(), [](const Entry& e) { return e.key == "import"; });
  if (at == entries.end()) return;
  const Value given = at->value;
  const Origin place = given.origin;
  entries.erase(at);
  if (cluster->value.find("preset") != nullptr) {
    diagnostics.error(place, "cluster.import", "stands beside a preset; allowed: one of them");
    return;
  }
  const ImportRequest request = bind_request(given, diagnostics, "import");
  diagnostics.check();
  const topology::Imported imported = run_import(request, folder);
  Value base = read_yaml(cluster_yaml(imported.cluster), {OriginKind::preset, "import of " + request.files.front(), 0, 0},
                         diagnostics);
  diagnostics.check();
  cluster->value = merged(std::move(base.find("cluster")->value), cluster->value);
  cluster->value.origin = place;
}

std::string describe_import_options() {
  ImportRequest request = import_request("auto", {}, {});
  Describer describer;
  fields(describer, request.options);
  std::string out;
  for (const KeyInfo& key : describer.keys()) {
    out += fmt::format("  {:<18} {} [{}]\n", key.path, key.doc, key.default_text);
  }
  return out;
}

}  // namespace traingraph::scenarios
