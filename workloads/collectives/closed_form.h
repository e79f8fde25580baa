// When a collective ends on a non-blocking fabric, in closed form: every member has one port of B bytes/s per direction, all
// members start together, all edges are equal. N members, S bytes, l the latency of one path, a the software overhead of one
// transfer, L = a + l, m pieces, g members a domain, n = N/g.
//
//   all_reduce      ring                2(N-1)(L + S/(N B))
//                   bidirectional_ring  2(N-1)(L + S/(2N B)), with a port for each neighbour; over one shared port: the
//                   ring's direct              2(L + (N-1)/N S/B) halving_doubling    2 sum_{i=1..k} (L + S/(2^i B)), N =
//                   2^k in_switch           L + S/B, l = slowest up-link + slowest down-link hierarchical        RS(g, S) +
//                   AR_ring(n, S/g) + AG(g, S), RS and AG by the inner algorithm
//   reduce_scatter, all_gather
//                   half of the all_reduce by the same algorithm
//   all_to_all      direct              L + (N-1)/N S/B
//                   pairwise            l + (N-1)(a + S/(N B)); stop and wait (N-1)(L + S/(N B))
//   gather, scatter direct              L + (N-1)/N S/B
//   broadcast, reduce
//                   chain               (N-1) L + (N-2+m) S/(m B) + (m-1) a; stop and wait (N-2+m)(L + S/(m B))
//   barrier         dissemination       ceil(log2 N) L
//   send_recv       direct              L + S/B
//
// The double binary tree (its ports are shared by both trees) and all_to_all_v have none. A group of one takes no time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/units.h"
#include "workloads/collectives/collectives.h"

namespace traingraph::workloads {

/// What every member has: one port per direction; bidirectional_ring: one per neighbour.
struct Port {
  sim::Bandwidth rate;
  sim::Duration latency;   ///< l
  sim::Duration overhead;  ///< a
};

/// The time, or nothing where there is no closed form. Checks its arguments as make_source does.
[[nodiscard]] std::optional<sim::Duration> closed_form(CollectiveKind kind, Algorithm algorithm, std::uint32_t members,
                                                       sim::Bytes bytes, const Port& port,
                                                       const CollectiveOptions& options = {});

/// The formula as the table above has it, for people; empty where there is none.
[[nodiscard]] std::string closed_form_text(CollectiveKind kind, Algorithm algorithm, const CollectiveOptions& options = {});

}  // namespace traingraph::workloads
