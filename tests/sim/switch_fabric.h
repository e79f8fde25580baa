// One non-blocking switch: endpoint i has an up-link (number i) and a down-link (number n + i), all equal.
#pragma once

#include <vector>

#include "sim/link.h"
#include "tests/sim/table_router.h"

namespace traingraph::sim::tests {

struct SwitchFabric {
  /// `latency` is of one link, so a path takes twice that; `overhead` of one transfer.
  SwitchFabric(std::uint32_t endpoints, Bandwidth capacity, Duration latency = {}, Duration overhead = {}) {
    for (std::uint32_t l = 0; l < 2 * endpoints; ++l) links.push_back({capacity, latency});
    Route all;
    all.stages.resize(2);
    for (std::uint32_t i = 0; i < endpoints; ++i) {
      all.stages[0].push_back(up(i));
      all.stages[1].push_back(static_cast<LinkId>(endpoints + i));
      for (std::uint32_t j = 0; j < endpoints; ++j)
        if (i != j) router.set(i, j, single_path(links, {up(i), static_cast<LinkId>(endpoints + j)}, overhead));
    }
    router.set_in_switch(combine_routes(links, {all}, overhead));
  }
  [[nodiscard]] static LinkId up(std::uint32_t endpoint) { return static_cast<LinkId>(endpoint); }

  LinkTable links;
  TableRouter router;
};

}  // namespace traingraph::sim::tests
