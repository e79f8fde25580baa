// NetworkRates: the best that a cluster's network can do for one GPU, and from it the least time of a collective.
//
// A GPU sends into its scale-up domain at most at `inside` bytes/s and to other domains at most at `outside`; no routing
// beats either. Ranks fill the GPUs in order, so that a group is a set of equal distances: it lies inside a domain when the
// block of ranks that it belongs to divides the domain; and when its last member is at least a domain away from its first,
// the ring's edge from the last back to the first leaves the domain, wherever the group begins. All times below are those
// of such a last member.
//
// least_time: from the member's start to its end, in every network model in which transfers share links: the bytes that the
// member itself sends / the rate at which it can; and for rings and direct algorithms inside a domain, where all edges are
// equal and all members start no earlier than this one's least start, the latencies too
// (workloads/collectives/closed_form.h). Algorithms without an exact form here count what every algorithm has to send: an
// all-reduce S, the others (n-1)/n S.
#pragma once

#include <cstdint>

#include "topology/cluster_spec.h"
#include "workloads/collectives/collectives.h"

namespace traingraph::analysis::plan {

/// Where the members of a communicator are: ranks first, ..., first + span.
struct GroupPlace {
  std::uint64_t members = 1;
  std::uint64_t stride = 1;  ///< between neighbours of the fastest dimension
  std::uint64_t span = 0;    ///< from the first to the last member
  std::uint64_t block = 1;   ///< ranks of the aligned block that holds the whole group
};

/// Seconds = fixed + per_byte x S of a collective whose full buffer is S.
struct LeastTime {
  double fixed = 0;
  double per_byte = 0;
  [[nodiscard]] double seconds(double bytes) const { return fixed + per_byte * bytes; }
};

struct NetworkRates {
  std::uint32_t domain = 1;        ///< GPUs
  double inside = 0;               ///< bytes/s of one GPU to one peer of its domain
  double inside_total = 0;         ///< to all peers
  double outside = 0;              ///< bytes/s of one GPU to another domain
  double outside_total = 0;        ///< to all others
  double inside_latency = 0;       ///< a + l of a transfer in the domain
  bool equal_edges_inside = true;  ///< every pair of a domain has the same path

  /// Throws sim::InputError for a custom cluster, which has no nodes to fill in order.
  explicit NetworkRates(const topology::ClusterSpec& cluster);

  [[nodiscard]] LeastTime least_time(workloads::CollectiveKind kind, workloads::Algorithm algorithm,
                                     const GroupPlace& group) const;
  /// Of a message to the rank `distance` further on.
  [[nodiscard]] LeastTime message(std::uint64_t distance) const;

 private:
  [[nodiscard]] bool is_inside(const GroupPlace& group) const { return domain % group.block == 0; }
};

}  // namespace traingraph::analysis::plan
