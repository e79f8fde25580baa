// Random fabrics and programs for the engine's laws.
//
// Fabric: a random connected graph of endpoints and switches with cables of unlike capacities and latencies (forwarding
// endpoints and parallel cables included); each ordered pair has one shortest path or a mix of several with unequal shares,
// fixed in a table. Program: operations are drawn one after the other and appended to the streams of the ranks concerned,
// each waiting at most for earlier ones, so that no program can deadlock: compute, messages (weights, caps, no bytes at
// all), and collectives of four algorithms on overlapping communicators and several streams. Some links change their
// capacity or go down for a while.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/program.h"
#include "tests/sim/property.h"
#include "tests/sim/table_router.h"

namespace traingraph::sim::tests {

struct CaseOptions {
  std::uint32_t operations = 30;
  bool link_changes = true;
  bool collectives = true;
  std::uint32_t most_steps = 1;
  bool star = false;  ///< a star of equal cables instead of a random graph
};

struct RandomCase {
  LinkTable links;
  std::vector<std::vector<Path>> paths;  ///< [source endpoint][destination endpoint]
  Program program;
  std::vector<double> routed;  ///< bytes per link and step, summed over all transfers, by definition of their paths

  bool multi_path = false;
  bool caps = false;
  bool weights = false;

  [[nodiscard]] const Path& path(RankId source, RankId destination) const {
    return paths[index(program.ranks[source].endpoint)][index(program.ranks[destination].endpoint)];
  }
  void fill(TableRouter& router) const;
};

[[nodiscard]] RandomCase draw_case(Dice& dice, const CaseOptions& options);

/// One call of one collective by all ranks at time zero on a random fabric: "ring", "direct", "chain", "doubling".
[[nodiscard]] RandomCase draw_lone_collective(Dice& dice, const std::string& algorithm);

/// New names for the ranks and links of a case: name[old] = new.
struct Names {
  std::vector<std::uint32_t> ranks;
  std::vector<std::uint32_t> links;
};
[[nodiscard]] Names draw_names(Dice& dice, const RandomCase& c);
[[nodiscard]] RandomCase relabelled(const RandomCase& c, const Names& names);

/// The same case in slow motion: capacities and caps divided by x, latencies, overheads, durations and changes x times as
/// late.
[[nodiscard]] RandomCase slowed(const RandomCase& c, std::int64_t x);

}  // namespace traingraph::sim::tests
