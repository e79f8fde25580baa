#include "sim/path_cache.h"

#include <algorithm>

#include "sim/error.h"

namespace traingraph::sim {

void leave_out_mirrored(const Router& router, Path& path) {
  const auto by_link = [](const PathLink& hop, LinkId link) { return hop.link < link; };
  for (const PathLink& hop : path.links) {
    const LinkId mirror = router.mirror_of(hop.link);
    if (mirror == hop.link) continue;
    const auto at = std::lower_bound(path.links.begin(), path.links.end(), mirror, by_link);
    SIM_ASSERT(at != path.links.end() && *at == (PathLink{mirror, hop.n, hop.k}), "a mirror carries what its link carries");
  }
  std::erase_if(path.links, [&](const PathLink& hop) { return router.mirror_of(hop.link) != hop.link; });
}

}  // namespace traingraph::sim
