// CollectivePlans: what is known about a collective call on a communicator before it is played: its algorithm, the paths of
// its lanes, and whether one bulk transfer per edge gives the same result as its steps.
//
// Bulk play. Every edge's total bytes drain at once; when all have drained, the collective ends after a further *charge*
//     charge = (time alone by the step rules) - (time of the bulk transfers alone),
// so that a collective that has the network to itself takes exactly as long in bulk as in steps. For a ring with equal edges
// this is network-model.md's rule: 2(N-1)(S/(N rate) + L) in all. With other traffic on its links, a late member, or unequal
// edges it is an approximation.
//
// Bulk is exact by construction when (1) all edges cost the same, throughout the run (no link of theirs ever changes its
// capacity), (2) all members enter at one instant (the engine looks), and (3) no other transfer can use the edges' links
// meanwhile. (3) is decided from the whole program: every transfer that ever uses a link of the collective starts at one of
// its own members and on the same stream, which is busy with this collective. Such an instance needs no solver: its edges
// have constant rates and its end is known when it begins.
//
// A ring whose members enter apart has the same result as its steps without the solver (staggered_ring.h), on the links of
// (3), when moreover (4) no two lanes share a link, and (5) the operations before and after it on the members' stream that
// move data are rings of the same communicator with the same links under the same lanes. A member of such a ring is at most
// one call ahead of another; so while a call is under way, all that its links carry is of this call, the one before or the
// one after, and what one lane sends comes one after the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/alone.h"
#include "sim/link.h"
#include "sim/options.h"
#include "sim/path_cache.h"
#include "sim/program.h"
#include "sim/staggered_ring.h"

namespace traingraph::sim {

/// bytes/s on one link.
struct LinkLoad {
  LinkId link{};
  double bytes_per_s = 0;
};

struct CollectivePlan {
  CommunicatorId communicator{};
  std::uint32_t collective = 0;
  std::shared_ptr<const TransferSource> source;
  std::vector<PathId> lane_paths;  ///< of uniform lanes; kNoPath elsewhere
  bool bulk_exact = false;         ///< conditions (1) and (3)
  double edge_rate = 0;            ///< bulk_exact: bytes/s of each edge while the collective runs
  double sends = 0;                ///< transfers of one call, played in steps
  std::vector<BulkEdge> edges;     ///< filled by bulk_edges()
  bool edges_known = false;
  const StaggeredRing* ring = nullptr;  ///< conditions (1), (3) and (4); filled by staggered_ring()
  std::uint32_t lane_links = 0;         ///< which links are under which lane: equal numbers, equal links; 0: not known yet
  std::vector<LinkLoad> loads;          ///< bulk_exact: what its edges put on each link together; filled by link_loads()
  bool charge_known = false;
  Duration charge;  ///< valid when charge_known
  Duration drain;   ///< of the bulk transfers alone; valid when charge_known
  static constexpr PathId kNoPath = static_cast<PathId>(0xffffffff);
};

/// Tells a channel's connection apart from others between the same endpoints (hashed ECMP).
[[nodiscard]] inline std::uint64_t channel_connection(ChannelId channel) {
  return (std::uint64_t{index(channel)} + 1) * 0xd1342543de82ef95U;
}

/// The same for the connection of two members of a communicator.
[[nodiscard]] std::uint64_t member_connection(CommunicatorId communicator, std::uint32_t source, std::uint32_t destination);

/// The sending member of a lane.
[[nodiscard]] std::uint32_t lane_member(const TransferSource& source, std::uint32_t lane);

class CollectivePlans {
 public:
  CollectivePlans(const LinkTable& links, const Program& program, const RunOptions& options, PathTable& paths,
                  PathCache& cache);

  [[nodiscard]] CollectivePlan& plan(CommunicatorId communicator, std::uint32_t collective);
  /// The path of one send.
  [[nodiscard]] PathId path(CollectivePlan& plan, std::uint32_t lane, const Send& send);
  /// The plan's bulk transfers, made once.
  [[nodiscard]] const std::vector<BulkEdge>& bulk_edges(CollectivePlan& plan);
  /// The plan's load on each link while it drains, made once; for plans whose bulk play is exact.
  [[nodiscard]] const std::vector<LinkLoad>& link_loads(CollectivePlan& plan);
  /// The ring, if this call of `rank`, operation `op` of its template, may be played as one whose members enter apart.
  [[nodiscard]] const StaggeredRing* staggered_ring(CollectivePlan& plan, RankId rank, std::uint32_t op);
  /// What each send of such a ring costs.
  [[nodiscard]] StaggeredRing::Costs ring_costs(const CollectivePlan& plan) const;
  /// bytes/s that a lane of such a ring puts on a link of its path while it sends.
  [[nodiscard]] double lane_load(const CollectivePlan& plan, const PathLink& hop) const {
    return std::min(plan.edge_rate * hop.n / hop.k, links_[hop.link].capacity.bytes_per_s());
  }
  /// Computes the plan's charge if it is not known yet.
  Duration charge(CollectivePlan& plan);

  /// Transfers of the whole program if every collective is played in steps, point-to-point messages included.
  [[nodiscard]] double program_transfers() const { return program_transfers_; }
  /// Those of them that `automatic` plays in steps unless it may not: all but the collectives whose bulk play is exact.
  [[nodiscard]] double inexact_transfers() const { return inexact_transfers_; }

 private:
  struct Call {
    std::uint32_t collective = 0;
    std::uint32_t slot = 0;
    std::uint32_t stream = 0;
    std::uint64_t count = 0;  // per step
    bool one_stream = true;
  };
  static constexpr std::uint32_t kNone = 0xffffffff;
  /// The operations before and after one on its stream that move data, round the step's end; itself when it is alone.
  struct Neighbours {
    std::uint32_t before = kNone;
    std::uint32_t after = kNone;
  };
  struct Traffic {  // of one role
    std::vector<Call> calls;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> sends;  // distinct (slot, stream)
    double messages = 0;
    std::vector<Neighbours> neighbours;  // by operation; of collectives
  };
  static void find_neighbours(const Template& role, Traffic& traffic);
  void find_ring(CollectivePlan& plan);
  [[nodiscard]] bool same_lane_links(const CollectivePlan& plan, RankId rank, std::uint32_t op);

  [[nodiscard]] std::shared_ptr<const TransferSource> source(CommunicatorId communicator, std::uint32_t collective);
  void survey();
  [[nodiscard]] bool one_role(CommunicatorId communicator) const;
  [[nodiscard]] static Traffic traffic_of(const Template& role);
  void find_exact();
  [[nodiscard]] bool equal_edges(CollectivePlan& plan);
  [[nodiscard]] AloneTimer& timer();

  const LinkTable& links_;
  const Program& program_;
  const RunOptions& options_;
  PathTable& paths_;
  PathCache& cache_;
  std::unordered_map<std::uint64_t, std::unique_ptr<CollectivePlan>> plans_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::shared_ptr<const TransferSource>> sources_;
  struct Alone {
    Duration drain;
    Duration charge;
  };
  std::map<std::vector<std::uint64_t>, Alone> charges_;  // by what the charge depends on
  std::vector<Traffic> traffic_;                         // by role
  std::unordered_map<const TransferSource*, std::optional<StaggeredRing>> rings_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> lane_links_;  // numbers of the links under the lanes
  std::unique_ptr<AloneTimer> timer_;
  double program_transfers_ = 0;
  double inexact_transfers_ = 0;
};

}  // namespace traingraph::sim
