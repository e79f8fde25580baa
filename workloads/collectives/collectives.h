// Collectives: from "all-reduce of 64 MiB by a ring among 8 members" to the transfers that the engine plays.
//
// A collective is a kind (what it computes), an algorithm (how), a number of members, and S bytes: the full buffer, as
// nccl-tests counts it (all-gather, reduce-scatter, gather, scatter: the sum of the members' shares; all-to-all: what one
// member sends, its own share included). Members are numbered in ring order. A group of one member sends nothing.
//
//   kind            algorithms (default first)
//   all_reduce      ring, bidirectional_ring, direct, halving_doubling, tree, in_switch, hierarchical
//   reduce_scatter  ring, bidirectional_ring, direct, halving_doubling
//   all_gather      ring, bidirectional_ring, direct, halving_doubling
//   all_to_all      direct, pairwise
//   all_to_all_v    direct
//   broadcast       chain
//   reduce          chain
//   gather          direct
//   scatter         direct
//   barrier         dissemination
//   send_recv       direct      (every member sends S to its successor, as nccl-tests' sendrecv)
//
// What each one does stands at the head of its file; when each one ends on a non-blocking fabric, in closed_form.h.
//
// Sources are immutable: one may serve many instances, several simulations and threads. send() and needs() take O(1) and
// never allocate. Memory is O(1), but for tree (O(members)) and all_to_all_v (O(pairs that send)).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/transfer_source.h"
#include "sim/units.h"

namespace traingraph::workloads {

enum class CollectiveKind : std::uint8_t {
  all_reduce,
  reduce_scatter,
  all_gather,
  all_to_all,
  all_to_all_v,
  broadcast,
  reduce,
  gather,
  scatter,
  barrier,
  send_recv,
};

enum class Algorithm : std::uint8_t {
  ring,
  bidirectional_ring,
  direct,
  pairwise,
  halving_doubling,
  chain,
  tree,
  in_switch,
  hierarchical,
  dissemination,
};

/// The names are the enumerators' own: "all_reduce", "halving_doubling". Parsing throws sim::InputError with the allowed
/// list.
[[nodiscard]] std::string to_string(CollectiveKind kind);
[[nodiscard]] std::string to_string(Algorithm algorithm);
[[nodiscard]] CollectiveKind parse_collective_kind(std::string_view name);
[[nodiscard]] Algorithm parse_algorithm(std::string_view name);
[[nodiscard]] std::span<const CollectiveKind> all_collective_kinds();
[[nodiscard]] std::span<const Algorithm> all_algorithms();

/// The algorithms that exist for a kind, its default first.
[[nodiscard]] std::span<const Algorithm> algorithms_of(CollectiveKind kind);
[[nodiscard]] Algorithm default_algorithm(CollectiveKind kind);
[[nodiscard]] bool exists(CollectiveKind kind, Algorithm algorithm);

/// Sparse matrix of bytes for all_to_all_v, by row: who sends how much to whom. Pairs not listed, and pairs of zero bytes,
/// send nothing; a member's share for itself never leaves it.
struct BytesToMember {
  std::uint32_t destination = 0;
  sim::Bytes bytes;
};
using BytesMatrix = std::vector<std::vector<BytesToMember>>;

struct CollectiveOptions {
  std::uint32_t root = 0;  ///< member index; broadcast, reduce, gather, scatter
  /// chain and tree: the number of pieces that the buffer (tree: each half of it) is cut into; 0: as many as have at most
  /// piece_bytes each, at least one.
  std::uint32_t pieces = 0;
  /// Default: one step of NCCL 2.30's Simple protocol, a buffer of 4 MiB in 8 steps.
  sim::Bytes piece_bytes{524288.0};
  std::uint32_t domain_size = 0;              ///< hierarchical: g members a domain; members g·d .. g·d+g-1 are domain d
  Algorithm inner = Algorithm::ring;          ///< hierarchical: ring or direct inside the domain
  bool stop_and_wait = false;                 ///< a lane's next send waits until the previous one has arrived, not only left
  std::shared_ptr<const BytesMatrix> matrix;  ///< all_to_all_v; shared by the sources built from it
};

/// Whether one member is special: of broadcast, reduce, gather and scatter.
[[nodiscard]] bool has_root(CollectiveKind kind);

/// Throws sim::InputError when the kind has no such algorithm or the algorithm does not fit the number of members or
/// options.
void check_collective(CollectiveKind kind, Algorithm algorithm, std::uint32_t members, sim::Bytes bytes,
                      const CollectiveOptions& options);

/// The transfers of a collective; checks first. `bytes` is ignored by barrier (0) and all_to_all_v (the matrix says).
/// Shared: the engine keeps one source for all instances of equal collectives.
[[nodiscard]] std::shared_ptr<const sim::TransferSource> make_source(CollectiveKind kind, Algorithm algorithm,
                                                                     std::uint32_t members, sim::Bytes bytes,
                                                                     const CollectiveOptions& options = {});

/// The number of pieces that chain and tree cut `bytes` (tree: half the buffer) into under these options.
[[nodiscard]] std::uint32_t piece_count(sim::Bytes bytes, const CollectiveOptions& options);

/// Transfers of the whole collective, without building it; for size estimates before a run.
[[nodiscard]] double count_transfers(CollectiveKind kind, Algorithm algorithm, std::uint32_t members, sim::Bytes bytes,
                                     const CollectiveOptions& options = {});

/// Bus bandwidth = S/T · this factor, as nccl-tests defines it: all-reduce 2(N-1)/N; reduce-scatter, all-gather,
/// all-to-all(v), gather, scatter (N-1)/N; broadcast, reduce, send/recv 1; a barrier carries nothing: 0.
[[nodiscard]] double bus_bandwidth_factor(CollectiveKind kind, std::uint32_t members);

}  // namespace traingraph::workloads
