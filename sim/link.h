// Links and paths: what a transfer occupies.
//
// A Link is directed: capacity in bytes/s of that direction, latency in seconds (as a Duration). A cable is two links; a
// half-duplex pair is one link used by both directions. Capacity 0 means down: transfers on it wait.
//
// A Path is what one transfer occupies: for each link a fraction n/k of the transfer's bytes (1/1 on a single path, 1/k on
// each of k sprayed paths), kept as integers so that sums over equal members are order-free (network-model: exactness by
// construction). `latency` is the longest route's propagation, `overhead` the software start-up before the first byte.
// `routes` lists the explicit alternatives that the fractions were summed from; the chunk model walks them, the flow model
// does not need them. A Route is a list of stages; the links of one stage are crossed in parallel (an in-switch reduction
// has all up-links in its first stage), an ordinary route has one link per stage.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/ids.h"
#include "sim/units.h"

namespace traingraph::sim {

struct Link {
  Bandwidth capacity;
  Duration latency;
};

using LinkTable = IdVector<LinkId, Link>;

/// The share n/k of a transfer's bytes that one link carries; n >= 1, k >= 1, in lowest terms per path builder.
struct PathLink {
  LinkId link{};
  std::uint32_t n = 1;
  std::uint32_t k = 1;

  [[nodiscard]] double fraction() const { return static_cast<double>(n) / static_cast<double>(k); }
  bool operator==(const PathLink&) const = default;
};

struct Route {
  std::vector<std::vector<LinkId>> stages;  ///< in order from source to destination
  std::uint32_t n = 1;                      ///< this route carries n/k of the bytes
  std::uint32_t k = 1;
};

struct Path {
  std::vector<PathLink> links;  ///< each link once, ascending by id
  Duration latency;             ///< propagation of the longest route
  Duration overhead;            ///< software overhead per transfer, before it drains
  std::vector<Route> routes;    ///< the alternatives behind `links`, shares adding up to 1
};

/// A path over one list of links, one stage each, fraction 1 (a link listed twice counts twice).
[[nodiscard]] Path single_path(const LinkTable& links, const std::vector<LinkId>& hops, Duration overhead);

/// Several routes, each with its share n/k: sums the fractions link by link and takes the longest latency.
[[nodiscard]] Path combine_routes(const LinkTable& links, std::vector<Route> routes, Duration overhead);

/// The rate of a transfer that has its path to itself: min over links of capacity/fraction; infinity on an empty path.
[[nodiscard]] Bandwidth rate_alone(const LinkTable& links, const Path& path);

}  // namespace traingraph::sim
