// Importers: descriptions of clusters that other programs write, as a ClusterSpec whose scale-out network is `Custom`.
//
//   nccl_xml       NCCL and RCCL topology files and dumps (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE): one node
//   ibnetdiscover  output of ibnetdiscover, and ibsim's net files
//   iblinkinfo     output of iblinkinfo
//   slurm          topology.conf (tree and block) and topology.yaml
//   nvidia_smi     the matrix of `nvidia-smi topo -m`: one node
//   infragraph     InfraGraph YAML, several files together
//   astra_sim      ASTRA-sim's analytical network YAML, with its system JSON if given
//   ns3            ns-3 topology text of ASTRA-sim and SimAI
//   htsim          htsim's .topo
//
// What a file leaves open (a speed, GPUs of a node) is taken from ImportOptions, and `notes` says so, one sentence each. A
// fault is an ImportError: "file:line:column: what was found, what is allowed". Times are O(text). Nothing here knows YAML:
// who calls hands in a parser.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/error.h"
#include "topology/cluster_spec.h"
#include "topology/import/tree.h"

namespace traingraph::topology {

enum class ImportKind : std::uint8_t {
  nccl_xml,
  ibnetdiscover,
  iblinkinfo,
  slurm,
  nvidia_smi,
  infragraph,
  astra_sim,
  ns3,
  htsim
};
[[nodiscard]] std::string to_string(ImportKind kind);
inline constexpr ImportKind kImportKinds[] = {ImportKind::nccl_xml,  ImportKind::ibnetdiscover, ImportKind::iblinkinfo,
                                              ImportKind::slurm,     ImportKind::nvidia_smi,    ImportKind::infragraph,
                                              ImportKind::astra_sim, ImportKind::ns3,           ImportKind::htsim};

class ImportError : public sim::InputError {
 public:
  using sim::InputError::InputError;
};

struct ImportFile {
  std::string name;  ///< as in messages
  std::string text;
};

/// What a file leaves open; every bandwidth is of one direction.
struct ImportOptions {
  std::uint32_t nodes = 1;          ///< nccl_xml, nvidia_smi: equal nodes, their NICs on one switch
  std::uint32_t gpus_per_node = 0;  ///< ibnetdiscover, iblinkinfo (0: one per port), slurm (0: eight)
  sim::Bandwidth bandwidth{};       ///< of a network link, where the file has none
  sim::Duration latency{};          ///< of a network link, where the file has none
  sim::Bandwidth scale_up{};        ///< of a GPU on its node's switch, where the file has none; 0: no such switch
  sim::Duration scale_up_latency{};
  double oversubscription = 1.0;  ///< slurm: capacity down over capacity up of every switch
  std::string topology{};         ///< slurm topology.yaml: which one; empty: its cluster default, else the first
  // Counts of links are in the files; what a link of such a kind carries is not.
  sim::Bandwidth nvlink_sm60{};
  sim::Bandwidth nvlink_sm70{};
  sim::Bandwidth nvlink_sm86{};
  sim::Bandwidth nvlink_sm90{};
  sim::Bandwidth nvlink_sm100{};
  sim::Bandwidth xgmi{};
  sim::Bandwidth cpu_bus{};  ///< between the sockets of a node
  sim::Bandwidth pcie{};     ///< nvidia_smi: a GPU or NIC and its PCIe switch, a PCIe switch and its socket
};

struct Imported {
  ClusterSpec cluster;
  std::vector<std::string> notes;  ///< what was not in the files
};

/// The YAML of a file as a tree; throws sim::InputError.
using YamlParser = std::function<TreeNode(const ImportFile&)>;

/// What `text` looks like; nothing when it is none of ours. O(text).
[[nodiscard]] std::optional<ImportKind> recognize(std::string_view text);
/// What a text that is no cluster looks like, for messages: "an nccl-tests log", "`nvidia-smi topo -p2p` output"; or empty.
[[nodiscard]] std::string_view look_alike(std::string_view text);

/// Throws ImportError: a fault of a file, or a file of another kind, which is named.
[[nodiscard]] Imported import_cluster(ImportKind kind, std::span<const ImportFile> files, const ImportOptions& options,
                                      const YamlParser& yaml);

}  // namespace traingraph::topology
