// nccl-tests of the simulator: one collective on some GPUs of a cluster, over a range of sizes.
//
// Time of S bytes under (algorithm, protocol) = the latency that NCCL's cost model counts (workloads/nccl/cost_model.h)
//     + the longer of: S over the model's bandwidth, where the channels and graph speeds of the node are known;
//                      the time in which the fabric carries the algorithm's traffic (workloads/nccl/traffic.h) at once, all
//                      flows sharing links max-min fairly, over the protocol's efficiency (LL 1/2, LL128 0.92).
// Rates do not depend on the size, so one simulation an algorithm serves all sizes. Point-to-point collectives take the
// better of LL and Simple; their latency is a base, a hop, and the host's overhead for every peer in another domain.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topology/cluster_spec.h"
#include "workloads/collectives/collectives.h"
#include "workloads/nccl/cost_model.h"

namespace traingraph::scenarios {

struct CollectiveRequest {
  topology::ClusterSpec cluster;
  workloads::CollectiveKind kind = workloads::CollectiveKind::all_reduce;
  std::vector<std::uint32_t> gpus;                    ///< rank r on gpus[r]; empty: all
  std::vector<double> sizes;                          ///< bytes
  std::optional<workloads::NcclAlgorithm> algorithm;  ///< none: NCCL's choice
  std::optional<workloads::NcclProtocol> protocol;    ///< none: NCCL's choice; without `node` the fastest of `algorithm`
  std::optional<workloads::NcclNode> node;            ///< channels and graph speeds; none: not known, and no choice
};

struct CollectiveRow {
  double bytes = 0;
  std::uint64_t elements = 0;  ///< of 4 bytes, as nccl-tests counts them
  std::string algorithm, protocol;
  double time_s = 0, latency_s = 0;
  double algbw = 0, busbw = 0;               ///< bytes/s
  std::vector<workloads::NcclChoice> costs;  ///< NCCL's cost table for this size; empty for point to point or without facts
};

struct LinkLoad {
  std::string name;
  double bytes_share = 0;  ///< bytes carried, per byte of the buffer
  double utilization = 0;  ///< of the link while the fabric carries the traffic
};

struct CollectiveTable {
  std::uint32_t ranks = 0, nodes = 0;  ///< nodes: scale-up domains
  std::string fabric;
  std::vector<CollectiveRow> rows;
  std::vector<LinkLoad> load;  ///< of the last row's algorithm, the fullest links first
};

/// Throws sim::InputError: GPUs that do not exist, nodes with different numbers of ranks, an algorithm that this collective
/// does not have, a choice without the node's facts.
[[nodiscard]] CollectiveTable run_collective_table(const CollectiveRequest& request);

}  // namespace traingraph::scenarios
