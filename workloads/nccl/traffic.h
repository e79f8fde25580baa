// Who sends how much to whom under one of NCCL's algorithms, over all its channels together.
//
// Channels turn the order of a node's GPUs so that every NIC serves the same number of them, and a ring or tree leaves and
// enters a node on one rail. So for g ranks a node on N nodes:
//   ring       i to i+1 inside a node: f S (full mesh: spread over all peers); r of node k to r of node k+1: f S / g;
//              f = 2(n-1)/n all-reduce, (n-1)/n all-gather and reduce-scatter, 1 broadcast and reduce
//   tree       inside, both ways along the chain: S (g-1)/g; between nodes up and down two binary trees of half the data
//   each NVLS       out of and into every GPU S (all-gather, reduce-scatter (n-1)/n S); NVLSTree: the same, and trees
//   between nodes PAT        rank r to r + 2^k: S/n for each of the shares that step k carries
// Point to point: all-to-all S/n to everyone, send/recv S to the next.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/collectives/collectives.h"
#include "workloads/nccl/cost_model.h"

namespace traingraph::workloads {

struct NcclGroups {
  std::vector<std::vector<std::uint32_t>> nodes;  ///< ranks of each node (or scale-up domain), equally many
  bool full_mesh = false;                         ///< GPUs of a node are linked pairwise, with no switch
};

/// `algorithm`: none for point-to-point collectives. Rows by rank.
[[nodiscard]] BytesMatrix nccl_traffic(CollectiveKind kind, std::optional<NcclAlgorithm> algorithm, const NcclGroups& groups,
                                       double bytes);

}  // namespace traingraph::workloads
