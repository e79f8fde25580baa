#include "sim/path_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/error.h"

namespace traingraph::sim {

PathId PathTable::add(Path path) {
  if (keep_routes_ && path.routes.empty() && !path.links.empty()) {
    throw InputError{
        fmt::format("network model chunk walks the routes of a path, but of a path over {} links none is listed: "
                    "it has more than routing.listed_routes",
                    path.links.size())};
  }
  std::uint32_t hops = 0;
  for (const Route& route : path.routes) hops = std::max(hops, static_cast<std::uint32_t>(route.stages.size()));
  if (path.routes.empty()) hops = static_cast<std::uint32_t>(path.links.size());
  entries_.push_back({links_.size(), static_cast<std::uint32_t>(path.links.size()), hops, path.latency, path.overhead});
  links_.insert(links_.end(), path.links.begin(), path.links.end());
  if (keep_routes_) routes_.push_back(std::move(path.routes));
  return static_cast<PathId>(entries_.size() - 1);
}

}  // namespace traingraph::sim
