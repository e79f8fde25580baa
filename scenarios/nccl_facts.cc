#include "scenarios/nccl_facts.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "scenarios/binder.h"
#include "scenarios/preset_store.h"
#include "scenarios/provenance.h"
#include "scenarios/yaml_reader.h"

namespace traingraph::scenarios {

namespace {

using workloads::NcclCaps;
using workloads::NcclConstants;
using workloads::NcclGeneration;
using workloads::NcclNode;

using Rows = std::array<std::vector<sim::Duration>, 5>;

void fields(Fields& f, const Key& key, Rows& rows) {
  static constexpr std::array<std::string_view, 5> kNames{"tree", "ring", "nvls", "nvls_tree", "pat"};
  f.group(key, [&] {
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      f.list({.name = kNames[i], .doc = "by protocol: LL, LL128, Simple", .need = kRequired}, rows[i]);
    }
  });
}

void fields(Fields& f, const Key& key, NcclCaps& c) {
  f.group(key, [&] {
    f.list({.name = "ll", .doc = "all channels, by nodes 1, 2, 4", .need = kRequired}, c.ll);
    f.list({.name = "ring_ll128", .doc = "of a channel", .need = kRequired}, c.ring_ll128);
    f.list({.name = "tree_ll128", .doc = "of a channel", .need = kRequired}, c.tree_ll128);
    f.list({.name = "tree_simple", .doc = "of a channel", .need = kRequired}, c.tree_simple);
    f.list({.name = "nvls_tree", .doc = "of a channel", .need = kRequired}, c.nvls_tree);
    f.leaf({.name = "nvls_efficiency", .doc = "of NVLS", .need = kRequired}, leaf(c.nvls_efficiency));
  });
}

void fields(Fields& f, NcclConstants& c) {
  fields(f, {.name = "base", .doc = "base latency", .need = kRequired}, c.base);
  fields(f, {.name = "nvlink_hop", .doc = "latency of a hop over NVLink", .need = kRequired}, c.nvlink_hop);
  fields(f, {.name = "pci_hop", .doc = "latency of a hop over PCI", .need = kRequired}, c.pci_hop);
  fields(f, {.name = "net_hop", .doc = "latency of a hop over the network", .need = kRequired}, c.net_hop);
  f.leaf({.name = "net_overhead_intel", .doc = "of the host, per send", .need = kRequired}, leaf(c.net_overhead_intel));
  f.leaf({.name = "net_overhead_amd", .doc = "of the host, per send", .need = kRequired}, leaf(c.net_overhead_amd));
  fields(f, {.name = "volta", .doc = "caps", .need = kRequired}, c.volta);
  fields(f, {.name = "ampere", .doc = "caps", .need = kRequired}, c.ampere);
  fields(f, {.name = "hopper", .doc = "caps", .need = kRequired}, c.hopper);
  fields(f, {.name = "blackwell", .doc = "caps", .need = kRequired}, c.blackwell);
  f.list({.name = "tree_correction_ll", .doc = "by log2(bytes/64)", .need = kRequired}, c.tree_correction_ll);
  f.list({.name = "tree_correction_ll128", .doc = "by log2(bytes/64)", .need = kRequired}, c.tree_correction_ll128);
  f.list({.name = "tree_correction_simple", .doc = "by log2(bytes/64)", .need = kRequired}, c.tree_correction_simple);
}

void fields(Fields& f, NcclNode& n) {
  static const Words<NcclGeneration> kGenerations{{"volta", NcclGeneration::volta},
                                                  {"ampere", NcclGeneration::ampere},
                                                  {"hopper", NcclGeneration::hopper},
                                                  {"blackwell", NcclGeneration::blackwell}};
  f.list({.name = "nodes", .doc = "node presets that it holds for"}, n.nodes);
  f.leaf({.name = "generation", .doc = "of the GPUs", .need = kRequired}, leaf(n.generation, kGenerations));
  f.leaf({.name = "amd_cpu", .doc = "an AMD host"}, leaf(n.amd_cpu));
  f.leaf({.name = "channels", .doc = "of rings and trees", .need = kRequired}, leaf(n.channels, kAtLeastOne));
  f.leaf({.name = "intra", .doc = "of a channel inside a node", .need = kRequired}, leaf(n.intra, kPositive));
  f.leaf({.name = "inter", .doc = "of a channel between nodes", .need = kRequired}, leaf(n.inter, kPositive));
  f.leaf({.name = "nvls_channels", .doc = "0: no NVLS"}, leaf(n.nvls_channels));
  f.leaf({.name = "nvls", .doc = "of an NVLS channel"}, leaf(n.nvls));
  f.leaf({.name = "nic_latency", .doc = "beyond the network hop"}, leaf(n.nic_latency));
}

/// A preset as a value of its own.
template <class T>
T bind_preset(std::string_view folder, std::string_view name) {
  const Value root = naming_preset("nccl", name);
  T value;
  Diagnostics diagnostics;
  Provenance provenance;
  Binder binder{root, diagnostics, provenance};
  binder.group({.name = "nccl", .doc = "NCCL", .need = kRequired, .preset_folder = folder}, [&] { fields(binder, value); });
  binder.finish();
  diagnostics.check();
  return value;
}

}  // namespace

workloads::NcclConstants load_nccl_constants() { return bind_preset<NcclConstants>("nccl", "nccl_2_30"); }

workloads::NcclNode load_nccl_node(std::string_view preset) { return bind_preset<NcclNode>("nccl_nodes", preset); }

std::string nccl_node_for(std::string_view node_preset) {
  for (const std::string& name : preset_names("nccl_nodes")) {
    const NcclNode node = load_nccl_node(name);
    if (std::find(node.nodes.begin(), node.nodes.end(), node_preset) != node.nodes.end()) return name;
  }
  return {};
}

std::string node_of_cluster(std::string_view cluster_preset) {
  const PresetFile* const file = find_preset("clusters", cluster_preset);
  if (file == nullptr) return {};
  Diagnostics diagnostics;
  const Value root = read_yaml(file->text, {OriginKind::preset, std::string{cluster_preset}, 0, 0}, diagnostics);
  const Entry* const node = root.find("node");
  return node != nullptr && node->value.kind == ValueKind::scalar ? node->value.text : std::string{};
}

}  // namespace traingraph::scenarios
