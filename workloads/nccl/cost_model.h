// NCCL's own cost model: what it expects of every (algorithm, protocol) and which it takes. After NVIDIA/nccl 2.30.7
// src/graph/tuning.cc and src/enqueue.cc; the constants come from presets/nccl, the channels and graph speeds of a node type
// from presets/nccl_nodes.
//
//     t = latency + S / (bandwidth x correction),   S the full buffer
//
// Latency of N nodes of p ranks, steps s = 2(n-1) of all-reduce, n-1 of all-gather and reduce-scatter, of which 2(N-1) or
// N-1 leave a node; I the hop inside, X = net hop + NIC latency (twice for Simple), O what the host adds to a send (3 O for
// Simple):
//     ring        base + (s - s_net) max(I, O) + s_net X
//     tree        base + 2 ((p-1) I + floor(log2 N) X)
//     NVLS        I (+ X between nodes);   NVLSTree  I + 2 floor(log2 N) X;   PAT  base + floor(log2 N) X/3.5 + 2.8 us n
// Bandwidth of c channels of b: ring c b (LL half of it, LL128 0.92 of it, each capped), tree the lesser of 0.92 c b and the
// cap, LL a 3.8th of that; bus to algorithm bandwidth by n/s (ring, NVLS, NVLSTree) or a half.
//
// Not here: CollNet (needs SHARP switched on), tuner plugins, aggregation of several calls.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/units.h"
#include "workloads/collectives/collectives.h"

namespace traingraph::workloads {

enum class NcclAlgorithm : std::uint8_t { tree, ring, nvls, nvls_tree, pat };
enum class NcclProtocol : std::uint8_t { ll, ll128, simple };
inline constexpr std::array kNcclAlgorithms{NcclAlgorithm::tree, NcclAlgorithm::ring, NcclAlgorithm::nvls,
                                            NcclAlgorithm::nvls_tree, NcclAlgorithm::pat};
inline constexpr std::array kNcclProtocols{NcclProtocol::ll, NcclProtocol::ll128, NcclProtocol::simple};
/// As NCCL writes them: "Tree", "NVLSTree"; "LL128".
[[nodiscard]] std::string to_string(NcclAlgorithm algorithm);
[[nodiscard]] std::string to_string(NcclProtocol protocol);

/// Caps of one generation of GPUs, by number of nodes: 1, 2, 4 and more. Bandwidths of a channel but ll (of all).
struct NcclCaps {
  std::vector<sim::Bandwidth> ll, ring_ll128, tree_ll128, tree_simple, nvls_tree;
  double nvls_efficiency = 0;
};

/// One version of NCCL. Times by protocol LL, LL128, Simple; rows in the order of NcclAlgorithm.
struct NcclConstants {
  std::array<std::vector<sim::Duration>, 5> base, nvlink_hop, pci_hop, net_hop;
  sim::Duration net_overhead_intel{}, net_overhead_amd{};
  NcclCaps volta, ampere, hopper, blackwell;
  /// Tree all-reduce by floor(log2(bytes/64)), 24 entries.
  std::vector<double> tree_correction_ll, tree_correction_ll128, tree_correction_simple;
};

enum class NcclGeneration : std::uint8_t { volta, ampere, hopper, blackwell };

/// What NCCL's search finds on a type of node.
struct NcclNode {
  std::vector<std::string> nodes;  ///< node presets that it holds for
  NcclGeneration generation = NcclGeneration::hopper;
  bool amd_cpu = false;
  std::uint32_t channels = 0;       ///< ring and tree
  sim::Bandwidth intra, inter;      ///< of one channel, inside a node and between nodes
  std::uint32_t nvls_channels = 0;  ///< 0: no NVLS
  sim::Bandwidth nvls;              ///< of one channel
  sim::Duration nic_latency{};      ///< beyond the network hop; 0 for InfiniBand
};

struct NcclJob {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::uint32_t ranks = 1;
  std::uint32_t nodes = 1;  ///< every one with the same number of ranks
  bool nvlink = true;       ///< GPUs of a node are joined by NVLink (else by PCI)
};

struct NcclChoice {
  NcclAlgorithm algorithm = NcclAlgorithm::ring;
  NcclProtocol protocol = NcclProtocol::simple;
  double latency_s = 0;
  double bandwidth = 0;  ///< algorithm bandwidth, bytes/s
  double time_s = 0;     ///< of the size asked for
};

class NcclCostModel {
 public:
  NcclCostModel(const NcclConstants& constants, const NcclNode* node, const NcclJob& job)
      : constants_{constants}, node_{node}, job_{job} {}

  /// Whether NCCL has it for this collective and job.
  [[nodiscard]] bool enabled(NcclAlgorithm a, NcclProtocol p) const;
  [[nodiscard]] double latency_s(NcclAlgorithm a, NcclProtocol p, double bytes) const;
  /// Algorithm bandwidth in bytes/s with all corrections for this size. Needs the node's facts.
  [[nodiscard]] double bandwidth(NcclAlgorithm a, NcclProtocol p, double bytes) const;
  /// Every enabled pair, the fastest first: NCCL takes it. Needs the node's facts.
  [[nodiscard]] std::vector<NcclChoice> table(double bytes) const;

 private:
  [[nodiscard]] double hop(NcclAlgorithm a, NcclProtocol p, bool net) const;
  [[nodiscard]] double steps() const;
  [[nodiscard]] double bus_bandwidth(NcclAlgorithm a, NcclProtocol p) const;
  [[nodiscard]] double correction(NcclAlgorithm a, NcclProtocol p, double bytes) const;
  [[nodiscard]] const NcclCaps& caps() const;

  const NcclConstants& constants_;
  const NcclNode* node_;
  NcclJob job_;
};

}  // namespace traingraph::workloads
