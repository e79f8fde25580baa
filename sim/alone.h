// AloneTimer: how long a collective takes when it has the network to itself, by playing it, in its steps or in bulk.
//
// Everything enters at time zero. Uses the run's own network model (the fluid one for `chunk`), so contention among the
// collective's own transfers is in the answer. One timer serves many collectives; it is costly to make (arrays over all
// links) and cheap to use. Not thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "sim/link.h"
#include "sim/options.h"
#include "sim/path_table.h"
#include "sim/transfer_source.h"
#include "sim/units.h"

namespace traingraph::sim {

/// One bulk transfer: all that a lane sends to one destination.
struct BulkEdge {
  std::uint32_t lane = 0;
  std::uint32_t destination = 0;  ///< member
  PathId path{};
  Bytes bytes;
};

class AloneTimer {
 public:
  AloneTimer(const LinkTable& links, const PathTable& paths, NetworkModel network);
  ~AloneTimer();

  [[nodiscard]] Duration steps(const TransferSource& source,
                               const std::function<PathId(std::uint32_t lane, const Send& send)>& path);
  /// Until the last edge has left the wire; no overhead, no propagation.
  [[nodiscard]] Duration bulk(const std::vector<BulkEdge>& edges);
  /// The rate of each of these paths while a transfer is on every one of them.
  [[nodiscard]] std::vector<double> rates(const std::vector<PathId>& paths);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace traingraph::sim
